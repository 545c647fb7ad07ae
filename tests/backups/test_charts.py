"""Thirty days of runs, and an age against its limit."""

from datetime import UTC, datetime, timedelta

import pytest

from backups.charts import CELL, DAYS, DayRun, gauge, strip
from backups.cron import parse_schedule

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
DAILY = parse_schedule("0 3 * * *")


def drawn(*runs: DayRun, schedule=DAILY, since=NOW - timedelta(days=60)):
    return strip(runs, NOW.date(), schedule, since, "plan", NOW)


def run(state: str, days: int, hours: int = 0) -> DayRun:
    return DayRun(state, NOW - timedelta(days=days, hours=hours), f"/{state}/{days}")


def test_a_day_on_which_a_run_was_due_and_none_came_is_missed_but_not_today_nor_before_the_plan():
    cells = drawn(run("complete", 1)).cells
    assert len(cells) == DAYS
    assert {cell.kind for cell in cells[:-2]} == {"missed"}
    assert [cell.kind for cell in cells[-2:]] == ["complete", "none"]
    late = drawn(since=NOW - timedelta(days=3)).cells
    assert [cell.kind for cell in late[-4:]] == ["none", "missed", "missed", "none"]
    assert {cell.kind for cell in drawn(schedule=None).cells} == {"none"}


def test_several_runs_of_a_day_are_lines_that_fill_the_cell_and_lead_to_the_worst():
    cell = drawn(run("complete", 2), run("failed", 2, 1), run("complete", 2, 2)).cells[-3]
    assert [line.css for line in cell.lines] == ["full", "lost", "full"]
    assert cell.lines[-1].y + cell.lines[-1].height == pytest.approx(CELL, abs=0.02)
    assert (cell.url, cell.title) == ("/failed/2", "Wed 18 Nov: 2 of 3 runs copied")


def test_the_newest_six_of_a_day_are_drawn():
    assert len(drawn(*(run("complete", 2, hour) for hour in range(9))).cells[-3].lines) == 6


def test_the_summary_counts_what_is_drawn():
    said = drawn(run("complete", 1), run("complete_with_gaps", 2), run("failed", 3), run("complete", 40)).summary
    assert said == "plan, 30 days: 1 copied, 1 with gaps, 1 failed, 26 without a run"


@pytest.mark.parametrize(("hours", "tone"), [(1, "ok"), (32, "warn"), (37, "crit"), (900, "crit")])
def test_a_gauge_warns_before_its_limit_and_never_leaves_its_track(hours, tone):
    found = gauge(timedelta(hours=hours), timedelta(hours=36))
    assert found.tone == tone
    assert 0 <= found.fill <= found.width
    assert (found.fill > found.limit) is (tone == "crit")


def test_without_a_copy_the_gauge_is_empty():
    found = gauge(None, timedelta(hours=36))
    assert (found.fill, found.tone) == (0, "idle")
