"""Cron lines of five fields, in UTC: when a plan runs next, and when it should have run. Pure.

The meaning is that of Debian's cron, as the package cronsim has it: steps, names, Sunday as 0 or 7, and where both the
day of the month and the day of the week are restricted, either of them is enough. UTC has no summer time, so that a
line comes once wherever who wrote it lives. cronsim's own L and # are taken besides.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise, takewhile

from cronsim import CronSim, CronSimError

_NICKNAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
}
# A range of one value, which its step leaves alone: cronsim takes 9-9/4 as it takes 9/4.
_ONE = re.compile(r"\b(\w+)-\1/0*[1-9][0-9]*(?![0-9])", re.ASCII)
_NEW_YEAR = datetime(2001, 1, 1, tzinfo=UTC)
_FIELDS = ("minute", "hour", "day", "month", "weekday")


class ScheduleError(ValueError):
    """A line that is no schedule; the message is one sentence that names the field."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """When something is due, by the five fields of its line."""

    line: str

    def next_after(self, moment: datetime) -> datetime:
        """The first due minute after a moment, in UTC."""
        return next(CronSim(self.line, moment.astimezone(UTC)))

    def longest_wait(self) -> timedelta:
        """The longest time between two that follow each other, of the first 1,000 in two years; a year for fewer than
        two."""
        year = timedelta(days=365)
        due = takewhile(lambda moment: moment <= _NEW_YEAR + 2 * year, CronSim(self.line, _NEW_YEAR))
        return max((later - sooner for sooner, later in pairwise(islice(due, 1_000))), default=year)


def parse_schedule(text: str) -> Schedule:
    """Read a cron line or one of @hourly, @daily, @weekly, @monthly. Raises ScheduleError."""
    schedule = Schedule(_ONE.sub(r"\1", _NICKNAMES.get(text.strip().lower(), text)))
    if len(schedule.line.split()) != len(_FIELDS):
        raise ScheduleError(f"{text!r} is not a cron line of five fields: {', '.join(_FIELDS)}.")
    try:
        schedule.next_after(datetime(2000, 1, 1, tzinfo=UTC))
    except CronSimError as error:
        raise ScheduleError(f"{text.strip()!r} is not a cron line that comes: {str(error).lower()}.") from error
    return schedule
