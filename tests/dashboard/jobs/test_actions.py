"""Submitting, running in the foreground and cancelling."""

from typing import Any

import pytest
from django.db import transaction
from kombu.exceptions import OperationalError

import dashboard.jobs.tasks as tasks
import tests.dashboard.jobs.kinds  # noqa: F401 - registers the kinds
from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import NotAllowed
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from dashboard.connections.models import Connection
from dashboard.jobs import actions, lifecycle
from dashboard.jobs.actions import JobBusy, Target, cancel, run_in_foreground, submit
from dashboard.jobs.models import Job
from tests.builders.people import actor
from tests.dashboard.jobs.builders import ago, job

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("constraints")]
COMMAND = Actor.command()
ORDERS = Target("table", "7", "s3a://lake/orders")


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The messages that left, as (job, queue)."""
    messages: list[tuple[str, str]] = []
    monkeypatch.setattr(tasks.run_job, "apply_async", lambda args, queue: messages.append((args[0], queue)))
    return messages


def outcomes() -> list[tuple[str, str, str]]:
    return list(AuditEntry.objects.order_by("id").values_list("action", "outcome", "source"))


def test_a_submitted_job_leaves_on_its_kinds_queue_at_commit(
    sent: list[tuple[str, str]], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        made = submit(COMMAND, "test-count", "Count", target=ORDERS, params={"to": 5}, reason="CHG-1")
        assert sent == []
    made.refresh_from_db()
    assert sent == [(str(made.pk), "aws")]
    assert (made.state, made.params, made.reason, made.target_label) == ("queued", {"to": 5}, "CHG-1", ORDERS.label)
    assert made.enqueued_at is not None


def test_two_submits_are_one_job(sent: list[tuple[str, str]], django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        first = submit(COMMAND, "test-count", "Count", target=ORDERS)
        second = submit(COMMAND, "test-count", "Count", target=ORDERS)
    assert first.pk == second.pk
    assert len(sent) == 1
    assert outcomes() == [("job.test-count", "requested", "command")]


def test_another_target_kind_or_connection_is_another_job() -> None:
    prod = Connection.objects.create(name="prod", region="eu-west-1")
    jobs = {
        submit(COMMAND, "test-count", "Count").pk,
        submit(COMMAND, "test-count", "Count", target=ORDERS).pk,
        submit(COMMAND, "test-count", "Count", target=ORDERS, connection=prod).pk,
        submit(COMMAND, "test-wait", "Wait", target=ORDERS).pk,
    }
    assert len(jobs) == 4


def test_one_key_is_one_job_even_after_its_end() -> None:
    first = submit(COMMAND, "test-count", "Count", idempotency_key="form-1")
    lifecycle.request_cancel(first.pk, "maya")
    assert submit(COMMAND, "test-count", "Count", idempotency_key="form-1").pk == first.pk


def test_the_database_itself_refuses_a_second_active_job(monkeypatch: pytest.MonkeyPatch) -> None:
    first = submit(COMMAND, "test-count", "Count")
    looks = iter([None, first])
    monkeypatch.setattr(actions, "_standing", lambda draft: next(looks))
    assert submit(COMMAND, "test-count", "Count").pk == first.pk
    assert Job.objects.count() == 1


def test_a_rolled_back_request_leaves_nothing(sent: list[tuple[str, str]]) -> None:
    with transaction.atomic():
        submit(COMMAND, "test-count", "Count")
        transaction.set_rollback(True)
    assert not Job.objects.exists()
    assert not AuditEntry.objects.exists()
    assert sent == []


def test_a_broker_that_is_down_leaves_the_job_queued(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OperationalError("Connection refused")

    monkeypatch.setattr(tasks.run_job, "apply_async", refuse)
    with django_capture_on_commit_callbacks(execute=True):
        made = submit(COMMAND, "test-count", "Count")
    made.refresh_from_db()
    assert made.state == "queued"


def test_a_viewer_may_not_submit_what_needs_an_operator() -> None:
    with pytest.raises(NotAllowed):
        submit(actor(Role.VIEWER), "test-observe", "Observe", target=ORDERS)
    assert not Job.objects.exists()
    assert AuditEntry.objects.get().target_label == ORDERS.label
    assert outcomes() == [("lake.observe", "refused", "page")]


def test_the_schedule_leaves_jobs_but_no_audit_rows() -> None:
    made = run_in_foreground(Actor.schedule(), "test-count", "Count")
    assert made.state == "succeeded"
    assert not AuditEntry.objects.exists()


def test_the_foreground_runs_the_same_row_to_its_end() -> None:
    made = run_in_foreground(COMMAND, "test-count", "Count", params={"to": 4})
    assert (made.state, made.message, made.result) == ("succeeded", "Counted to 4.", {"counted": 4})
    assert (made.done, made.total, made.attempt) == (4, 4, 1)
    assert outcomes() == [("job.test-count", "requested", "command"), ("job.test-count", "done", "worker")]


def test_the_foreground_waits_for_the_same_work_elsewhere_then_does_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    other = submit(COMMAND, "test-count", "Count")
    lifecycle.claim(other.pk, "elsewhere")
    monkeypatch.setattr(actions.time, "sleep", lambda _: lifecycle.finish(other.pk, "Done."))
    made = run_in_foreground(COMMAND, "test-count", "Count")
    assert made.pk != other.pk
    assert made.state == "succeeded"


def test_a_dead_worker_does_not_hold_its_target() -> None:
    dead = submit(COMMAND, "test-count", "Count")
    lifecycle.claim(dead.pk, "elsewhere")
    Job.objects.filter(pk=dead.pk).update(heartbeat_at=ago(seconds=91))
    made = run_in_foreground(COMMAND, "test-count", "Count", wait_seconds=0)
    dead.refresh_from_db()
    assert (dead.state, made.state) == ("lost", "succeeded")


def test_the_foreground_gives_up_after_the_time_it_was_given() -> None:
    lifecycle.claim(submit(COMMAND, "test-count", "Count").pk, "elsewhere")
    with pytest.raises(JobBusy, match="still running"):
        run_in_foreground(COMMAND, "test-count", "Count", wait_seconds=0)


def test_a_queued_job_is_cancelled_at_once() -> None:
    made = submit(COMMAND, "test-count", "Count")
    assert cancel(actor(Role.OPERATOR), made)
    assert (made.state, made.cancel_requested_by) == ("cancelled", "operator")
    assert ("job.cancel", "done", "page") in outcomes()
    assert not lifecycle.claim(made.pk, "w1")


def test_a_running_job_is_asked_once() -> None:
    made = job("running")
    assert [cancel(actor(), made), cancel(actor(), made)] == [True, False]
    assert made.state == "cancelling"
    assert AuditEntry.objects.filter(action="job.cancel").count() == 1
