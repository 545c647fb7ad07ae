"""Cron lines of five fields, in UTC: when a plan runs next, and when it should have run. Pure.

The meaning is that of POSIX crontab, with steps, names and Sunday as 0 or 7 as in Vixie's cron: where both the day of
the month and the day of the week are given, either of them is enough.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

_NICKNAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART = re.compile(r"(\*|(?P<first>[a-z0-9]+)(?:-(?P<last>[a-z0-9]+))?)(?:/(?P<step>[0-9]+))?", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,4}", re.ASCII)
# 29 February on a given weekday comes every 28 years, every 40 across a century that skips a leap year.
_FARTHEST = timedelta(days=366 * 41)


class ScheduleError(ValueError):
    """A line that is no schedule; the message is one sentence that names the field."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """When something is due: `text` as it was written, and the values that each field allows."""

    text: str
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool
    """Both kinds of day are restricted: a date that matches one of them is enough."""

    def next_after(self, moment: datetime) -> datetime:
        """The first due minute after a moment, in UTC."""
        for due in self._from(moment):
            return due
        raise ScheduleError(f"{self.text!r} never comes: no month has such a day.")

    def between(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """The due minutes after `start`, up to and with `end`."""
        for due in self._from(start):
            if due > end:
                return
            yield due

    def _from(self, moment: datetime) -> Iterator[datetime]:
        after = moment.astimezone(UTC)
        day = after.date()
        while day - after.date() <= _FARTHEST:
            if self._is_due_on(day):
                yield from (due for due in self._times(day) if due > after)
            day += timedelta(days=1)

    def _times(self, day: date) -> Iterator[datetime]:
        for hour in self.hours:
            for minute in self.minutes:
                yield datetime.combine(day, time(hour, minute), UTC)

    def _is_due_on(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        by_date, by_weekday = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return by_date or by_weekday if self.either_day else by_date and by_weekday


def parse_schedule(text: str) -> Schedule:
    """Read a cron line or one of @hourly, @daily, @weekly, @monthly. Raises ScheduleError."""
    line = _NICKNAMES.get(text.strip().lower(), text)
    fields = line.lower().split()
    if len(fields) != 5:
        raise ScheduleError(f"{text!r} is not a cron line of five fields: minute, hour, day, month, weekday.")
    weekdays = {number % 7 for number in _field("weekday", fields[4], 0, 7, _DAYS)}
    schedule = Schedule(
        text=text.strip(),
        minutes=tuple(sorted(_field("minute", fields[0], 0, 59))),
        hours=tuple(sorted(_field("hour", fields[1], 0, 23))),
        days=frozenset(_field("day", fields[2], 1, 31)),
        months=frozenset(_field("month", fields[3], 1, 12, _MONTHS)),
        weekdays=frozenset(weekdays),
        # As in Vixie's cron a field that begins with a star restricts nothing by itself, */2 included.
        either_day=not fields[2].startswith("*") and not fields[4].startswith("*"),
    )
    schedule.next_after(datetime(2000, 1, 1, tzinfo=UTC))
    return schedule


def _field(name: str, text: str, least: int, most: int, names: tuple[str, ...] = ()) -> set[int]:
    found: set[int] = set()
    for part in text.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise ScheduleError(f"{part!r} is no {name} of a cron line.")
        first, last = least, most
        if match["first"]:
            first = _value(name, match["first"], least, most, names)
            open_end = most if match["step"] else first
            last = _value(name, match["last"], least, most, names) if match["last"] else open_end
        step = int(match["step"] or 1)
        if step < 1 or last < first:
            raise ScheduleError(f"{part!r} holds no {name}: its end lies before its start, or its step is 0.")
        found.update(range(first, last + 1, step))
    return found


def _value(name: str, text: str, least: int, most: int, names: tuple[str, ...]) -> int:
    if text in names:
        return names.index(text) + (1 if least == 1 else 0)
    if not _NUMBER.fullmatch(text) or not least <= int(text) <= most:
        raise ScheduleError(f"{text!r} is no {name}: it goes from {least} to {most}.")
    return int(text)
