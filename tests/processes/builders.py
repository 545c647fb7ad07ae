"""Small programs for the supervisor to run, and ways to look at what they leave."""

import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dashboard.processes.supervisor import Program
from tests.waiting import scaled

BOUND_SECONDS = scaled(60.0)

# Ignores the polite signals, in a session of its own: what a Spark worker's JVM would be at its worst.
STUBBORN_GRANDCHILD = """
import signal, subprocess, sys, time
if sys.argv[1:] == ["grandchild"]:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print("grandchild is up", flush=True)
    time.sleep(600)
subprocess.Popen([sys.executable, __file__, "grandchild"], start_new_session=True)
time.sleep(600)
"""


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


def wait_for(happened: Callable[[], bool]) -> None:
    """Wait for something to happen, and fail when it does not."""
    until = time.monotonic() + BOUND_SECONDS
    while not happened():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)


def in_background(work: Callable[[], object]) -> threading.Thread:
    """Start work in a thread that a failing test does not wait for."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread
