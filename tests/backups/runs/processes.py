"""A home with a database of its own and commands that run in processes of their own: what one process cannot show."""

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.backups.runs.ground import ROLE, Ground
from tests.waiting import scaled

WAIT_SECONDS = scaled(60)


class Home:
    """The database is a file, or the one that `database_url` names."""

    def __init__(self, folder: Path, ground: Ground, plans: Mapping[str, str], database_url: str = "") -> None:
        """`plans` are their names and engines; each copies to a prefix of its own name."""
        self.folder = folder
        self.ground = ground
        kept = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
        named = {"DATABASE_URL": database_url} if database_url else {}
        self.environment = {**kept, **named, "LEVEE_HOME": str(folder)}
        (folder / "sandbox").mkdir()
        (folder / "sandbox" / "endpoint").write_text(ground.client.origin)
        self.finish(self.begin("migrate", "--verbosity=0"))
        self._apply(plans)

    def begin(self, *words: str, pause_after: str = "") -> "subprocess.Popen[str]":
        """Start a command; its output waits to be read."""
        command = [sys.executable, "-m", "tests.backups.runs.outside", pause_after, *words]
        return subprocess.Popen(
            command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def finish(self, process: "subprocess.Popen[str]") -> str:
        """Wait for a command and return what it printed."""
        out, errors = process.communicate(timeout=WAIT_SECONDS)
        assert process.returncode == 0, errors
        return out

    def _apply(self, plans: Mapping[str, str]) -> None:
        ground = self.ground
        connection = f'[connections.prod]\nregion = "{ground.client.region}"\nendpoint_url = "{ground.client.origin}"\n'
        declared = [
            f'[[plans]]\nname = "{name}"\nconnection = "prod"\nengine = "{engine}"\nrole_arn = "{ROLE}"\n'
            f'source = "s3a://{ground.source}/"\ndestination = "s3a://{ground.vault}/{name}/"\n'
            for name, engine in plans.items()
        ]
        file = self.folder / "levee.toml"
        file.write_text("\n".join([connection, *declared]))
        self.finish(self.begin("apply", str(file), "--apply"))

    def kill_after(self, operation: str, plan: str) -> None:
        """Run a plan, and kill -9 the process once it has had its answer from AWS; its job then counts as silent."""
        process = self.begin("backup", "run", plan, "--json", pause_after=operation)
        paused = self.folder / "paused"
        wait_until(lambda: paused.exists() or process.poll() is not None)
        process.kill()
        _, errors = process.communicate(timeout=WAIT_SECONDS)
        assert paused.exists(), errors
        paused.unlink()
        with closing(sqlite3.connect(self.folder / "levee.sqlite3")) as database, database:
            database.execute("UPDATE jobs_job SET heartbeat_at = '2020-01-01 00:00:00' WHERE state = 'running'")


def wait_until(holds: Callable[[], Any]) -> None:
    until = time.monotonic() + WAIT_SECONDS
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)
