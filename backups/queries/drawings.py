"""Ages of tables on an axis, and spans of the last thirty days on another, as the status page draws them. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from math import log

from backups.queries.rows import age_text, at_most_text
from lake.points.moments import WINDOW

LEAST, MOST = timedelta(minutes=10), timedelta(days=10)
"""The ends of the axis of ages."""
AXIS, STEP = 640, 16
"""Pixels: how long that is, and how far two dots are apart at least."""
_LEAST = 0.4
"""Hundredths of an axis that can be seen."""
_TICKS = (timedelta(minutes=15), *(timedelta(hours=hours) for hours in (1, 3, 6, 12, 24, 48, 96, 192)))


@dataclass(frozen=True, slots=True)
class Dot:
    """So many tables that may be about as far behind."""

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
    """Ages, whether they are past the objective, and how many tables are as old; what would overlap is one dot, late
    where any of it is."""
    places: dict[int, tuple[int, timedelta, bool]] = {}
    for age, is_late, number in tables:
        place = round(place_of(age) / STEP)
        count, oldest, any_late = places.get(place, (0, age, False))
        places[place] = (count + number, max(age, oldest), any_late or is_late)
    return [
        Dot(
            place * STEP,
            count,
            is_late,
            f"{count:,} table{'' if count == 1 else 's'} at most {at_most_text(age)} behind",
        )
        for place, (count, age, is_late) in sorted(places.items())
    ]


def bars_of(stretches: Sequence[tuple[datetime, datetime, bool]], now: datetime) -> tuple[list[Bar], str]:
    """Spans to which all tables of a plan, or some, can be restored: drawn, and in words."""
    since = now - WINDOW
    spans = [(max(start, since), end, of_all) for start, end, of_all in stretches if end > since]
    bars = [
        Bar(
            round(min(100 * (start - since) / WINDOW, 100 - _LEAST), 2),
            round(max(100 * (end - start) / WINDOW, _LEAST), 2),
            "proven" if of_all else "part",
            f"{_day(start)} to {_day(end)}: {'every table' if of_all else 'some tables'}",
        )
        for start, end, of_all in spans
    ]
    return bars, _in_words(spans)


def _in_words(spans: Sequence[tuple[datetime, datetime, bool]]) -> str:
    whole = [(start, end) for start, end, of_all in spans if of_all]
    if not whole:
        return f"Some tables, {_day(spans[0][0])} to {_day(spans[-1][1])}" if spans else "None"
    said = f"{_day(whole[0][0])} to {_day(whole[-1][1])}"
    gaps = [(end, start) for (_, end), (start, _) in pairwise(whole) if end < start]
    if gaps:
        said += f", but not {_day(gaps[-1][0])} to {_day(gaps[-1][1])}"
    more = len(gaps) - 1
    return f"{said}, and {more} gap{'' if more == 1 else 's'} more" if more > 0 else said


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%b %H:%M}"
