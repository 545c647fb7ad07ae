"""Run a command of which nothing is left: no process, whatever session it went into, and no temporary file.

Linux hands orphans to the nearest ancestor that has asked for them (PR_SET_CHILD_SUBREAPER, prctl(2)). A keeper between
the caller and the command asks, so every descendant stays in its tree. It ends them all when the command has ended, and
as well when its caller has gone, however that died: then the kernel signals it (PR_SET_PDEATHSIG).
"""

import ctypes
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tools.machine import CHECKOUT, say

LOOK_EVERY_SECONDS = 0.1
SETTLING_SECONDS = 20.0
"""How long what a command has ended itself may take to vanish: a JVM that is killed gives its memory back first."""
PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG = 36, 1
TOO_LONG = 124
LEFT_BEHIND = 70
"""The exit code where the command left processes behind, and either succeeded or, as pytest says it, tests failed."""
SAYS_NOTHING_OF_THEM = (0, 1)


def run(
    words: Sequence[str], environment: Mapping[str, str], settling: float = SETTLING_SECONDS, limit: float = math.inf
) -> int:
    """Run a command in the checkout and return its exit code; LEFT_BEHIND where it did not end what it had started.

    A command that is not over after `limit` seconds is ended: TOO_LONG.

    Ctrl-C interrupts the command, which may still end its fixtures; a second one ends everything at once.
    """
    keeper = subprocess.Popen(
        [sys.executable, "-m", "tools.contained", str(os.getpid()), str(settling), str(limit), *words],
        cwd=CHECKOUT,
        env={**os.environ, **environment},
        start_new_session=True,
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            return keeper.wait()
        except KeyboardInterrupt:
            keeper.send_signal(number)
    return keeper.wait()


def main() -> int:
    """Be the keeper: the arguments are the caller, the seconds for settling and in all, and the command."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    caller, settling, limit, words = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]
    if os.getppid() != caller:
        return 128 + signal.SIGHUP
    with tempfile.TemporaryDirectory(prefix="levee-run-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)  # a PostgreSQL that runs as another user keeps its socket below
        try:
            command = subprocess.Popen(words, env={**os.environ, "TMPDIR": folder}, close_fds=True)
            signal.signal(signal.SIGINT, lambda *_: _interrupt(command.pid))
            code = _watch(command.pid, time.monotonic() + limit)
            return _settled(code, settling)
        finally:
            _end_all()
            shutil.rmtree(folder, ignore_errors=True)


def _interrupt(command: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(command, signal.SIGINT)


def _watch(command: int, until: float) -> int:
    """Wait for the command."""
    while time.monotonic() < until:
        for number, status in _ended():
            if number == command:
                return os.waitstatus_to_exitcode(status)
        time.sleep(LOOK_EVERY_SECONDS)
    say("The command took longer than it may, and is ended.")
    sys.exit(TOO_LONG)


def _ended() -> list[tuple[int, int]]:
    """Children, adopted ones as well, that have ended since the last call, with their wait status."""
    found = []
    with suppress(ChildProcessError):
        while (one := os.waitpid(-1, os.WNOHANG))[0]:
            found.append(one)
    return found


def _settled(code: int, seconds: float) -> int:
    """The command's code once nothing of it runs; what still runs is named, and is a failure of its own."""
    until = time.monotonic() + seconds
    while (left := descendants()) and time.monotonic() < until:
        time.sleep(LOOK_EVERY_SECONDS)
        _ended()
    for number in left:
        say(f"Left behind: process {number}, {_words(number)}")
    return LEFT_BEHIND if left and code in SAYS_NOTHING_OF_THEM else code


def _end_all() -> None:
    """Kill every descendant; one that is being killed may have started another just before."""
    while left := descendants():
        for number in left:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        time.sleep(0.02)
    _ended()  # or they are seen as zombies until init has reaped them


def descendants() -> list[int]:
    """The processes below this one that are more than zombies."""
    children: dict[int, list[int]] = {}
    running = set()
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = entry.read_text().rpartition(")")[2].split()[:2]
            children.setdefault(int(parent), []).append(number := int(entry.parent.name))
            if state not in "ZX":
                running.add(number)
    waiting, found = [os.getpid()], []
    while waiting:
        below = children.get(waiting.pop(), [])
        waiting += below
        found += [number for number in below if number in running]
    return found


def _words(number: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{number}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200].strip()
    return "gone by now"


if __name__ == "__main__":
    sys.exit(main())
