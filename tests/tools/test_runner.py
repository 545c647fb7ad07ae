"""What the runner makes of a run: red for a reason, FLAKY where a test passes when it is run once more, alone."""

from functools import partial
from pathlib import Path

import pytest
from django.conf import settings

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


def test_what_breaks_beside_the_tests_is_red_at_once(tmp_path, capfd):
    """However a flaky test beside it would end."""
    assert judged(tmp_path, flaky=FLAKY, crashing=CRASHES).code != 0
    assert "once more" not in capfd.readouterr().out


def test_what_fails_again_is_red_and_nothing_is_called_flaky(tmp_path, capfd):
    result = judged(tmp_path, right=PASSES, flaky=FLAKY, wrong=FAILS)

    assert result.code == runner.TESTS_FAILED
    assert set(result.failed) == {"test_flaky.py::test_now_and_then", "test_wrong.py::test_wrong"}
    assert "FLAKY" not in capfd.readouterr().out
    assert not (tmp_path / "flaky").exists()
