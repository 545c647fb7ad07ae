"""Cron lines: when they come next, and which are refused. What a field may say is cronsim's own affair."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from backups.cron import ScheduleError, parse_schedule

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)  # a Friday


@pytest.mark.parametrize(
    ("line", "due"),
    [
        ("0 12 * * *", datetime(2026, 11, 21, 12, 0)),
        ("0 2 * * mon-fri", datetime(2026, 11, 23, 2, 0)),
        ("9-9/4 13 * * *", datetime(2026, 11, 20, 13, 9)),
        ("@monthly", datetime(2026, 12, 1, 0, 0)),
    ],
)
def test_a_line_comes_next_when_it_says(line, due):
    assert parse_schedule(line).next_after(NOON) == due.replace(tzinfo=UTC)


def test_a_line_is_in_utc_and_comes_as_often_when_clocks_are_changed():
    """Berlin's clocks change on 29 March 2026."""
    schedule, due = parse_schedule("30 0-3 * * *"), [datetime(2026, 3, 28, tzinfo=ZoneInfo("Europe/Berlin"))]
    for _ in range(12):
        due.append(schedule.next_after(due[-1]))
    assert [(moment.hour, moment.minute) for moment in due[1:]] == [(hour, 30) for hour in range(4)] * 3


@pytest.mark.parametrize(
    ("line", "hours"),
    [
        ("*/5 * * * *", 1 / 12),
        ("0 3 * * *", 24),
        ("0 9-17 * * mon-fri", 64),
        ("@weekly", 168),
        ("@monthly", 31 * 24),
        ("0 0 5 1,2 *", 334 * 24),
        ("0 0 29 2 *", 365 * 24),
    ],
)
def test_the_longest_time_between_two_runs_is_told(line, hours):
    assert parse_schedule(line).longest_wait() == timedelta(hours=hours)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("", "five fields"),
        ("0 0 0 3 * *", "five fields"),
        ("60 3 * * *", "bad minute"),
        ("0 3 * * xyz", "bad day-of-week"),
        ("0 0 30 2 *", "bad day-of-month"),
    ],
)
def test_what_is_no_schedule_says_why(line, word):
    with pytest.raises(ScheduleError, match=word):
        parse_schedule(line)
