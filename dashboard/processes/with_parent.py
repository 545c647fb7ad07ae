"""A program that the kernel kills when its parent has died, however it died; Linux alone can do that.

A program that hangs would ignore a request to end. Of a job that is cut off, the reaper tells.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Sequence

PR_SET_PDEATHSIG = 1
"""prctl(2)."""


def ending_with_parent(command: Sequence[str]) -> tuple[str, ...]:
    """The command line of a child of this process that is killed when this process dies."""
    if sys.platform != "linux":
        return tuple(command)
    return (sys.executable, "-m", __name__, str(os.getpid()), *command)


def main(parent: int, command: Sequence[str]) -> None:
    """Ask the kernel for it and become the program; the parent may have died before that."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == parent:
        os.execvp(command[0], list(command))  # noqa: S606 - the supervisor's own command line


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
