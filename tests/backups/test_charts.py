"""Thirty days of runs."""

from datetime import UTC, datetime, timedelta

from backups.charts import DAYS, strip
from backups.cron import parse_schedule
from backups.models import Run

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
DAILY = parse_schedule("0 3 * * *")
LONG_AGO = Run(state="complete", created_at=NOW - timedelta(days=60))


def drawn(*runs: Run, schedule=DAILY, first=LONG_AGO):
    return strip([first, *runs], schedule, "plan", NOW)


def run(state: str, days: int, hours: int = 0) -> Run:
    return Run(state=state, created_at=NOW - timedelta(days=days, hours=hours))


def test_a_day_on_which_a_run_was_due_and_none_came_is_missed_but_not_today_nor_before_the_first_run():
    cells = drawn(run("complete", 1)).cells
    assert len(cells) == DAYS
    assert {cell.kind for cell in cells[:-2]} == {"missed"}
    assert [cell.kind for cell in cells[-2:]] == ["complete", "none"]
    late = drawn(first=run("complete", 3)).cells
    assert [cell.kind for cell in late[-5:]] == ["none", "complete", "missed", "missed", "none"]
    assert {cell.kind for cell in drawn(schedule=None).cells} == {"none"}


def test_several_runs_of_a_day_are_counted_and_lead_to_the_worst():
    worst = run("failed", 2, 1)
    cell = drawn(run("complete", 2), worst, run("complete", 2, 2)).cells[-3]
    assert (cell.kind, cell.run, cell.title) == ("failed", worst, "Wed 18 Nov: 2 of 3 runs copied")
