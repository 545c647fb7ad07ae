"""A home with a database of its own, and commands that run in processes of their own: what one process cannot show.

Usage: python -m tests.backups.runs.processes WORD... is the command line that works on runs in plain Python. Two of
them start a run at the same moment, and advance it from then on.
"""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import django

from tests.waiting import scaled

WAIT_SECONDS = scaled(60)


class Home:
    """The database is a file, or the one that `database_url` names."""

    def __init__(self, folder: Path, ground: Any, plans: Mapping[str, str], database_url: str = "") -> None:
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

    def begin(self, *words: str) -> "subprocess.Popen[str]":
        """Start a command; its output waits to be read."""
        command = [sys.executable, "-m", "tests.backups.runs.processes", *words]
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
            f'[[plans]]\nname = "{name}"\nconnection = "prod"\nengine = "{engine}"\nrole_arn = "{ground.role}"\n'
            f'source = "s3a://{ground.source}/"\ndestination = "s3a://{ground.vault}/{name}/"\n'
            for name, engine in plans.items()
        ]
        file = self.folder / "levee.toml"
        file.write_text("\n".join([connection, *declared]))
        self.finish(self.begin("apply", str(file), "--apply"))


def main(*words: str) -> None:
    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    from backups import actions, advancing, jobs
    from tests.backups.runs import plain

    jobs.parts = plain.parts
    advancing.POLL_SECONDS = 0.1
    start_run = actions.start_run

    def start_with_the_other(*args: Any, **options: Any) -> Any:
        meet(settings.LEVEE_HOME / "ready")
        run = start_run(*args, **options)
        meet(settings.LEVEE_HOME / "started")
        return run

    actions.start_run = start_with_the_other
    call_command(*words)


def meet(place: Path) -> None:
    """Wait until two processes are here."""
    place.mkdir(exist_ok=True)
    (place / str(os.getpid())).touch()
    until = time.monotonic() + WAIT_SECONDS
    while len(list(place.iterdir())) < 2 and time.monotonic() < until:
        time.sleep(0.001)


if __name__ == "__main__":
    main(*sys.argv[1:])
