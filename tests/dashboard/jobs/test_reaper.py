"""Lost messages and dead workers."""

from typing import Any

import pytest
from django.utils import timezone

import dashboard.jobs.tasks as tasks
from dashboard.audit.models import AuditEntry
from dashboard.jobs import reaper
from dashboard.jobs.models import Job
from tests.dashboard.jobs.builders import ago, job

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("locks")]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    messages: list[str] = []
    monkeypatch.setattr(tasks.run_job, "apply_async", lambda args, queue: messages.append(args[0]))
    return messages


def state(made: Job) -> str:
    made.refresh_from_db()
    return made.state


@pytest.mark.parametrize(
    "fields", [{"enqueued_at": ago(seconds=121)}, {"enqueued_at": None, "created_at": ago(seconds=121)}]
)
def test_a_job_unclaimed_for_two_minutes_is_delivered_again(sent: list[str], fields: dict[str, Any]) -> None:
    made = job(**fields)
    reaper.reap()
    assert sent == [str(made.pk)]
    assert state(made) == "queued"


def test_it_is_not_delivered_again_at_every_round(sent: list[str]) -> None:
    job(enqueued_at=ago(seconds=121))
    reaper.reap()
    reaper.reap()
    assert len(sent) == 1


def test_a_young_message_is_left_alone(sent: list[str]) -> None:
    job(enqueued_at=ago(seconds=100))
    job(enqueued_at=None)
    reaper.reap()
    assert sent == []


@pytest.mark.usefixtures("sent")
def test_a_worker_silent_for_ninety_seconds_has_lost_its_job() -> None:
    made = job("running", heartbeat_at=ago(seconds=91), worker="aws@host/12")
    reaper.reap()
    assert state(made) == "lost"
    assert "aws@host/12 stopped answering" in made.message
    assert made.events.get().level == "ERROR"
    assert AuditEntry.objects.get().outcome == "failed"


@pytest.mark.usefixtures("sent")
def test_the_schedules_old_successes_are_removed_and_nothing_else() -> None:
    old = {"created_at": ago(days=8)}
    job("succeeded", requested_by_name="schedule", **old)
    kept = {
        job("failed", requested_by_name="schedule", **old).pk,
        job("succeeded", requested_by_name="maya", **old).pk,
        job("succeeded", requested_by_name="schedule", created_at=ago(days=6)).pk,
    }
    assert reaper.prune_scheduled(timezone.now()) == 1
    assert set(Job.objects.values_list("pk", flat=True)) == kept
