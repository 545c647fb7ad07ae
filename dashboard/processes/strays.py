"""Descendants that left their parent's process group, found by a mark in their environment.

A Spark worker starts a session of its own, so that it can be killed with its JVM; signalling the group of the process
that started it does not reach it. Every process inherits the mark, whatever becomes of its parents. Systems without
/proc have process groups alone.
"""

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

MARK = "LEVEE_RUN_HOME"


def strays(home: Path) -> set[int]:
    """Return the processes of this user that carry the mark of `home`, without the calling one."""
    mark = os.fsencode(f"{MARK}={home}")
    found = set()
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in entry.read_bytes().split(b"\0"):
                found.add(int(entry.parent.name))
    return found - {os.getpid()}


def end_strays(home: Path, grace_period: float) -> int:
    """Ask every stray to end, kill those that are there after `grace_period` seconds, and return their number."""
    seen = strays(home)
    _signal(seen, signal.SIGTERM)
    until = time.monotonic() + grace_period
    while (left := strays(home)) and time.monotonic() < until:
        time.sleep(0.05)
    for _ in range(20):  # a process that is being killed may have started another just before
        if not left:
            break
        seen |= left
        _signal(left, signal.SIGKILL)
        time.sleep(0.05)
        left = strays(home)
    return len(seen)


def _signal(processes: Iterable[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)
