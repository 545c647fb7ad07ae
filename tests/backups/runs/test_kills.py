"""Workers killed wherever they may be: another one finishes the run, and no object is counted or copied amiss."""

from datetime import timedelta
from itertools import count

import pytest
from django.db import transaction

from backups.actions import cancel
from backups.models import Run
from backups.tasks import advance_runs
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


def run_with(deaths: Deaths) -> None:
    """Let ticks and workers go on until no run can, or has gone on for long; whoever dies is found by the reaper."""
    for _ in range(ROUNDS):
        Run.objects.update(look_again_at=None)
        advance_runs(NOW)
        queued = list(Job.objects.filter(state="queued").values_list("pk", flat=True))
        if not queued:
            return
        for pk in queued:
            try:
                with dying(deaths):
                    execute(pk, "worker/1")
            except Killed:
                deaths.revive()
                Job.objects.filter(pk=pk, state="running").update(heartbeat_at=NOW - timedelta(days=400))
                lose_silent(NOW)


@pytest.mark.parametrize("engine", ["spark", slowly("s3-batch")])
def test_a_worker_killed_before_any_write_or_call_hands_its_run_over(monkeypatch, engine):
    for number in count(1):
        with transaction.atomic():
            deaths, world = Deaths(at=number), World()
            world.passing = deaths.passing
            with monkeypatch.context() as patch:
                inhabit(patch, world)
                run = start(make_plan(engine=engine))
                run_with(deaths)
            if len(deaths.seen) < number:
                break
            assert_right(run, world, deaths)
            transaction.set_rollback(True)
    assert number > 30


def assert_right(run: Run, world: World, deaths: Deaths) -> None:
    run.refresh_from_db()
    assert (run.state, run.copied) == ("complete", 10), deaths.place
    assert world.pool == world.source, deaths.place
    assert len(world.batch.jobs) == (run.plan.engine == "s3-batch"), deaths.place
    assert run.copy_jobs.count() == 1, deaths.place
    assert [stage.state for stage in run.stages.all()] == ["done"] * 5, deaths.place
    assert AuditEntry.objects.filter(target_id=run.pk, outcome="done").count() == 1, deaths.place


def test_a_worker_killed_while_it_cancels_hands_that_over(monkeypatch):
    for number in count(1):
        with transaction.atomic():
            deaths, world = Deaths(), World()
            world.batch.polls_until_done = ROUNDS
            with monkeypatch.context() as patch:
                inhabit(patch, world)
                run = start(make_plan(engine="s3-batch"))
                tick(world, rounds=4)
                cancel(Actor.command(), run, enqueue=False)
                deaths.at, world.passing = number, deaths.passing
                run_with(deaths)
            if len(deaths.seen) < number:
                break
            run.refresh_from_db()
            assert run.state == "cancelled", deaths.place
            assert [job.status for job in world.batch.jobs.values()] == ["Cancelled"], deaths.place
            assert {stage.state for stage in run.stages.all()} <= {"done", "skipped"}, deaths.place
            transaction.set_rollback(True)
    assert number > 5


@pytest.mark.slow
def test_a_worker_killed_while_it_fails_a_run_hands_that_over(monkeypatch):
    """The manifest that S3 was given has another number of tasks: a reason that no second try removes."""
    for number in count(1):
        with transaction.atomic():
            deaths, world = Deaths(at=number), World()
            world.passing = deaths.passing
            with monkeypatch.context() as patch:
                inhabit(patch, world)
                patch.setattr(world.batch, "miscounts", True)
                run = start(make_plan(engine="s3-batch"))
                run_with(deaths)
            if len(deaths.seen) < number:
                break
            run.refresh_from_db()
            assert (run.state, run.error_code) == ("failed", "ManifestMiscounted"), deaths.place
            assert [job.status for job in world.batch.jobs.values()] == ["Cancelled"], deaths.place
            assert [stage.state for stage in run.stages.all()] == ["done"] * 2 + ["failed"] + ["skipped"] * 2
            assert world.copies == 0
            transaction.set_rollback(True)
    assert number > 20
