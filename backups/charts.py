"""Thirty days of runs in a row, as SVG. The shape of a day is a template's; a page of 50 plans has 1,500 days."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cache
from html import escape
from typing import NamedTuple
from uuid import UUID

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from backups.cron import Schedule
from backups.models import RunState

DAYS = 30
_WORDS = {
    "complete": "complete",
    "complete_with_gaps": "complete with gaps",
    "failed": "failed",
    "missed": "no run, though one was due",
    "waiting_for_approval": "waiting for approval",
    "running": "running",
    "cancelled": "cancelled",
    "none": "no run planned",
}
# The worst run of a day stands for the day.
_WORST_FIRST = ("failed", "waiting_for_approval", "complete_with_gaps", "running", "cancelled", "complete")
_FINE = (RunState.COMPLETE, RunState.COMPLETE_WITH_GAPS)


class DayOfRuns(NamedTuple):
    """How many runs of a plan a day has in one state; `run` is one of them."""

    day: date
    state: str
    number: int
    run: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One day: `kind` is the state of `run`, its worst, or "missed" or "none"."""

    kind: str
    title: str
    run: str = ""
    label: str = ""


_NO_RUN = UUID(int=0)
LEGEND = tuple(Cell(kind, words.capitalize()) for kind, words in _WORDS.items())


@dataclass(frozen=True, slots=True)
class Strip:
    """Thirty days of runs, the oldest first, and the same in a sentence."""

    cells: tuple[Cell, ...]
    summary: str

    @property
    def drawn(self) -> SafeString:
        """The days side by side, 25 pixels each; each run is a link."""
        link = reverse("backup-run", args=[_NO_RUN])
        return mark_safe("".join(_drawn(place * 25, cell, link) for place, cell in enumerate(self.cells)))  # noqa: S308


def _drawn(x: int, cell: Cell, link: str) -> str:
    """HTML; a page of 50 plans has 1,500 of these, which format_html takes four times as long for."""
    title = escape(cell.title)
    drawn = f'<title>{title}</title><g transform="translate({x})">{_shape(cell.kind)}</g>'
    label = f'<text x="{x}" y="35">{escape(cell.label)}</text>' if cell.label else ""
    if not cell.run:
        return f"<g>{drawn}</g>{label}"
    address = escape(link.replace(str(_NO_RUN), cell.run))
    return f'<a href="{address}" tabindex="-1" aria-label="{title}">{drawn}</a>{label}'


@cache
def _shape(kind: str) -> SafeString:
    return render_to_string("backups/parts/strip_cell.html", {"kind": kind})


def strip(
    runs: Iterable[DayOfRuns], schedule: Schedule | None, name: str, begun: datetime | None, now: datetime
) -> Strip:
    """Thirty days to `now`. A day on which a run was due after `begun`, the first of `runs`, and none came is drawn as
    missed: before it the plan may have been paused, or had no schedule."""
    first = now.date() - timedelta(days=DAYS - 1)
    by_day: defaultdict[date, list[DayOfRuns]] = defaultdict(list)
    for one in runs:
        by_day[one.day].append(one)
    days = [first + timedelta(days=place) for place in range(DAYS)]
    since = begun or now
    cells = tuple(
        _cell(place, day, by_day[day]) if by_day[day] else _empty(place, day, _is_missed(schedule, since, day, now))
        for place, day in enumerate(days)
    )
    return Strip(cells, _summary(name, cells, [one for day in days for one in by_day[day]]))


def _is_missed(schedule: Schedule | None, since: datetime, day: date, now: datetime) -> bool:
    """Whether a run was due on a day before today, later than `since`."""
    begins = datetime.combine(day, time.min, now.tzinfo)
    if schedule is None or day >= now.date() or since >= begins + timedelta(days=1):
        return False
    return schedule.next_after(max(since, begins - timedelta(minutes=1))).date() == day


def _empty(place: int, day: date, is_missed: bool) -> Cell:
    kind = "missed" if is_missed else "none"
    return Cell(kind, f"{_named(day)}: {_WORDS[kind]}", label=_label(place, day))


def _cell(place: int, day: date, runs: Sequence[DayOfRuns]) -> Cell:
    worst, number = min(runs, key=_badness), sum(one.number for one in runs)
    told = _WORDS.get(worst.state, worst.state)
    if number > 1:
        told = f"{sum(one.number for one in runs if one.state in _FINE)} of {number} runs copied"
    return Cell(worst.state, f"{_named(day)}: {told}", worst.run, _label(place, day))


def _named(day: date) -> str:
    return f"{day:%a} {day.day} {day:%b}"


def _label(place: int, day: date) -> str:
    return f"{day.day} {day:%b}" if place % 7 == 4 else ""


def _badness(one: DayOfRuns) -> int:
    return _WORST_FIRST.index(one.state) if one.state in _WORST_FIRST else len(_WORST_FIRST)


def _summary(name: str, cells: Sequence[Cell], runs: Sequence[DayOfRuns]) -> str:
    counts = Counter(cell.kind for cell in cells if cell.kind == "missed")
    for one in runs:
        counts[one.state] += one.number
    words = {**_WORDS, "complete_with_gaps": "with gaps", "missed": "without a run", "waiting_for_approval": "waiting"}
    said = [f"{counts[state]} {words[state]}" for state in (*reversed(_WORST_FIRST), "missed") if counts[state]]
    return f"{name}, {DAYS} days: {', '.join(said) or 'no run'}"
