"""Workers killed wherever they may be: another one finishes the run, and no object is counted or copied amiss."""

from collections.abc import Callable
from datetime import timedelta
from itertools import count

import pytest
from django.db import transaction

from backups.actions import cancel
from backups.models import Run
from dashboard.accounts.actor import Actor
from dashboard.audit.models import AuditEntry
from dashboard.jobs.execution import execute
from dashboard.jobs.models import Job
from dashboard.jobs.reaper import lose_silent
from tests.backups.runs.deaths import Deaths, Killed, dying
from tests.backups.runs.world import NOW, World, inhabit, make_plan, start, tick
from tests.choosing import slowly

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]
ROUNDS = 40


def run_with(world: World, deaths: Deaths) -> None:
    """Let ticks and workers go on until no run can, or has gone on for long; whoever dies is found by the reaper."""

    def work(pk: int) -> None:
        try:
            with dying(deaths):
                execute(pk, "worker/1")
        except Killed:
            deaths.revive()
            Job.objects.filter(pk=pk, state="running").update(heartbeat_at=NOW - timedelta(days=400))
            lose_silent(NOW)

    tick(world, ROUNDS, work)


def each_death(
    monkeypatch: pytest.MonkeyPatch, begin: Callable[[World], Run], check: Callable[[Run, World, str], None]
) -> int:
    """Begin a run time and again, and kill a worker before each write and call of it in turn; returns how many."""
    for number in count(1):
        with transaction.atomic():
            deaths, world = Deaths(), World()
            with monkeypatch.context() as patch:
                inhabit(patch, world)
                run = begin(world)
                deaths.at, world.passing = number, deaths.passing
                run_with(world, deaths)
            if len(deaths.seen) < number:
                return number
            run.refresh_from_db()
            check(run, world, deaths.place)
            transaction.set_rollback(True)
    raise AssertionError


@pytest.mark.parametrize("engine", ["spark", slowly("s3-batch")])
def test_a_worker_killed_before_any_write_or_call_hands_its_run_over(monkeypatch, engine):
    assert each_death(monkeypatch, lambda world: start(make_plan(engine=engine)), assert_right) > 30


def assert_right(run: Run, world: World, place: str) -> None:
    assert (run.state, run.copied) == ("complete", 10), place
    assert world.pool == world.source, place
    assert len(world.batch.jobs) == (run.plan.engine == "s3-batch"), place
    assert run.copy_jobs.count() == 1, place
    assert [stage.state for stage in run.stages.all()] == ["done"] * 6, place
    assert AuditEntry.objects.filter(target_id=run.pk, outcome="done").count() == 1, place


def test_a_worker_killed_while_it_cancels_hands_that_over(monkeypatch):
    def begin(world: World) -> Run:
        world.batch.polls_until_done = ROUNDS
        run = start(make_plan(engine="s3-batch"))
        tick(world, rounds=4)
        return cancel(Actor.command(), run, enqueue=False)

    def check(run: Run, world: World, place: str) -> None:
        assert run.state == "cancelled", place
        assert [job.status for job in world.batch.jobs.values()] == ["Cancelled"], place
        assert {stage.state for stage in run.stages.all()} <= {"done", "skipped"}, place

    assert each_death(monkeypatch, begin, check) > 5


@pytest.mark.slow
def test_a_worker_killed_while_it_fails_a_run_hands_that_over(monkeypatch):
    """The manifest that S3 was given has another number of tasks: a reason that no second try removes."""

    def begin(world: World) -> Run:
        world.batch.miscounts = True
        return start(make_plan(engine="s3-batch"))

    def check(run: Run, world: World, place: str) -> None:
        assert (run.state, run.error_code) == ("failed", "ManifestMiscounted"), place
        assert [job.status for job in world.batch.jobs.values()] == ["Cancelled"], place
        assert [stage.state for stage in run.stages.all()] == ["done"] * 2 + ["failed"] + ["skipped"] * 3
        assert world.copies == 0

    assert each_death(monkeypatch, begin, check) > 20
