"""Thirty days of runs."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from backups.charts import DAYS, DayOfRuns, strip
from backups.cron import parse_schedule
from backups.models import Plan, Run
from backups.queries.cards import cards_of
from tests.backups.page_records import make_plan, make_run

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
DAILY = parse_schedule("0 3 * * *")
LONG_AGO = NOW - timedelta(days=60)


def drawn(*runs: DayOfRuns, schedule=DAILY, begun=LONG_AGO):
    return strip(runs, schedule, "plan", begun, NOW)


def day(state: str, days: int, number: int = 1, run: str = "run") -> DayOfRuns:
    return DayOfRuns((NOW - timedelta(days=days)).date(), state, number, run)


def test_a_day_on_which_a_run_was_due_and_none_came_is_missed_but_not_today_nor_before_the_first_run():
    cells = drawn(day("complete", 1)).cells
    assert len(cells) == DAYS
    assert {cell.kind for cell in cells[:-2]} == {"missed"}
    assert [cell.kind for cell in cells[-2:]] == ["complete", "none"]
    late = drawn(day("complete", 3), begun=NOW - timedelta(days=3)).cells
    assert [cell.kind for cell in late[-5:]] == ["none", "complete", "missed", "missed", "none"]
    assert {cell.kind for cell in drawn(schedule=None).cells} == {"none"}


def test_a_day_is_missed_only_where_a_run_was_due_after_the_first_one_and_by_the_schedule():
    weekly = parse_schedule("0 0 * * mon")
    assert [cell.title[:10] for cell in drawn(schedule=weekly).cells if cell.kind == "missed"] == [
        "Mon 26 Oct", "Mon 2 Nov:", "Mon 9 Nov:", "Mon 16 Nov"
    ]  # fmt: skip
    begun_later_that_day = datetime(2026, 11, 16, 0, 1, tzinfo=UTC)
    assert "missed" not in {cell.kind for cell in drawn(schedule=weekly, begun=begun_later_that_day).cells}


def test_several_runs_of_a_day_are_counted_and_lead_to_the_worst():
    cell = drawn(day("complete", 2, number=2), day("failed", 2, run="bad")).cells[-3]
    assert (cell.kind, cell.run, cell.title) == ("failed", "bad", "Wed 18 Nov: 2 of 3 runs copied")


@pytest.mark.django_db
@pytest.mark.postgres("queries")
def test_a_card_draws_its_runs_on_the_day_they_were_due_and_links_the_worst():
    plan, now = make_plan(), timezone.now()
    made = [make_run(plan, state, age=timedelta(days=2)) for state in ("complete", "complete", "failed")]
    Run.objects.filter(pk=made[2].pk).update(due_at=now - timedelta(days=3))
    make_run(make_plan("another"), "failed", age=timedelta(days=90))  # nothing tells that it was scheduled since
    another, drawn = (card.strip for card in cards_of(Plan.objects.order_by("name"), now))

    assert {cell.kind for cell in another.cells} == {"none"}
    assert [cell.kind for cell in drawn.cells[-4:-2]] == ["failed", "complete"]
    assert drawn.cells[-4].run == str(made[2].pk)
    assert drawn.cells[-3].run in {str(made[0].pk), str(made[1].pk)}
    assert drawn.cells[-3].title.endswith("2 of 2 runs copied")
    assert f'/{made[2].pk}/"' in drawn.drawn
