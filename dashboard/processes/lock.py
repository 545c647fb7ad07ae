"""One `run` for each LEVEE_HOME, and one program for each port."""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class RunError(Exception):
    """Why Levee cannot be started or go on, as one sentence for the operator."""


@contextmanager
def home_lock(home: Path) -> Iterator[None]:
    """Hold LEVEE_HOME for this process; the kernel lets go of it however the process ends. RunError: another has it."""
    home.mkdir(parents=True, exist_ok=True)
    with open(home / "run.lock", "a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "of unknown number"
            raise RunError(
                f"Levee already runs in {home} (process {holder}): stop it, or choose another folder with LEVEE_HOME."
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def require_free(port: int) -> None:
    """Raises RunError where something listens on the loopback port, or this user may not."""
    with socket.socket() as probe:
        # Servers set this too: connections of a stopped server that linger do not count as taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise RunError(
                f"Port {port} on 127.0.0.1 is taken: stop the program that listens there, "
                f"or choose another port, as in PORT={port + 1 if port < 65535 else 8000} make run."
            ) from error


def free_port() -> int:
    """Return a loopback port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
