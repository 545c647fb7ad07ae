"""Every move of a run's state, allowed or not."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from backups import lifecycle
from backups.models import CopyJob, Run, RunState, Stage
from backups.runs.work import GivenUp, Work
from dashboard.jobs.models import Job
from lake.aws.batch_operations import JobStatus
from tests.backups.runs.world import make_plan, start

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("locks")]

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


def job(kind: str = "backup-run", silent_seconds: float = 0) -> Job:
    heard = timezone.now() - timedelta(seconds=silent_seconds)
    return Job.objects.create(
        kind=kind, title="Back up", requested_by_name="schedule", state="running", heartbeat_at=heard
    )


def test_only_one_of_two_jobs_holds_a_run_until_it_has_been_silent():
    run, first, second = start(make_plan()), job(silent_seconds=89), job("backup-data")

    assert lifecycle.acquire(run.pk, first)
    assert not lifecycle.acquire(run.pk, second)
    Job.objects.filter(pk=first.pk).update(heartbeat_at=timezone.now() - timedelta(seconds=91))
    assert lifecycle.acquire(run.pk, second)
    first.refresh_from_db()
    assert first.state == "lost"


def test_of_two_jobs_that_saw_one_holder_end_the_first_has_the_run(monkeypatch):
    run, holder, first, second = start(make_plan()), job(), job("backup-data"), job("backup-cancel")
    lifecycle.acquire(run.pk, holder)

    def lose_it_to_the_first(*_: object) -> bool:
        return bool(Run.objects.filter(pk=run.pk).update(worker=first))

    monkeypatch.setattr(lifecycle, "lose_if_silent", lose_it_to_the_first)
    assert not lifecycle.acquire(run.pk, second)


def test_what_a_job_learns_after_another_took_its_run_is_not_kept():
    """A worker that was paused, given up and comes back."""
    run, first = start(make_plan()), job(silent_seconds=91)
    row = CopyJob.objects.create(run=run, number=1, engine="s3-batch", status="Complete")
    lifecycle.acquire(run.pk, first)
    lifecycle.acquire(run.pk, job("backup-data"))
    late = SimpleNamespace(context=SimpleNamespace(job=first))

    with pytest.raises(GivenUp):
        Work.save_status(late, row, JobStatus("", "Active"))
    lifecycle.show_stage(run.pk, first, Stage.COPY, detail="late")

    row.refresh_from_db()
    assert row.status == "Complete"
    assert run.stages.get(name="copy").detail == ""


def test_a_job_takes_the_run_over_from_one_that_has_ended():
    run, first = start(make_plan()), job()
    lifecycle.acquire(run.pk, first)
    Job.objects.filter(pk=first.pk).update(state="lost")

    second = job()
    assert lifecycle.acquire(run.pk, second)
    assert not lifecycle.move(run.pk, RunState.RUNNING, job=first)
    assert lifecycle.move(run.pk, RunState.RUNNING, job=second)
    assert lifecycle.move(run.pk, RunState.COMPLETE, job=second)
    assert not lifecycle.acquire(run.pk, job("backup-cancel"))


def test_a_run_that_is_to_be_cancelled_waits_for_nothing():
    run, holder = start(make_plan()), job()
    lifecycle.acquire(run.pk, holder)
    lifecycle.move(run.pk, RunState.CANCELLING)

    lifecycle.release(run.pk, holder, timezone.now())

    run.refresh_from_db()
    assert (run.worker, run.look_again_at) == (None, None)
