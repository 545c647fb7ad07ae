"""Every move of a run's state, allowed or not."""

import pytest

from backups import lifecycle
from backups.models import Run, RunState
from dashboard.jobs.models import Job
from tests.backups.runs.world import make_plan, start

pytestmark = pytest.mark.django_db

ALLOWED = {
    ("waiting_for_inventory", "running"),
    ("waiting_for_inventory", "cancelling"),
    ("waiting_for_inventory", "failed"),
    ("running", "waiting_for_approval"),
    ("running", "cancelling"),
    ("running", "complete"),
    ("running", "complete_with_gaps"),
    ("running", "failed"),
    ("waiting_for_approval", "running"),
    ("waiting_for_approval", "cancelling"),
    ("waiting_for_approval", "failed"),
    ("cancelling", "cancelled"),
    ("cancelling", "failed"),
}


@pytest.mark.parametrize("before", RunState.values)
@pytest.mark.parametrize("after", RunState.values)
def test_a_run_moves_only_as_the_table_says(before, after):
    run = start(make_plan())
    Run.objects.filter(pk=run.pk).update(state=before)

    assert lifecycle.move(run.pk, RunState(after)) == ((before, after) in ALLOWED)


def job(state: str = "running") -> Job:
    return Job.objects.create(
        kind="backup-run", title="Back up", requested_by_name="schedule", state=state, target_key=""
    )


def test_only_one_of_two_jobs_holds_a_run():
    run, first = start(make_plan()), job()
    second = Job.objects.create(kind="backup-data", title="Back up", requested_by_name="schedule", state="running")

    assert lifecycle.hold(run.pk, first)
    assert not lifecycle.hold(run.pk, second)


def test_a_job_takes_the_run_over_from_one_that_has_ended():
    run, first = start(make_plan()), job()
    lifecycle.hold(run.pk, first)
    Job.objects.filter(pk=first.pk).update(state="lost")

    second = job()
    assert lifecycle.hold(run.pk, second)
    assert not lifecycle.move(run.pk, RunState.RUNNING, job=first)
    assert lifecycle.move(run.pk, RunState.RUNNING, job=second)


def test_a_finished_run_is_held_by_nobody():
    run = start(make_plan())
    Run.objects.filter(pk=run.pk).update(state=RunState.COMPLETE)

    assert not lifecycle.hold(run.pk, job())


def test_a_run_that_is_to_be_cancelled_waits_for_nothing():
    run, holder = start(make_plan()), job()
    lifecycle.hold(run.pk, holder)
    lifecycle.move(run.pk, RunState.CANCELLING)

    from tests.backups.runs.world import NOW

    lifecycle.let_go(run.pk, holder, NOW)

    run.refresh_from_db()
    assert (run.worker, run.look_again_at) == (None, None)
