"""What alerts are told of backups."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backups.alerting import backup_problems
from backups.models import Run
from tests.backups.runs.world import make_plan, start

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]

PROVEN: dict[str, Any] = {"is_proof": True, "tables": {"points": {}}}
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def ran(state: str, **fields) -> Run:
    run = start(fields.pop("plan", None) or make_plan(schedule="0 3 * * *", inventory="s3a://manifests/daily/"))
    Run.objects.filter(pk=run.pk).update(state=state, **fields)
    return run


def kinds(now: datetime = NOW) -> dict[str, tuple[str, float]]:
    return {problem.kind: (problem.severity, problem.measure) for problem in backup_problems(now)}


def test_a_run_that_waits_for_its_inventory_is_told_by_its_hours():
    ran("waiting_for_inventory", due_at=NOW - timedelta(hours=13))
    assert kinds() == {"late-inventory": ("warning", 13)}


@pytest.mark.parametrize(
    ("state", "code", "severity", "link", "told"),
    [
        ("failed", "CopyJobRefused", "critical", "Check the permissions", "Check the plan's permissions"),
        ("failed", "AccessDenied", "critical", "Check the permissions", "Check the plan's permissions"),
        ("failed", "SourceIsDestination", "critical", "See the run", "Put right what ended the run"),
        ("complete_with_gaps", "", "warning", "See the run", "Look at which tables cannot be restored"),
    ],
)
def test_the_newest_run_that_failed_or_left_gaps_is_told_with_the_way_on(state, code, severity, link, told):
    plan = make_plan(schedule="0 3 * * *", notify=["owner@acme.example"])
    ran(state, plan=plan, error_code=code, created_at=NOW - timedelta(hours=1), finished_at=NOW, cut_off=NOW)

    [problem] = backup_problems(NOW)
    assert (problem.kind, problem.severity, problem.measure) == ("failed-backup", severity, 1)
    assert (problem.link, problem.next_step, problem.also_tell) == (link, problem.advice, ("owner@acme.example",))
    assert problem.advice.startswith(told)


def test_a_complete_run_ends_the_alert_of_the_one_before():
    run = ran("failed", finished_at=NOW)
    ran("complete", plan=run.plan, finished_at=NOW, cut_off=NOW)

    assert kinds() == {}


def test_a_backup_older_than_its_objective_is_told_by_the_hours_above_it():
    ran("complete", holds_until=NOW - timedelta(hours=40), finished_at=NOW, **PROVEN)

    assert kinds() == {"backup-age": ("critical", 4)}


def test_a_backup_of_which_a_table_is_not_proven_is_told_by_the_hours_since_that_is_so():
    ran("complete_with_gaps", finished_at=NOW, not_known_since=NOW - timedelta(hours=2), **PROVEN)

    assert kinds() == {"backup-age": ("critical", 2), "failed-backup": ("warning", 1)}


@pytest.mark.parametrize("more", [{"state": "failed"}, {"state": "complete", "copied": 1, "holds_until": NOW}])
def test_a_plan_that_never_had_a_proven_copy_is_as_late_as_its_first_run(more):
    ran(created_at=NOW - timedelta(hours=100), finished_at=NOW, cut_off=NOW, **more)

    assert kinds()["backup-age"] == ("critical", 64)


def test_a_plan_run_by_hand_has_no_age_to_keep():
    ran("complete", plan=make_plan(), cut_off=NOW - timedelta(days=90), finished_at=NOW)

    assert kinds() == {}
