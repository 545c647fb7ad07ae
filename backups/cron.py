"""Cron lines of five fields, in UTC: when a plan runs next, and when it should have run. Pure.

The meaning is that of Debian's cron, as the package cronsim has it: steps, names, Sunday as 0 or 7, and where both the
day of the month and the day of the week are restricted, either of them is enough. UTC has no summer time, so that a
line comes once wherever who wrote it lives.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from cronsim import CronSim, CronSimError

_NICKNAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
}
_NAMES = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat"
# What cronsim knows besides, such as L and #, is no part of Debian's cron.
_FIELD = re.compile(rf"(?:[0-9*,/-]|{_NAMES})+", re.ASCII)
# A range of one value, which its step leaves alone: cronsim takes 9-9/4 as it takes 9/4.
_ONE = re.compile(r"\b(\w+)-\1/0*[1-9][0-9]*(?![0-9])", re.ASCII)
_FIELDS = (("minute", 0, 59), ("hour", 0, 23), ("day", 1, 31), ("month", 1, 12), ("weekday", 0, 7))


class ScheduleError(ValueError):
    """A line that is no schedule; the message is one sentence that names the field."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """When something is due: `text` as it was written, and `line`, the five fields that it stands for."""

    text: str
    line: str

    def next_after(self, moment: datetime) -> datetime:
        """The first due minute after a moment, in UTC."""
        return next(CronSim(self.line, moment.astimezone(UTC)))

    def between(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """The due minutes after `start`, up to and with `end`."""
        for due in CronSim(self.line, start.astimezone(UTC)):
            if due > end:
                return
            yield due


def parse_schedule(text: str) -> Schedule:
    """Read a cron line or one of @hourly, @daily, @weekly, @monthly. Raises ScheduleError."""
    line = _ONE.sub(r"\1", _NICKNAMES.get(text.strip().lower(), text).lower())
    fields = line.split()
    if len(fields) != len(_FIELDS):
        raise ScheduleError(f"{text!r} is not a cron line of five fields: minute, hour, day, month, weekday.")
    for number, field in enumerate(fields):
        alone = " ".join(field if place == number else "*" for place in range(len(fields)))
        if not (_FIELD.fullmatch(field) and _comes(alone)):
            name, least, most = _FIELDS[number]
            raise ScheduleError(
                f"{field!r} is no {name} of a cron line: it goes from {least} to {most}, a range from its lower end to "
                "its upper one, and a step is 1 or more."
            )
    if not _comes(line):
        raise ScheduleError(f"{text.strip()!r} never comes: no month has such a day.")
    return Schedule(text.strip(), line)


def _comes(line: str) -> bool:
    try:
        return any(CronSim(line, datetime(2000, 1, 1, tzinfo=UTC)))
    except CronSimError:
        return False
