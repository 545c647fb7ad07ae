"""Ages of tables on an axis, and spans of the last thirty days on another, as the status page draws them. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from math import log

from backups.queries.rows import age_text, at_most_text

DAYS = timedelta(days=30)
LEAST, MOST = timedelta(minutes=10), timedelta(days=10)
"""The ends of the axis of ages."""
AXIS, STEP = 640, 16
"""Pixels: how long that is, and how far two dots are apart at least."""
_TICKS = (timedelta(minutes=15), *(timedelta(hours=hours) for hours in (1, 3, 6, 12, 24, 48, 96, 192)))


@dataclass(frozen=True, slots=True)
class Dot:
    """So many tables that may be about as far behind, the last one `age`."""

    x: float
    count: int
    is_late: bool
    title: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of versions or of moments, in hundredths of its axis; `css` says what of it."""

    x: float
    width: float
    css: str
    title: str = ""


def place_of(age: timedelta) -> float:
    """Where an age is on its axis, which is logarithmic."""
    return round(AXIS * log(min(max(age, LEAST), MOST) / LEAST) / log(MOST / LEAST), 1)


TICKS = tuple((place_of(age), age_text(age)) for age in _TICKS)


def dots_of(tables: Iterable[tuple[timedelta, bool, int]]) -> list[Dot]:
    """Ages, whether they are past the objective, and how many tables are as old; what would overlap is one dot."""
    places: dict[tuple[int, bool], tuple[int, timedelta]] = {}
    for age, is_late, number in tables:
        at = (round(place_of(age) / STEP), is_late)
        count, oldest = places.get(at, (0, age))
        places[at] = (count + number, max(age, oldest))
    return [
        Dot(
            place_of(age),
            count,
            is_late,
            f"{count:,} table{'' if count == 1 else 's'} at most {at_most_text(age)} behind",
        )
        for (_, is_late), (count, age) in sorted(places.items())
    ]


def bars_of(stretches: Sequence[tuple[datetime, datetime, bool]], now: datetime) -> tuple[list[Bar], str]:
    """Spans to which all tables of a plan, or some, can be restored: drawn, and in words."""
    since = now - DAYS
    spans = [(max(start, since), end, of_all) for start, end, of_all in stretches if end > since]
    bars = [
        Bar(
            round(100 * (start - since) / DAYS, 2),
            round(max(100 * (end - start) / DAYS, 0.4), 2),
            "proven" if of_all else "part",
            f"{_day(start)} to {_day(end)}: {'every table' if of_all else 'some tables'}",
        )
        for start, end, of_all in spans
    ]
    whole = [(start, end) for start, end, of_all in spans if of_all]
    if not whole:
        return bars, f"Some tables, from {_day(spans[0][0])} on" if bars else "Not known"
    gaps = sum(end < start for (_, end), (start, _) in pairwise(whole))
    return bars, f"From {_day(whole[0][0])} on{', ' if gaps else ''}{['', '1 gap', f'{gaps} gaps'][min(gaps, 2)]}"


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%b %H:%M}"
