"""Nothing of a contained command is left, however it or its caller ends: no process and no file."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings

from tests.waiting import scaled
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
pathlib.Path(sys.argv[1]).write_text(f"{child.pid} {tempfile.gettempdir()} {os.getppid()}")
"""
WAITS = STUBBORN + "time.sleep(600)"
RUNS = "import sys; from tools.contained import run; sys.exit(run(sys.argv[1:], {}, settling=0.5))"


def heed_interrupts() -> None:
    """A shell starts what it puts into the background deaf to interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def note(tmp_path: Path) -> Path:
    return tmp_path / "note"


@pytest.fixture
def start(note: Path) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def begin(code: str) -> subprocess.Popen[str]:
        words = [sys.executable, "-c", RUNS, sys.executable, "-c", code, str(note)]
        process = subprocess.Popen(
            words, cwd=settings.BASE_DIR, stdout=subprocess.PIPE, text=True, preexec_fn=heed_interrupts
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.wait()


def said(note: Path) -> tuple[int, Path, int]:
    """The stubborn process, its folder for files, and the keeper."""
    assert soon(lambda: note.exists() and len(note.read_text().split()) == 3)
    child, folder, keeper = note.read_text().split()
    return int(child), Path(folder), int(keeper)


def soon(happened: Callable[[], bool]) -> bool:
    until = time.monotonic() + scaled(20)
    while not happened() and time.monotonic() < until:
        time.sleep(0.05)
    return happened()


def is_over(child: int, folder: Path) -> bool:
    return not Path(f"/proc/{child}").exists() and not folder.exists()


def test_what_a_command_that_ended_well_left_behind_is_named_ended_and_a_failure(start, note):
    process = start(STUBBORN)
    child, folder, _ = said(note)
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
    child, folder, _ = said(note)
    process.kill()
    assert soon(lambda: is_over(child, folder))


def test_an_interrupt_reaches_the_command_which_ends_in_its_own_way(start, note):
    handles = "import signal; signal.signal(2, lambda *_: (print('fixtures end', flush=True), sys.exit(2)))\n"
    process = start(WAITS.replace("\ntime.sleep", f"\n{handles}time.sleep"))
    child, folder, _ = said(note)
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=scaled(60))
    assert "fixtures end" in printed
    assert process.returncode == 2
    assert is_over(child, folder)


def test_a_keeper_that_is_asked_to_end_ends_everything_first(start, note):
    process = start(WAITS)
    child, folder, keeper = said(note)
    os.kill(keeper, signal.SIGTERM)
    assert process.wait(timeout=scaled(30)) == 128 + signal.SIGTERM
    assert is_over(child, folder)
