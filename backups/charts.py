"""Thirty days of runs in a row, drawn by templates as SVG."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from backups.cron import Schedule
from backups.models import RunState

DAYS = 30
_WORDS = {
    "complete": "copied",
    "complete_with_gaps": "copied with gaps",
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


class Drawn(NamedTuple):
    """What a drawing needs of a run."""

    pk: UUID
    plan_id: int
    state: str
    due_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Cell:
    """One day: `kind` is the state of `run`, its worst, or "missed" or "none"."""

    kind: str
    title: str
    run: Drawn | None = None
    label: str = ""


LEGEND = tuple(Cell(kind, words.capitalize()) for kind, words in _WORDS.items())


@dataclass(frozen=True, slots=True)
class Strip:
    """Thirty days of runs, the oldest first, and the same in a sentence."""

    cells: tuple[Cell, ...]
    summary: str


def strip(runs: Iterable[Drawn], schedule: Schedule | None, name: str, now: datetime) -> Strip:
    """Thirty days to `now`. A day on which a run was due after the first of `runs` and none came is drawn as missed."""
    first = now.date() - timedelta(days=DAYS - 1)
    by_day: defaultdict[date, list[Drawn]] = defaultdict(list)
    since = now
    for run in runs:
        by_day[(run.due_at or run.created_at).date()].append(run)
        since = min(since, run.created_at)
    since = max(since, datetime.combine(first, datetime.min.time(), now.tzinfo))
    due = {moment.date() for moment in schedule.between(since, now)} - {now.date()} if schedule else set()
    days = [first + timedelta(days=place) for place in range(DAYS)]
    cells = tuple(_cell(place, day, by_day.get(day, []), day in due) for place, day in enumerate(days))
    return Strip(cells, _summary(name, cells, [run for day in days for run in by_day.get(day, [])]))


def _cell(place: int, day: date, runs: Sequence[Drawn], is_due: bool) -> Cell:
    label = f"{day.day} {day:%b}" if place % 7 == 4 else ""
    said = f"{day:%a} {day.day} {day:%b}"
    if not runs:
        kind = "missed" if is_due else "none"
        return Cell(kind, f"{said}: {_WORDS[kind]}", None, label)
    worst = min(runs, key=_badness)
    told = _WORDS.get(worst.state, worst.state)
    if len(runs) > 1:
        told = f"{sum(run.state in _FINE for run in runs)} of {len(runs)} runs copied"
    return Cell(worst.state, f"{said}: {told}", worst, label)


def _badness(run: Drawn) -> int:
    return _WORST_FIRST.index(run.state) if run.state in _WORST_FIRST else len(_WORST_FIRST)


def _summary(name: str, cells: Sequence[Cell], runs: Sequence[Drawn]) -> str:
    counts = Counter(run.state for run in runs) + Counter(cell.kind for cell in cells if cell.kind == "missed")
    words = {**_WORDS, "complete_with_gaps": "with gaps", "missed": "without a run", "waiting_for_approval": "waiting"}
    said = [f"{counts[state]} {words[state]}" for state in (*reversed(_WORST_FIRST), "missed") if counts[state]]
    return f"{name}, {DAYS} days: {', '.join(said) or 'no run'}"
