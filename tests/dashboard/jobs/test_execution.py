"""Running a job: outcomes, steps, progress, heartbeat."""

import threading
from typing import Any

import pytest

import tests.dashboard.jobs.kinds  # noqa: F401 - registers the kinds
from dashboard.audit.models import AuditEntry
from dashboard.jobs import context as context_module
from dashboard.jobs import execution, lifecycle
from dashboard.jobs.context import JobContext
from dashboard.jobs.execution import execute, heartbeat
from dashboard.jobs.models import Job
from dashboard.jobs.registry import NoParams, job_kind
from dashboard.jobs.tasks import run_job
from tests.dashboard.jobs.builders import job

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("locks")]


def ran(kind: str, **fields: Any) -> Job:
    made = job(kind=kind, **fields)
    assert execute(made.pk, "w1")
    made.refresh_from_db()
    return made


def test_a_job_that_succeeds_keeps_steps_result_and_sentence() -> None:
    made = ran("test-count", params={"to": 2})
    assert (made.state, made.message, made.result) == ("succeeded", "Counted to 2.", {"counted": 2})
    assert [(step["name"], step["state"], step["detail"]) for step in made.steps] == [
        ("Count", "done", "2 of 2."),
        ("Write down", "done", ""),
    ]
    assert all(step["started"] <= step["ended"] for step in made.steps)
    event = made.events.get()
    assert (event.text, event.level, event.step, event.data) == ("Counted.", "INFO", "count", {"number": 2})


def test_an_unknown_exception_is_type_and_one_sentence_with_the_traceback_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = ran("test-fail")
    assert (made.state, made.error_code, made.error_text) == ("failed", "ValueError", "The log ends in line 3.")
    assert made.message == made.error_text
    assert [step["state"] for step in made.steps] == ["failed"]
    assert [(event.level, event.text) for event in made.events.all()] == [("ERROR", "The log ends in line 3.")]
    assert "Traceback" in caplog.text


def test_an_endpoint_that_is_not_allowed_is_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    made = ran("test-elsewhere")
    assert (made.state, made.error_code) == ("failed", "EndpointNotAllowed")
    assert [made.error_text in line for line in caplog.text.splitlines()] == [True]


def test_a_refusal_by_aws_keeps_code_sentence_and_request_id() -> None:
    made = ran("test-refused")
    assert (made.state, made.error_code) == ("failed", "AccessDenied")
    assert "not authorised" in made.error_text
    assert made.result["aws_request_ids"] == ["REQ1"]
    entry = AuditEntry.objects.get()
    assert (entry.outcome, entry.aws_request_ids, entry.job_id) == ("failed", ["REQ1"], made.pk)


def test_work_that_cannot_be_done_fails_in_its_own_words_and_keeps_what_it_changed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = ran("test-stopped")
    assert (made.state, made.error_code, made.error_text) == (
        "failed",
        "Stopped",
        "Stopped at call 2 of 3: a writer moved on.",
    )
    assert [step["state"] for step in made.steps] == ["failed"]
    assert "Traceback" not in caplog.text
    entry = AuditEntry.objects.get()
    assert (entry.before, entry.after, entry.aws_request_ids) == ({"version": 2}, {"version": 3}, ["REQ1"])


def test_work_that_somebody_else_was_faster_with_is_no_failure_and_keeps_what_it_changed() -> None:
    made = ran("test-overtaken")
    assert (made.state, made.message) == ("overtaken", "Stopped at call 2 of 3.")
    assert (made.error_code, made.error_text) == ("", "")
    assert made.result["overtaken"] == {"call": 2, "of": 3}
    assert [(event.level, event.text) for event in made.events.all()] == [("WARN", "Stopped at call 2 of 3.")]
    entry = AuditEntry.objects.get()
    assert (entry.outcome, entry.detail) == ("overtaken", "Overtaken: Stopped at call 2 of 3.")
    assert (entry.before, entry.after, entry.aws_request_ids) == ({"version": 2}, {"version": 3}, ["REQ1"])


def test_a_kind_of_another_release_fails_in_one_sentence() -> None:
    made = ran("test-from-the-future")
    assert made.state == "failed"
    assert "'test-from-the-future'" in made.error_text


def test_a_job_that_another_has_claimed_is_left_alone() -> None:
    made = job("running", kind="test-count")
    assert not execute(made.pk, "w2")
    made.refresh_from_db()
    assert (made.worker, made.steps) == ("w1", [])


@job_kind("test-asked-to-stop")
def asked_to_stop(context: JobContext, params: NoParams) -> str:
    with context.step("First"):
        lifecycle.request_cancel(context.job.pk, "maya")
    context._asked_at = float("-inf")
    with context.step("Second"):
        raise AssertionError("the second step must not begin")


def test_a_running_job_stops_between_steps_when_it_is_asked_to() -> None:
    made = ran("test-asked-to-stop")
    assert (made.state, made.cancel_requested_by) == ("cancelled", "maya")
    assert [step["name"] for step in made.steps] == ["First"]


@job_kind("test-given-up")
def given_up(context: JobContext, params: NoParams) -> str:
    lifecycle.lose(context.job.pk, context.job.heartbeat_at.replace(year=2100), "Silent.")
    return "Done after all."


def test_a_job_that_was_given_up_stays_lost() -> None:
    assert ran("test-given-up").state == "lost"


@job_kind("test-interrupted")
def interrupted(context: JobContext, params: NoParams) -> str:
    raise KeyboardInterrupt


def test_an_interrupt_is_recorded_and_passed_on() -> None:
    made = job(kind="test-interrupted")
    with pytest.raises(KeyboardInterrupt):
        execute(made.pk, "w1")
    made.refresh_from_db()
    assert (made.state, made.message) == ("cancelled", "Interrupted: the process that ran it was stopped.")


def test_the_celery_task_raises_nothing(caplog: pytest.LogCaptureFixture) -> None:
    run_job("no uuid")
    run_job(str(job(kind="test-fail").pk))
    assert "could not be claimed" in caplog.text


def test_progress_is_written_at_most_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(context_module.time, "monotonic", lambda: clock[0])
    made = job("running")
    context = JobContext(made)
    seen = []
    for second, done in ((0.0, 1), (0.5, 2), (0.9, 3), (1.1, 4)):
        clock[0] = second
        context.progress(done, 10)
        made.refresh_from_db()
        seen.append(made.done)
    assert seen == [1, 1, 1, 4]


def test_a_process_that_is_to_end_stops_its_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    ending = threading.Event()
    ending.set()
    monkeypatch.setattr(context_module, "process_is_ending", ending)
    made = ran("test-count")
    assert (made.state, made.message) == ("cancelled", "Interrupted: the process that ran it was stopped.")


def test_the_question_whether_to_stop_is_asked_once_a_second(django_assert_num_queries: Any) -> None:
    context = JobContext(job("running"))
    with django_assert_num_queries(1):
        for _ in range(20):
            context.check_cancelled()


def test_the_heart_beats_during_a_long_step_and_stops_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    beats: list[object] = []
    twice = threading.Event()

    def beat(job_id: object) -> bool:
        beats.append(job_id)
        if len(beats) == 2:
            twice.set()
        return True

    monkeypatch.setattr(execution.lifecycle, "heartbeat", beat)
    monkeypatch.setattr(execution, "HEARTBEAT_SECONDS", 0.01)
    made = job("running")
    with heartbeat(made.pk):
        assert twice.wait(5)
    assert not any(thread.name == f"heartbeat-{made.pk}" for thread in threading.enumerate())
    assert set(beats) == {made.pk}
