"""What the runner makes of a run: red for a reason, FLAKY where a test passes when it is run once more, alone."""

import sys
from functools import partial
from pathlib import Path

import pytest
from django.conf import settings

from tests.choosing import slowly
from tests.outcomes import without_group
from tools import test as runner

pytestmark = pytest.mark.process

FAILS = "def test_wrong():\n    assert 'it' == 'is wrong'\n"
PASSES = "def test_right():\n    pass\n"
FLAKY = """
from pathlib import Path

def test_now_and_then():
    before = Path(__file__).with_suffix(".before")
    if not before.exists():
        before.touch()
        raise OSError("the socket was not there yet")
"""
CRASHES = FLAKY.replace('raise OSError("the socket was not there yet")', "__import__('os')._exit(3)")
HANGS = """
import threading, pytest

@pytest.mark.timeout(1)
def test_waiting_for_ever():
    threading.Event().wait()
"""
MANY = "import pytest\n\n@pytest.mark.parametrize('one', range(6))\ndef test_wrong(one):\n    assert one < 0\n"
LEAVES = """
import subprocess, sys

def test_leaving_a_process_behind():
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
"""
UNREADABLE = "import nothing_of_this_name\n"


@pytest.fixture(autouse=True)
def _checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the test is the checkout."""
    monkeypatch.setattr(runner, "FLAKY_REPORTS", tmp_path / "flaky")
    monkeypatch.setattr(runner.contained, "CHECKOUT", tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(settings.BASE_DIR))
    monkeypatch.setattr(runner.contained, "run", partial(runner.contained.run, settling=1.0))
    monkeypatch.setattr(runner, "_workers", lambda: "2")
    monkeypatch.setenv(runner.SEED, "7")


def judged(folder: Path, **modules: str) -> runner.Result:
    """What is judged of a suite of these modules."""
    (folder / "pytest.ini").touch()
    for name, text in modules.items():
        (folder / f"test_{name}.py").write_text(text)
    return runner.judged(runner.Run("a suite", "", ("-p", "no:django", "-p", "no:cacheprovider", "-q"), minutes=1))


def test_what_fails_and_then_passes_alone_passes_is_named_and_kept(tmp_path, capfd):
    result = judged(tmp_path, right=PASSES, flaky=FLAKY)

    assert (result.code, result.passed, result.failed) == (0, 2, {})
    assert result.flaky == ("test_flaky.py::test_now_and_then",)
    assert "FLAKY test_flaky.py::test_now_and_then: OSError: the socket was not there yet" in capfd.readouterr().out
    [report] = (tmp_path / "flaky").iterdir()
    assert "the socket was not there yet" in report.read_text()


@pytest.mark.parametrize(
    "broken", [{"crashing": CRASHES}, slowly({"unreadable": UNREADABLE}), slowly({"leaving": LEAVES})]
)
def test_what_breaks_beside_the_tests_is_red_at_once(tmp_path, capfd, broken):
    """However a flaky test beside it would end."""
    assert judged(tmp_path, flaky=FLAKY, **broken).code != 0
    assert "once more" not in capfd.readouterr().out


def test_what_fails_again_is_red_and_nothing_is_called_flaky(tmp_path, capfd):
    result = judged(tmp_path, right=PASSES, flaky=FLAKY, wrong=FAILS)

    assert result.code == runner.TESTS_FAILED
    assert set(result.failed) == {"test_flaky.py::test_now_and_then", "test_wrong.py::test_wrong"}
    assert "FLAKY" not in capfd.readouterr().out
    assert not (tmp_path / "flaky").exists()


@pytest.mark.slow
def test_many_failures_are_red_and_not_tried_again(tmp_path, capfd):
    result = judged(tmp_path, wrong=MANY)

    assert (result.code, len(result.failed)) == (runner.TESTS_FAILED, 6)
    assert "once more" not in capfd.readouterr().out


def test_a_test_that_waits_for_ever_is_ended_at_its_limit_and_red(tmp_path):
    [error] = judged(tmp_path, hanging=HANGS).failed.values()
    assert "Timeout" in error


def test_a_run_that_takes_too_long_is_ended(tmp_path):
    code = runner.contained.run([sys.executable, "-c", "import time; time.sleep(600)"], {}, limit=1)
    assert code == runner.contained.TOO_LONG


def test_without_chromium_the_rest_is_run_and_what_was_left_out_is_named_at_the_end(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(runner, "find_chromium", lambda: "")
    monkeypatch.setattr(runner, "apt_install", lambda package: False)
    monkeypatch.setattr(runner, "_made", lambda run, *words: asked.append((run, words)) or runner.Result(0, 1))
    monkeypatch.setattr(sys, "argv", ["tools.test", "tests/lake"])

    assert runner.main() == 0
    [(run, words)] = asked
    assert run.name == "SQLite"
    assert words[-3:] == ("-m", "not slow and not browser", "tests/lake")
    assert capsys.readouterr().out.splitlines()[-1].startswith("Left out: the tests in Chromium")


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("tests/a.py::test_it@engines", "tests/a.py::test_it"),
        ("tests/a.py::test_it[a@b]@runs-in-processes", "tests/a.py::test_it[a@b]"),
        ("tests/a.py::test_it[a@b]", "tests/a.py::test_it[a@b]"),
    ],
)
def test_a_test_is_asked_for_again_by_the_name_that_pytest_takes(name, plain):
    assert without_group(name) == plain


def test_the_table_tells_of_each_part_and_one_that_failed_fails_all(monkeypatch, capsys):
    failed = runner.Result(1, 4, 0, {"a": "E  b"}, seconds=2.0)
    results = {"plain": runner.Result(0, 1_200, 3, seconds=60.4), "soaks": failed}
    monkeypatch.setattr(runner, "judged", lambda run, given, **_: results.get(run.name, runner.Result(0)))
    monkeypatch.setattr(sys, "argv", ["tools.test", "--all"])

    assert runner.main() == 1
    lines = capsys.readouterr().out.splitlines()
    assert "| plain | 1,200 | 0 | 3 | 60 | passed |" in lines
    assert "| soaks | 4 | 1 | 0 | 2 | failed (1) |" in lines
    assert {line.split(" | ")[0] for line in lines} >= {f"| {part}" for part in runner.PARTS}
    assert "1204 passed, 1 failed" in lines
