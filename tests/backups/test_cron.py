"""Cron lines: what they allow, when they come next, and which are refused."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from backups.cron import ScheduleError, parse_schedule

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)  # a Friday


@pytest.mark.parametrize(
    ("line", "due"),
    [
        ("0 3 * * *", datetime(2026, 11, 21, 3, 0)),
        ("*/15 * * * *", datetime(2026, 11, 20, 12, 15)),
        ("0 */4 * * *", datetime(2026, 11, 20, 16, 0)),
        ("30 6 * * 0", datetime(2026, 11, 22, 6, 30)),
        ("30 6 * * 7", datetime(2026, 11, 22, 6, 30)),
        ("0 2 * * mon-fri", datetime(2026, 11, 23, 2, 0)),
        ("0 0 1 * *", datetime(2026, 12, 1, 0, 0)),
        ("0 0 31 * *", datetime(2026, 12, 31, 0, 0)),
        ("0 0 29 feb *", datetime(2028, 2, 29, 0, 0)),
        ("0 0 13 * fri", datetime(2026, 11, 27, 0, 0)),
        ("5,35 12 * * *", datetime(2026, 11, 20, 12, 5)),
        ("0 5-20/5 * * *", datetime(2026, 11, 20, 15, 0)),
        ("0 5/6 * * *", datetime(2026, 11, 20, 17, 0)),
        ("0 9-9/4 * * *", datetime(2026, 11, 21, 9, 0)),
        ("@monthly", datetime(2026, 12, 1, 0, 0)),
        ("@hourly", datetime(2026, 11, 20, 13, 0)),
    ],
)
def test_a_line_comes_next_when_it_says(line, due):
    assert parse_schedule(line).next_after(NOON) == due.replace(tzinfo=UTC)


def test_the_minute_itself_is_over():
    assert parse_schedule("0 12 * * *").next_after(NOON) == NOON + timedelta(days=1)


def test_a_moment_of_another_zone_is_taken_as_utc():
    zone = timezone(timedelta(hours=5))
    assert parse_schedule("0 3 * * *").next_after(datetime(2026, 11, 21, 7, 30, tzinfo=zone)) == datetime(
        2026, 11, 21, 3, 0, tzinfo=UTC
    )


def test_between_leaves_out_its_start_and_holds_its_end():
    found = list(parse_schedule("0 */6 * * *").between(NOON, NOON + timedelta(hours=12)))
    assert found == [NOON + timedelta(hours=6), NOON + timedelta(hours=12)]


def test_a_star_with_a_step_does_not_widen_the_other_day():
    schedule = parse_schedule("0 0 */2 * mon")
    assert all(due.isoweekday() == 1 and due.day % 2 for due in schedule.between(NOON, NOON + timedelta(days=60)))


@pytest.mark.parametrize(("line", "hours"), [("30 2 * * *", [2]), ("30 0-3 * * *", range(4))])
def test_a_line_is_in_utc_and_comes_as_often_when_clocks_are_changed(line, hours):
    """Berlin's clocks change on 29 March 2026."""
    first = datetime(2026, 3, 28, tzinfo=ZoneInfo("Europe/Berlin"))
    due = list(parse_schedule(line).between(first, first + timedelta(days=3)))
    assert [(moment.hour, moment.minute) for moment in due] == [(hour, 30) for hour in hours] * 3


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("", "five fields"),
        ("0 3 * *", "five fields"),
        ("60 3 * * *", "minute"),
        ("0 24 * * *", "hour"),
        ("0 3 0 * *", "day"),
        ("0 3 * 13 *", "month"),
        ("0 3 * * 8", "weekday"),
        ("0 3 * * xyz", "weekday"),
        ("20-10 * * * *", "minute"),
        ("*/0 * * * *", "minute"),
        ("1,,2 * * * *", "minute"),
        ("٣ * * * *", "minute"),
        ("0 0 30 2 *", "never comes"),
        ("0 0 31 4,6,9,11 *", "never comes"),
        ("0 0 L * *", "'l' is no day"),
        ("0 0 * * 5#2/2", "weekday"),
        ("0 0 * * 5L/2", "weekday"),
        ("0 0 0 3 * *", "five fields"),
        ("3-3/0 * * * *", "minute"),
    ],
)
def test_what_is_no_schedule_says_why(line, word):
    with pytest.raises(ScheduleError, match=word):
        parse_schedule(line)
