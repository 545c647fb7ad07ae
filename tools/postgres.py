"""Run a command with DATABASE_URL naming a PostgreSQL of its own, on a unix socket, which ends with the command."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.machine import CHECKOUT, SetupError, apt_install, say

# A server of tests that vanishes with its folder: nothing in it has to outlive a crash.
SETTINGS = {
    "listen_addresses": "''",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "200",
}


def main() -> int:
    """Run the command given as arguments; exit with its code."""
    try:
        with running_server() as url:
            return subprocess.run(
                sys.argv[1:], cwd=CHECKOUT, env={**os.environ, "DATABASE_URL": url}, check=False
            ).returncode
    except SetupError as error:
        say(str(error))
        return 1


@contextmanager
def running_server() -> Iterator[str]:
    """Start a fresh server in a temporary folder and yield its DATABASE_URL; SetupError: it is missing or fails."""
    programs = _programs()
    with tempfile.TemporaryDirectory(prefix="levee-pg-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        data = folder / "data"
        _as_server(programs / "initdb", "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync")
        options = " ".join(f"-c {key}={value}" for key, value in SETTINGS.items())
        options += f" -c unix_socket_directories={folder}"
        log = folder / "log"
        _as_server(programs / "pg_ctl", "-D", data, "-l", log, "-w", "-o", options, "start")
        try:
            _as_server(programs / "createdb", "-h", folder, "-U", "postgres", "levee")
            yield f"postgresql://postgres@/levee?host={folder}"
        finally:
            _as_server(programs / "pg_ctl", "-D", data, "-m", "immediate", "stop")


def _programs() -> Path:
    found = _find_programs()
    if found is None and apt_install("postgresql"):
        found = _find_programs()
    if found is None:
        raise SetupError("No PostgreSQL server was found: install one (on Debian: apt-get install postgresql).")
    return found


def _find_programs() -> Path | None:
    """Return the folder of initdb and pg_ctl, which Debian keeps off PATH, or None."""
    on_debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    found = shutil.which("pg_ctl") or (str(on_debian[-1]) if on_debian else "")
    return Path(found).resolve().parent if found else None


def _as_server(*words: str | Path) -> None:
    """Run a server's program; as the user postgres where this is root, because the server refuses to be root."""
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    # The server that pg_ctl leaves running would hold a pipe open: its lines go to a file.
    with tempfile.TemporaryFile("w+") as lines:
        done = subprocess.run([*user, *map(str, words)], cwd="/", stdout=lines, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            lines.seek(0)
            raise SetupError(f"PostgreSQL's {Path(words[0]).name} failed: {lines.read().strip()}")


if __name__ == "__main__":
    sys.exit(main())
