"""Nothing of a contained command is left, however it or its caller ends: no process and no file."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings

from tests.waiting import scaled, wait_until
from tools.contained import LEFT_BEHIND

pytestmark = pytest.mark.process

# Ignores polite signals in a session of its own, as a JVM of a lost Spark worker might, and says where its files are.
STUBBORN = """
import os, pathlib, signal, subprocess, sys, tempfile, time
ignore = "import signal, time; [signal.signal(n, signal.SIG_IGN) for n in (2, 15)]"
code = f"{ignore}; print('up', flush=True); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", code], start_new_session=True, stdout=subprocess.PIPE)
child.stdout.readline()
pathlib.Path(tempfile.mkdtemp(), "file").write_text("left")
pathlib.Path(sys.argv[1]).write_text(f"{child.pid} {tempfile.gettempdir()}")
"""
WAITS = STUBBORN + "time.sleep(600)"
RUNS = "import sys; from tools.contained import run; sys.exit(run(sys.argv[1:], {}, settling=0.5))"


@pytest.fixture
def note(tmp_path: Path) -> Path:
    return tmp_path / "note"


@pytest.fixture
def start(note: Path) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def begin(code: str) -> subprocess.Popen[str]:
        words = [sys.executable, "-c", RUNS, sys.executable, "-c", code, str(note)]
        process = subprocess.Popen(words, cwd=settings.BASE_DIR, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.wait()


def said(note: Path) -> tuple[int, Path]:
    """The stubborn process, and its folder for files."""
    assert wait_until(lambda: note.exists() and len(note.read_text().split()) == 2)
    child, folder = note.read_text().split()
    return int(child), Path(folder)


def is_over(child: int, folder: Path) -> bool:
    return not Path(f"/proc/{child}").exists() and not folder.exists()


def test_what_a_command_that_ended_well_left_behind_is_named_ended_and_a_failure(start, note):
    process = start(STUBBORN)
    child, folder = said(note)
    printed, _ = process.communicate(timeout=scaled(60))
    assert process.returncode == LEFT_BEHIND
    assert f"Left behind: process {child}" in printed
    assert is_over(child, folder)


@pytest.mark.parametrize("code", [0, 3])
def test_the_exit_code_is_the_commands(start, code):
    process = start(f"import sys; sys.exit({code})")
    assert process.wait(timeout=scaled(30)) == code


def test_a_caller_that_is_killed_takes_everything_with_it(start, note):
    process = start(WAITS)
    child, folder = said(note)
    process.kill()
    assert wait_until(lambda: is_over(child, folder))
