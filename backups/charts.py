"""Geometry of the charts of backups: thirty days of runs, and an age against its limit. Drawn by templates as SVG.

Units are CSS pixels. Colours and strokes come from classes of the stylesheet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from backups.cron import Schedule

DAYS = 30
STEP, CELL = 25, 21
MOST_LINES, GAP = 6, 1.5
GAUGE_WIDTH, LIMIT_AT = 272, 0.8335
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
# The worst of a day stands for the day where runs differ too much to be drawn as lines.
_WORST_FIRST = ("failed", "waiting_for_approval", "complete_with_gaps", "running", "cancelled", "complete")
_FINE = frozenset({"complete", "complete_with_gaps"})


@dataclass(frozen=True, slots=True)
class DayRun:
    """One run as the strip needs it: its state, when it was due or asked for, and its address."""

    state: str
    at: datetime
    url: str


@dataclass(frozen=True, slots=True)
class RunLine:
    """One of several runs of a day, drawn as a line of the cell."""

    y: float
    height: float
    css: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One day: `kind` is a state or "missed" or "none"; `lines` are set where several runs share the day."""

    x: int
    kind: str
    title: str
    url: str
    lines: tuple[RunLine, ...] = ()
    label: str = ""
    is_today: bool = False


LEGEND = tuple(Cell(0, kind, words.capitalize(), "") for kind, words in _WORDS.items())


@dataclass(frozen=True, slots=True)
class Strip:
    """Thirty days of runs, the oldest first, and the same in a sentence."""

    width: int
    cells: tuple[Cell, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class Gauge:
    """An age against its limit: `fill` is how far the bar goes, `limit` where the limit stands."""

    width: int
    fill: int
    limit: int
    tone: str


def strip(
    runs: Sequence[DayRun], today: date, schedule: Schedule | None, since: datetime, name: str, now: datetime
) -> Strip:
    """Thirty days to `today`. A day on which a run was due after `since` and none came is drawn as missed."""
    by_day: dict[date, list[DayRun]] = {}
    for run in runs:
        by_day.setdefault(run.at.date(), []).append(run)
    first = today - timedelta(days=DAYS - 1)
    due = _due_days(schedule, max(since, datetime.combine(first, datetime.min.time(), since.tzinfo)), now)
    cells = tuple(_cell(place, first + timedelta(days=place), by_day, due, today) for place in range(DAYS))
    return Strip(DAYS * STEP, cells, _summary(name, cells, by_day, first))


def gauge(age: timedelta | None, objective: timedelta) -> Gauge:
    """The limit stands at five sixths, so that an age beyond it can still be seen to grow."""
    limit = round(GAUGE_WIDTH * LIMIT_AT)
    if age is None:
        return Gauge(GAUGE_WIDTH, 0, limit, "idle")
    share = age / objective
    tone = "crit" if share > 1 else "warn" if share > 0.85 else "ok"
    return Gauge(GAUGE_WIDTH, min(round(limit * share), GAUGE_WIDTH), limit, tone)


def _due_days(schedule: Schedule | None, since: datetime, now: datetime) -> set[date]:
    return {due.date() for due in schedule.between(since, now)} if schedule else set()


def _cell(place: int, day: date, by_day: Mapping[date, list[DayRun]], due: set[date], today: date) -> Cell:
    runs = by_day.get(day, [])
    label = f"{day.day} {day:%b}" if place % 7 == 4 else ""
    x, is_today = place * STEP, day == today
    if not runs:
        kind = "missed" if day in due and not is_today else "none"
        return Cell(x, kind, f"{_said(day)}: {_WORDS[kind]}", "", (), label, is_today)
    kind = min((run.state for run in runs), key=_badness)
    url = next(run.url for run in runs if run.state == kind)
    if len(runs) == 1:
        return Cell(x, kind, f"{_said(day)}: {_WORDS.get(kind, kind)}", url, (), label, is_today)
    fine = sum(run.state in _FINE for run in runs)
    title = f"{_said(day)}: {fine} of {len(runs)} runs copied"
    return Cell(x, kind, title, url, _lines(runs), label, is_today)


def _lines(runs: Sequence[DayRun]) -> tuple[RunLine, ...]:
    """The newest six, evenly over the height of a cell."""
    shown = sorted(runs, key=lambda run: run.at)[-MOST_LINES:]
    pitch = (CELL + GAP) / len(shown)
    height = round(pitch - GAP, 2)
    return tuple(RunLine(round(place * pitch, 2), height, _css(run.state)) for place, run in enumerate(shown))


def _css(state: str) -> str:
    if state == "complete":
        return "full"
    if state in {"complete_with_gaps", "waiting_for_approval"}:
        return "notch"
    return {"failed": "lost", "running": "dot"}.get(state, "none")


def _badness(state: str) -> int:
    return _WORST_FIRST.index(state) if state in _WORST_FIRST else len(_WORST_FIRST)


def _summary(name: str, cells: Sequence[Cell], by_day: Mapping[date, list[DayRun]], first: date) -> str:
    counts: dict[str, int] = {}
    for runs in (runs for day, runs in by_day.items() if day >= first):
        for run in runs:
            counts[run.state] = counts.get(run.state, 0) + 1
    if missed := sum(cell.kind == "missed" for cell in cells):
        counts["missed"] = missed
    words = {**_WORDS, "complete_with_gaps": "with gaps", "missed": "without a run", "waiting_for_approval": "waiting"}
    said = [f"{counts[state]} {words[state]}" for state in (*reversed(_WORST_FIRST), "missed") if counts.get(state)]
    return f"{name}, {DAYS} days: {', '.join(said) or 'no run'}"


def _said(day: date) -> str:
    return f"{day:%a} {day.day} {day:%b}"
