"""An embedded Levee: everything on this machine, started in order, watched, and stopped together."""

import os
import tomllib
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import urllib3
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from urllib3.exceptions import HTTPError

from dashboard.commands import migrating_alone
from dashboard.connections.access import SANDBOX
from dashboard.connections.signals import lake_emptied
from dashboard.processes import programs, redis
from dashboard.processes.hung import replace_hung
from dashboard.processes.lock import RunError, free_port, home_lock, require_free
from dashboard.processes.sandbox_people import close_sandbox, ensure_sandbox_people
from dashboard.processes.supervisor import Supervisor
from dashboard.web.health import redis_answers

ROLES = "admin, operator or viewer"
SANDBOX_OBSERVES_EVERY_SECONDS = "10"


@dataclass(frozen=True)
class Choices:
    """What the operator chose: where, on which port, with or without sandbox, Spark and an own Redis."""

    home: Path
    port: int
    with_sandbox: bool
    with_redis: bool
    with_spark: bool = True

    @property
    def logs(self) -> Path:
        """Where each process has a file of what it says."""
        return self.home / "logs"

    @property
    def lake_file(self) -> Path:
        """Where the sandbox writes what `apply` declares."""
        return self.home / "sandbox" / "lake.toml"

    @property
    def endpoint_file(self) -> Path:
        """Where the sandbox writes the origin it serves on, after everything else is in place."""
        return self.home / "sandbox" / "endpoint"


def run(choices: Choices, supervisor: Supervisor) -> None:
    """Start everything, watch it until a signal asks for the end, and stop everything.

    Raises RunError where port or folder are taken, or a process cannot be brought up; nothing is left running.
    """
    with home_lock(choices.home):
        require_free(choices.port)
        supervisor.obey_signals()
        try:
            _start(choices, supervisor)
            supervisor.watch(partial(replace_hung, supervisor))
        finally:
            supervisor.say_last()
            supervisor.say("stopping")
            supervisor.stop()
            supervisor.say("stopped")


def _start(choices: Choices, supervisor: Supervisor) -> None:
    if not os.environ.get("LEVEE_PUBLIC_URL"):  # the links in mails
        os.environ["LEVEE_PUBLIC_URL"] = f"http://127.0.0.1:{choices.port}"
    if choices.with_redis:
        _start_redis(choices, supervisor)
    if choices.with_sandbox:
        _start_sandbox(choices, supervisor)
    with supervisor.step("The database and the files of the pages are up to date"):
        with migrating_alone():
            code = supervisor.run_once(programs.command("migrate", "--no-input", "--verbosity=0"))
        if code != 0:
            raise RunError("The database cannot be brought up to date.")
        call_command("collectstatic", interactive=False, verbosity=0, clear=True)
        password = "" if supervisor.stopping else _people(choices, supervisor)
    with supervisor.step("The web process answers"):
        for program in (programs.web(choices.port), *programs.workers(), programs.beat(choices.home)):
            supervisor.start(program)
        supervisor.wait_until(lambda: _answers(choices.port), "the web process does not answer yet: it may be starting")
    if supervisor.stopping:
        return
    supervisor.say(f"What each process says is in {choices.logs}")
    address = f"Levee is at http://127.0.0.1:{choices.port}/"
    if choices.with_sandbox:
        supervisor.say_last(address, f"Sign in as {ROLES} with the password {password}")
        _declare_sandbox_lake(choices, supervisor)
    else:
        supervisor.say_last(address)


def _people(choices: Choices, supervisor: Supervisor) -> str:
    """Let the sandbox's people in, or keep them out; returns their password.

    What rests on the sandbox's last lake is told that it is gone.
    """
    folder = choices.home / "sandbox"
    try:
        if choices.with_sandbox:
            lake_emptied.send(_people, connection=SANDBOX)
            return ensure_sandbox_people(folder / "sign-in")
        if closed := close_sandbox(folder):
            supervisor.say(
                f"the people of the sandbox ({', '.join(closed)}) may no longer sign in; levee person adds others"
            )
        return ""
    finally:
        connections.close_all()


def _start_redis(choices: Choices, supervisor: Supervisor) -> None:
    server = redis.find_server()
    if server is None:
        raise RunError(redis.NO_SERVER)
    try:
        redis.prepare(choices.home)
    except OSError as error:
        raise RunError(f"Redis has no folder for its data and socket: {error}.") from error
    with supervisor.step("Redis answers"):
        supervisor.start(programs.redis_server(server, choices.home))
        supervisor.wait_until(
            lambda: redis_answers(settings.REDIS_URL), "Redis does not answer yet: it may be reading its data"
        )


def _start_sandbox(choices: Choices, supervisor: Supervisor) -> None:
    choices.endpoint_file.unlink(missing_ok=True)  # one that a killed run left would announce the lake too soon
    os.environ.setdefault("LEVEE_OBSERVE_EVERY_SECONDS", SANDBOX_OBSERVES_EVERY_SECONDS)
    os.environ.setdefault("LEVEE_BACKUP_TICK_SECONDS", SANDBOX_OBSERVES_EVERY_SECONDS)
    supervisor.start(programs.sandbox(choices.home, free_port(), spark=choices.with_spark))


def _declare_sandbox_lake(choices: Choices, supervisor: Supervisor) -> None:
    supervisor.wait_until(choices.endpoint_file.exists, "the sandbox has not made its lake yet")
    for program in (
        programs.command("apply", str(choices.lake_file), "--apply"),
        programs.command("observe", "--enqueue"),
    ):
        if not supervisor.stopping and supervisor.run_once(program) != 0:
            supervisor.say("The sandbox lake is not shown before that succeeds.")
            return
    if choices.with_spark:
        _back_up_sandbox_lake(choices, supervisor)


def _back_up_sandbox_lake(choices: Choices, supervisor: Supervisor) -> None:
    """Ask once for a run of each sample plan, which waits for its inventory by itself.

    The sandbox forgets its lake when it ends: a run of an earlier start has nothing to go on with.
    """
    for plan in tomllib.loads(choices.lake_file.read_text()).get("plans", []):
        if not supervisor.stopping:
            supervisor.run_once(programs.command("backup", "run", plan["name"], "--anew", "--enqueue"))


def _answers(port: int) -> bool:
    try:
        return urllib3.request("GET", f"http://127.0.0.1:{port}/healthz", timeout=5, retries=False).status < 500
    except HTTPError:
        return False
