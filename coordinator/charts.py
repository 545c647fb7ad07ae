"""The charts of a table: where each thing of them stands, drawn by templates as SVG.

Units are CSS pixels. Colours and strokes come from classes of the stylesheet.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from coordinator.versions import VersionRow, VersionState

NEWEST_VERSIONS = 41
LANE_WIDTH = 82
COLUMN = 16
MARGIN = 24
MOMENT = 80
"""Width of a moment under the columns."""
DIGIT = 6.4  # width of a tabular figure at 11 px, rounded up

_TONES = {
    VersionState.FOREIGN_WRITER: "warn",
    VersionState.MISSING: "crit",
    VersionState.PENDING: "held",
    VersionState.UNBACKFILLED: "held",
}
_FILES = {
    VersionState.FOREIGN_WRITER: "alien",
    VersionState.MISSING: "gone",
    VersionState.PENDING: "soft",
    VersionState.UNBACKFILLED: "soft",
}


@dataclass(frozen=True, slots=True)
class VersionColumn:
    """One version with the classes of its file above and its entry below; `label` names it where there is room."""

    row: VersionRow
    x: int
    label: str = ""

    @property
    def middle(self) -> int:
        return self.x + COLUMN // 2

    @property
    def tone(self) -> str:
        return _TONES.get(self.row.state, "")

    @property
    def file(self) -> str:
        return _FILES.get(self.row.state, "")

    @property
    def entry(self) -> str:
        if self.row.state == VersionState.FOREIGN_WRITER:
            return "alien"
        waits = self.row.state in (VersionState.PENDING, VersionState.UNBACKFILLED)
        if waits or (self.row.entry and self.row.entry.complete is False):
            return "held"
        return "" if self.row.entry else "soft"


@dataclass(frozen=True, slots=True)
class Tick:
    """A moment under the columns; its text stands to the right of its mark."""

    x: float
    text: str


@dataclass(frozen=True, slots=True)
class LegendPart:
    """One count of the legend; `opens` names the list behind it: commits, entries or findings."""

    state: VersionState
    word: str
    count: int
    opens: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """The newest versions in two lanes; `water` is where publishing has come to, None when nothing waits."""

    width: float
    columns: tuple[VersionColumn, ...]
    ticks: tuple[Tick, ...]
    water: int | None
    legend: tuple[LegendPart, ...]
    summary: str
    has_entries: bool


@dataclass(frozen=True, slots=True)
class Bar:
    """One hour of a sparkline."""

    x: int
    y: int
    height: int
    css: str = ""


@dataclass(frozen=True, slots=True)
class Sparkline:
    """Commits per hour over a day, oldest first."""

    bars: tuple[Bar, ...]
    total: int

    @property
    def label(self) -> str:
        return f"{self.total:,} {'commit' if self.total == 1 else 'commits'} in 24 hours"


def timeline(rows: Sequence[VersionRow], *, published: int | None, has_store: bool) -> Timeline | None:
    """The chart of `rows`, oldest first, at most the newest 41; None where there is nothing to draw."""
    rows = rows[-NEWEST_VERSIONS:]
    if not rows:
        return None
    named = _named(rows)
    ticks = _ticks(rows)
    return Timeline(
        width=max([LANE_WIDTH + COLUMN * len(rows) + MARGIN, *(tick.x + MOMENT for tick in ticks)]),
        columns=tuple(
            VersionColumn(row, LANE_WIDTH + COLUMN * place, f"{row.version:,}" if place in named else "")
            for place, row in enumerate(rows)
        ),
        ticks=ticks,
        water=_water(rows, published),
        legend=_legend(rows, has_store),
        summary=_summary(rows, published),
        has_entries=has_store,
    )


def _water(rows: Sequence[VersionRow], published: int | None) -> int | None:
    """The left edge of the first version that is not published, where every later one waits too."""
    if published is None or rows[-1].file_present or rows[-1].version <= published:
        return None
    behind = sum(1 for row in rows if row.version <= published)
    return LANE_WIDTH + COLUMN * behind


def _named(rows: Sequence[VersionRow]) -> list[int]:
    """Places of the versions that need a look, the newest first, then of every tenth, as far as there is room."""
    troubled = [place for place, row in enumerate(rows) if row.state in _TONES]
    tenths = [place for place, row in enumerate(rows) if row.version % 10 == 0]
    named: list[int] = []
    for place in (*reversed(troubled), *tenths):
        needed = DIGIT * len(f"{rows[place].version:,}") + 4
        if all(abs(place - other) * COLUMN >= needed for other in named):
            named.append(place)
    return named


def _ticks(rows: Sequence[VersionRow]) -> tuple[Tick, ...]:
    """A moment every nine columns; the day is named where it changes."""
    ticks: list[Tick] = []
    day = None
    for place in range(0, max(len(rows) - 5, 1), 9):
        at = rows[place].at
        if at is None:
            continue
        text = f"{at:%H:%M}" if at.date() == day else f"{at.day} {at:%b %H:%M}"
        day = at.date()
        ticks.append(Tick(LANE_WIDTH + COLUMN * place + 6.5, text))
    return tuple(ticks)


def _legend(rows: Sequence[VersionRow], has_store: bool) -> tuple[LegendPart, ...]:
    """Counts of the columns drawn. Kinds that a table without a store cannot have are left out."""
    counts = Counter(row.state for row in rows)
    counts[VersionState.PUBLISHED] += counts[VersionState.ENTRY_EXPIRED]
    kinds = [
        (VersionState.PUBLISHED, "Published", "commits"),
        (VersionState.ENTRY_EXPIRED, "of these, entry expired", "commits"),
        (VersionState.PENDING, "Pending", "entries"),
        (VersionState.UNBACKFILLED, "Unbackfilled", "entries"),
        (VersionState.FOREIGN_WRITER, "Foreign writer", "findings"),
        (VersionState.MISSING, "Missing", "findings"),
    ]
    shown = kinds if has_store else kinds[:2]
    return tuple(LegendPart(state, word, counts[state], opens) for state, word, opens in shown if counts[state])


def _summary(rows: Sequence[VersionRow], published: int | None) -> str:
    """The chart in words, for those who do not see it."""
    said = [f"Versions {rows[0].version:,} to {rows[-1].version:,}."]
    if published is not None:
        said.append(f"Published to {published:,}.")
    troubled = [row for row in rows if row.state in _TONES]
    said += [f"{row.version:,} is {row.meaning}." for row in troubled[:8]]
    if len(troubled) > 8:
        said.append(f"{len(troubled) - 8} more need a look.")
    return " ".join(said)


def sparkline(counts: Mapping[datetime, int], *, now: datetime, held_since: datetime | None = None) -> Sparkline:
    """Commits per hour for the 24 hours up to `now`; `counts` is keyed by the start of the hour, in UTC.

    `held_since` is when the oldest commit was accepted that is not published yet: its hour is drawn as held.
    """
    start = hour_of(now) - timedelta(hours=23)
    hours = [start + timedelta(hours=place) for place in range(24)]
    peak = max((counts.get(hour, 0) for hour in hours), default=0)
    held_hour = hour_of(held_since) if held_since else None
    bars = []
    for place, hour in enumerate(hours):
        count = counts.get(hour, 0)
        held = hour == held_hour
        height = max(11 if held else 3, round(17 * count / peak)) if count else (11 if held else 1)
        css = "held" if held else ("" if count else "base")
        bars.append(Bar(x=4 * place, y=20 - height, height=height, css=css))
    return Sparkline(bars=tuple(bars), total=sum(counts.get(hour, 0) for hour in hours))


def hour_of(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)
