"""The schedule of plans: due once, however many ticks look."""

from datetime import UTC, datetime, timedelta

import pytest

from backups.models import DueRun, Run
from backups.tasks import start_due
from dashboard.audit.models import AuditEntry
from tests.backups.runs.world import make_plan

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("locks")]

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
THREE = datetime(2026, 11, 21, 3, tzinfo=UTC)


def test_a_due_run_is_started_once_when_its_time_comes_and_the_next_time_is_kept():
    make_plan(schedule="0 3 * * *")
    assert start_due(NOON) == []
    assert DueRun.objects.get().next_at == THREE

    assert [run.due_at for run in start_due(THREE)] == [THREE]
    assert start_due(THREE) == []
    assert DueRun.objects.get().next_at == THREE + timedelta(days=1)


def test_a_week_of_missed_times_is_made_up_for_by_one_run():
    make_plan(schedule="0 3 * * *")
    start_due(NOON)

    assert len(start_due(THREE + timedelta(days=7))) == 1
    assert Run.objects.count() == 1


def test_a_plan_that_copies_where_another_does_is_not_started_and_the_audit_log_says_so():
    make_plan(schedule="0 3 * * *")
    make_plan(name="other", destination="s3a://vault/")
    start_due(NOON)

    assert start_due(THREE) == []
    assert "overlaps the destination of another plan" in AuditEntry.objects.get(outcome="refused").detail


def test_a_paused_plan_starts_nothing():
    plan = make_plan(schedule="0 3 * * *")
    start_due(NOON)
    plan.paused = True
    plan.save()

    assert start_due(THREE) == []


def test_a_changed_schedule_counts_from_now():
    plan = make_plan(schedule="0 3 * * *")
    start_due(NOON)
    plan.schedule = "0 5 * * *"
    plan.save()

    assert start_due(THREE) == []
    assert DueRun.objects.get().next_at == datetime(2026, 11, 21, 5, tzinfo=UTC)


def test_of_two_ticks_at_once_one_starts_the_run(monkeypatch):
    make_plan(schedule="0 3 * * *")
    start_due(NOON)
    other = DueRun.objects.get()
    # The other tick read the row as well, and moved it first.
    get_or_create = DueRun.objects.get_or_create

    def late(**values):
        found = get_or_create(**values)
        DueRun.objects.filter(pk=other.pk).update(next_at=THREE + timedelta(days=1))
        return found

    monkeypatch.setattr(DueRun.objects, "get_or_create", late)

    assert start_due(THREE) == []
