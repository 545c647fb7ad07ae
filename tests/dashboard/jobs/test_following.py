"""A command that waits for a job: told its steps, and never left waiting for a worker that is not there."""

from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.accounts.actor import Actor
from dashboard.jobs import following, lifecycle
from dashboard.jobs.actions import run_in_foreground, submit
from dashboard.jobs.beats import note_beat
from dashboard.jobs.context import JobContext
from dashboard.jobs.following import GoesOn, StepsTold, follow, reporting_steps, worker_answers
from dashboard.jobs.models import Job, JobState
from dashboard.jobs.queries import StepRow
from dashboard.jobs.registry import NoParams, job_kind

pytestmark = pytest.mark.django_db(transaction=True)


@job_kind("test-walk", queue="aws", verb="", changes_lake=False)
def walk(context: JobContext, params: NoParams) -> str:
    with context.step("First", "Waits for the first.") as step:
        assert Job.objects.get(pk=context.job.pk).steps[0]["detail"] == "Waits for the first."
        step.detail, step.then = "It came.", ("Second", "Third")
    with context.step("Second", since_seconds=30):
        pass
    return "Walked."


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(following, "TAKEN_WITHIN_SECONDS", 0.05)


def queued() -> Job:
    return submit(Actor.command(), "test-walk", "Walk")


def test_a_queue_answers_while_its_worker_shows_life() -> None:
    assert not worker_answers("spark")
    note_beat("spark", "w", timezone.now())
    assert worker_answers("spark")
    assert not worker_answers("aws")


def test_a_job_that_no_worker_takes_is_done_here(impatient: None) -> None:
    said: list[str] = []
    job = follow(queued(), said.append)
    assert (job.state, job.message) == (JobState.SUCCEEDED, "Walked.")
    assert "No worker had taken it: it was done here." in said


def test_a_job_that_a_worker_has_is_never_done_here(impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    job = queued()
    assert lifecycle.claim(job.pk, "worker/1")
    looks = iter(range(20))

    def finish(seconds: float) -> None:
        if next(looks) == 10:
            lifecycle.finish(job.pk, "By the worker.")

    monkeypatch.setattr(following.time, "sleep", finish)
    ended = follow(Job.objects.get(pk=job.pk), lambda line: None)
    assert (ended.worker, ended.message, ended.steps) == ("worker/1", "By the worker.", [])


def test_breaking_off_the_wait_leaves_the_job_and_says_so(impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    job = queued()
    lifecycle.claim(job.pk, "worker/1")

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(following.time, "sleep", interrupt)
    with pytest.raises(GoesOn, match=f"levee job {job.pk}"):
        follow(Job.objects.get(pk=job.pk), lambda line: None)
    assert Job.objects.get(pk=job.pk).state == JobState.RUNNING


def test_the_steps_of_a_job_done_here_are_told_with_their_true_times() -> None:
    said: list[str] = []
    with reporting_steps(said.append):
        run_in_foreground(Actor.command(), "test-walk", "Walk")
    first, first_ended, second, second_ended = said
    assert (first, second) == ("First … Waits for the first.", "Second …")
    assert first_ended.startswith("First: 0.")
    assert first_ended.endswith(" s. It came.")
    assert second_ended.startswith("Second: 30.")


def row(state: str, seconds: float, detail: str = "") -> StepRow:
    return StepRow("Commit", state, detail, timedelta(seconds=seconds))


def test_a_long_step_is_told_again_every_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now, said = [0.0], list[str]()
    told = StepsTold(said.append, lambda: now[0])
    for at, rows in ((0, row("running", 0, "Waits.")), (5, row("running", 5)), (11, row("running", 11, "Waits."))):
        now[0] = at
        monkeypatch.setattr(following, "steps_of", lambda job, rows=rows: [rows])
        told.look(Job())
    monkeypatch.setattr(following, "steps_of", lambda job: [row("failed", 12)])
    told.look(Job())
    told.look(Job())
    assert said == ["Commit … Waits.", "Commit: 11.0 s so far. Waits.", "Commit: 12.0 s, failed."]
