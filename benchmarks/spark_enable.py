"""Enabling coordinated commits with one click, from POST to proof, against Spark's two bare statements.

Both run in the same warm session, on tables alike, in one sandbox. The click is a POST of the confirmed checks with all
of the console around it: the checks made anew, the job's rows, the audit log, Spark, and the table read again and
stored. Celery hands the job over within the process, so that only the broker's milliseconds are missing. The bare side
is what the worker runs: ALTER TABLE … SET TBLPROPERTIES and SHOW TBLPROPERTIES.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.harness import Contest, compete
from lake.spark.jars import fetch
from lake.spark.settings import ROOT

JARS_HOME = Path(os.environ.get("LEVEE_HOME") or ROOT / "var").resolve()
ROUNDS = 9
UNTIMED = 3
TARGET = 1.5
CLICK, BARE = "one click, proven", "two bare statements"


def main() -> None:
    """LEVEE_BENCH_ROUNDS sets another number of rounds."""
    rounds = int(os.environ.get("LEVEE_BENCH_ROUNDS", ROUNDS))
    fetch(JARS_HOME)
    with _console() as origin:
        from dashboard.spark.warm import spark

        levee = _Levee(origin, rounds + UNTIMED)
        contest = compete({CLICK: levee.click, BARE: levee.bare}, rounds=rounds + UNTIMED)
        measured = Contest({name: laps[UNTIMED:] for name, laps in contest.laps.items()})
        spark.close()
        _tell(measured, rounds, levee)


class _Levee:
    """One console, one warm Spark, and two fresh tables for every round, checked and ready to be enabled."""

    def __init__(self, origin: str, rounds: int) -> None:
        from coordinator.models import CommitStore
        from dashboard.connections.models import Connection
        from sandbox.client import REGION
        from sandbox.ground import DELTA_COMMITS

        self.store, self.origin = DELTA_COMMITS, origin
        self.connection = Connection.objects.create(name="lake", region=REGION, endpoint_url=origin)
        CommitStore.objects.create(connection=self.connection, name=self.store, kind="commit_coordinator")
        self.browser = _signed_in()
        self.steps: list[tuple[str, float]] = []
        self.requests: list[int] = []
        self.clicked = [self._checked(self._table(f"clicked{number}")) for number in range(rounds)]
        self.bared = [self._table(f"bare{number}") for number in range(rounds)]

    def click(self) -> object:
        from dashboard.jobs.models import Job

        address, form = self.clicked.pop()
        answer = self.browser.post(address, form)
        assert answer.status_code == 303, answer.content.decode()[:2000]
        job = Job.objects.get(pk=answer["Location"].rstrip("/").rpartition("/")[2])
        assert job.state == "succeeded", (job.error_code, job.message)
        self.steps += [(one["name"], _seconds(one)) for one in job.steps]
        return job.result["after"]["registration"]["accepting_commits"]

    def bare(self) -> object:
        from lake.spark.jobs import enable_coordinated_commits

        outcome = self._spark(enable_coordinated_commits.job(self.bared.pop(), self.store, self.origin))
        return outcome.result["properties"]["delta.feature.coordinatedCommits-preview"] == "supported"

    def _table(self, name: str) -> str:
        from lake.spark.jobs import append_probe, create_table

        uri = f"s3a://acme-lake-prod/bench/{name}"
        self._spark(create_table.job(uri, "id BIGINT, name STRING"))
        self._spark(append_probe.job(uri))
        return uri

    def _spark(self, job: Any) -> Any:
        from dashboard.connections.access import lake_access
        from dashboard.spark.warm import spark
        from lake.aws.access import open_lake

        with open_lake(lake_access(self.connection)) as lake:
            outcome = spark.borrow(self.connection, lake).run(job)
        assert outcome.state == "done", outcome.error
        return outcome

    def _checked(self, uri: str) -> tuple[str, dict[str, str]]:
        """The page of checks that were just made, and the form that confirms them."""
        from coordinator.actions import observe_table_now
        from coordinator.coordination.checks import Operation
        from coordinator.coordination.confirmed import check_jobs
        from coordinator.models import DeltaTable
        from dashboard.accounts.actor import Actor
        from lake.delta.uri import TableUri

        observe_table_now(Actor.command(), self.connection, TableUri.parse(uri))
        table = DeltaTable.objects.get(uri=uri)
        answer = self.browser.post(f"/tables/{table.pk}/coordination/enable/", {"store": self.store})
        assert answer.status_code == 303, answer.content.decode()[:2000]
        checked = check_jobs(uri, Operation.ENABLE)[0]
        assert checked.result["preflight"]["may_run"], checked.message
        return answer["Location"], {"digest": checked.result["preflight"]["digest"], "stated": "yes"}


def _signed_in() -> Any:
    from django.contrib.auth.models import Group, User
    from django.test import Client
    from django.utils import timezone

    from dashboard.accounts.actor import PROVED_AT
    from dashboard.accounts.roles import Role

    user = User.objects.create_user("bench", password="a long enough one")  # noqa: S106 - of this run alone
    user.groups.add(Group.objects.get_or_create(name=Role.OPERATOR.value)[0])
    browser = Client(headers={"host": "127.0.0.1"})
    browser.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    session = browser.session
    session[PROVED_AT] = timezone.now().isoformat()
    session.save()
    return browser


def _seconds(step: dict[str, str]) -> float:
    from datetime import datetime

    return (datetime.fromisoformat(step["ended"]) - datetime.fromisoformat(step["started"])).total_seconds()


@contextmanager
def _console() -> Iterator[str]:
    """Levee in a home of its own with the jars at hand, beside a sandbox; yields the sandbox's origin."""
    with tempfile.TemporaryDirectory(prefix="levee-bench-") as folder:
        home = Path(folder)
        (home / "jars").symlink_to(JARS_HOME / "jars")
        os.environ.update(LEVEE_HOME=folder, DJANGO_SETTINGS_MODULE="dashboard.settings")
        command = [sys.executable, "-m", "sandbox", "--port", "0", "--home", folder, "--no-spark"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        try:
            assert process.stdout is not None
            assert any("all tables are there" in line for line in process.stdout), "the sandbox ended"
            _set_up_django()
            yield (home / "sandbox" / "endpoint").read_text().strip()
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=20)


def _set_up_django() -> None:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from dashboard.celery import app

    app.conf.task_always_eager = True


def _tell(contest: Contest, rounds: int, levee: _Levee) -> None:
    print(f"\nEnabling coordinated commits in a warm session, {rounds} rounds")
    print(f"{'':28} {'median s':>9} {'min':>8} {'max':>8} {'of bare':>8}")
    bare = contest.wall(BARE)
    for name, laps in contest.laps.items():
        walls = [lap.wall for lap in laps]
        print(
            f"{name:28} {contest.wall(name):9.3f} {min(walls):8.3f} {max(walls):8.3f} {contest.wall(name) / bare:7.2f}x"
        )
    for name in dict.fromkeys(name for name, _ in levee.steps):
        seconds = sorted(one for step, one in levee.steps if step == name)[: len(contest.laps[CLICK])]
        print(f"   {name:34} {seconds[len(seconds) // 2]:6.3f}")
    ratio = contest.wall(CLICK) / bare
    print(f"click against bare: {ratio:.2f}x, target at most {TARGET}x {'reached' if ratio <= TARGET else 'MISSED'}")


if __name__ == "__main__":
    main()
