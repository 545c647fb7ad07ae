"""Small programs for the supervisor to run, and ways to look at what they leave."""

import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dashboard.processes.supervisor import Program
from tests.waiting import wait_until


@contextmanager
def short_folder() -> Iterator[Path]:
    """A folder whose path leaves room for a socket's name, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="levee-") as name:
        yield Path(name).resolve()


def python(name: str, code: str, folder: Path, **options: bool) -> Program:
    """A program of this name that runs the code."""
    file = folder / f"{name}.py"
    file.write_text(code)
    return Program(name, (sys.executable, str(file)), **options)


def said_by(folder: Path, name: str) -> str:
    """What the process of this name has said, as the supervisor of a test keeps it."""
    log = folder / "logs" / f"{name}.log"
    return log.read_text() if log.exists() else ""


def processes_of(home: Path) -> set[int]:
    """The processes, but this one, that name the folder in their command line or have it as LEVEE_HOME."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            of_home = f"LEVEE_HOME={home}".encode() in (process / "environ").read_bytes().split(b"\0")
            if of_home or f"{home}/".encode() in (process / "cmdline").read_bytes():
                found.add(int(process.name))
    return found - {os.getpid()}


def wait_for(happened: Callable[[], bool]) -> None:
    """Wait for something to happen, and fail when it does not."""
    assert wait_until(happened, 60, every=0.02), "it did not happen in time"


def in_background(work: Callable[[], object]) -> threading.Thread:
    """Start work in a thread that a failing test does not wait for."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread
