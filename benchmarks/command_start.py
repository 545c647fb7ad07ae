"""What a command takes beside a Django with its own four apps: `levee --help`, and `levee tables` of an empty lake."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable

from benchmarks.harness import ROUNDS, Contest, compete
from lake.spark.settings import ROOT

MOST = 2.5
PEER = "manage.py check"
PEER_PROGRAM = """
from django.conf import settings
from django.core.management import execute_from_command_line

apps = [f"django.contrib.{name}" for name in ("auth", "contenttypes", "sessions", "messages")]
settings.configure(INSTALLED_APPS=apps)
execute_from_command_line(["manage.py", "check"])
"""
COMMANDS = {"levee --help": ("manage.py", "--help"), "levee tables": ("manage.py", "tables")}


def main() -> None:
    """LEVEE_BENCH_ROUNDS sets another number of rounds."""
    rounds = int(os.environ.get("LEVEE_BENCH_ROUNDS", ROUNDS))
    with tempfile.TemporaryDirectory(prefix="levee-bench-") as home:
        environ = os.environ | {"LEVEE_HOME": home, "DJANGO_SETTINGS_MODULE": "dashboard.settings"}
        run = _runner(environ)
        run("manage.py", "migrate")
        work = {name: (lambda words=words: run(*words)) for name, words in COMMANDS.items()}
        contest = compete({PEER: lambda: run("-c", PEER_PROGRAM), **work}, rounds=rounds)
    _tell(contest, rounds)


def _runner(environ: dict[str, str]) -> Callable[..., None]:
    def run(*words: str) -> None:
        subprocess.run([sys.executable, *words], cwd=ROOT, env=environ, check=True, stdout=subprocess.DEVNULL)

    return run


def _tell(contest: Contest, rounds: int) -> None:
    print(f"\nA command from start to end, {rounds} rounds, medians (load {os.getloadavg()[0]:.1f})")
    for name in contest.laps:
        wall, cpu = contest.wall(name) / contest.wall(PEER), contest.cpu(name) / contest.cpu(PEER)
        print(
            f"{name:22} {contest.wall(name):6.2f} s, {wall:.2f} of the peer; CPU {contest.cpu(name):5.2f} s, {cpu:.2f}"
        )
    worst = max(contest.cpu(name) / contest.cpu(PEER) for name in COMMANDS)
    print(f"at most {MOST} of the peer's CPU: {worst:.2f} {'reached' if worst <= MOST else 'MISSED'}")
