"""A pass as a job: its steps, and how it is cancelled."""

from threading import Event

import pytest

from coordinator.actions import observe_lake
from coordinator.models import DeltaTable, ObservationPass
from dashboard.accounts.actor import Actor
from dashboard.jobs.context import JobContext
from dashboard.jobs.execution import execute
from dashboard.jobs.models import Job, JobState

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres("locks")]


@pytest.fixture
def job(connection, guard, settings, monkeypatch) -> Job:
    """A queued look at the lake through the gate."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "sandbox")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "sandbox")
    settings.ALLOWED_ENDPOINTS = [guard.url]
    settings.OBSERVE_THREADS = 2
    connection.endpoint_url = guard.url
    connection.save()
    monkeypatch.setattr("dashboard.jobs.actions.deliver", lambda *args: None)
    return observe_lake(Actor.command(), connection)


def test_a_pass_tells_its_steps_and_its_cost(written, job):
    written.table("sales/orders")

    execute(job.pk, "test")

    job.refresh_from_db()
    assert (job.state, job.error_text) == (JobState.SUCCEEDED, "")
    assert [step["name"] for step in job.steps] == [
        "Read the commit stores",
        "Find the tables",
        "Read the tables",
        "Read bucket settings",
    ]
    assert job.result["requests"] > 0
    assert job.message.startswith("Looked at 1 tables: 1 read anew;")


def test_a_job_that_is_cancelled_while_it_reads_ends_without_another_table(written, job, guard, monkeypatch):
    monkeypatch.setattr("dashboard.jobs.context.WRITE_EVERY_SECONDS", 0)
    written.table("sales/orders")

    is_reading, check = Event(), JobContext.check_cancelled

    def note(call) -> None:
        if call.operation == "ListObjectsV2" and "_delta_log/" in call.target:
            is_reading.set()

    def cancel_and_check(context) -> None:
        # In the job's own thread: SQLite in memory refuses what two threads ask of a table at once.
        if is_reading.is_set():
            Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(state=JobState.CANCELLING)
        check(context)

    guard.before = note
    monkeypatch.setattr(JobContext, "check_cancelled", cancel_and_check)

    execute(job.pk, "test")

    job.refresh_from_db()
    assert job.state == JobState.CANCELLED
    assert not DeltaTable.objects.exists()
    ended = ObservationPass.objects.get()
    assert (ended.finished_at is not None, ended.error_code) == (True, "JobCancelled")
