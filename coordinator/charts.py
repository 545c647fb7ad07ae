"""Geometry of the charts, computed on the server: coordinates as dataclasses, drawn by templates as SVG.

Units are CSS pixels. Colours and strokes come from classes of the stylesheet.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from coordinator.versions import UNPUBLISHED, VersionRow, VersionState

NEWEST_VERSIONS = 41
LANE_WIDTH = 82
COLUMN = 16
MARGIN = 24
DIGIT = 6.4  # width of a tabular figure at 11 px, rounded up

_TONES = {
    VersionState.FOREIGN_WRITER: "warn",
    VersionState.MISSING: "crit",
    VersionState.PENDING: "held",
    VersionState.UNBACKFILLED: "held",
}


@dataclass(frozen=True, slots=True)
class Shape:
    """A rectangle, or a path where `d` is set; `css` are its classes."""

    css: str
    x: float = 0
    y: float = 0
    width: float = 0
    height: float = 0
    d: str = ""


@dataclass(frozen=True, slots=True)
class VersionColumn:
    """One version: its file above, its entry below, and what the pointer reads."""

    version: int
    title: str
    x: int
    shapes: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Label:
    """A text under or over the columns; `tone` colours the ones that need a look."""

    x: float
    text: str
    anchor: str = "middle"
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Tick:
    """A moment under the columns; its text stands to the right of its mark."""

    x: float
    label_x: float
    text: str


@dataclass(frozen=True, slots=True)
class LegendPart:
    """One count of the legend; `opens` names the list behind it: commits, entries or findings."""

    state: VersionState
    text: str
    count: int
    opens: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """The newest versions in two lanes; `water` is where publishing has come to, None when nothing waits."""

    width: int
    columns: tuple[VersionColumn, ...]
    labels: tuple[Label, ...]
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
    columns = tuple(_column(row, LANE_WIDTH + COLUMN * place, has_store) for place, row in enumerate(rows))
    water = _water(rows, published)
    labels = _labels(rows, water, published)
    ticks = _ticks(rows)
    right = LANE_WIDTH + COLUMN * len(rows) + MARGIN
    return Timeline(
        width=ceil(max(right, *(_span(label)[1] for label in labels), *(tick.label_x + 76 for tick in ticks))),
        columns=columns,
        labels=labels,
        ticks=ticks,
        water=water,
        legend=_legend(rows, has_store),
        summary=_summary(rows, published),
        has_entries=has_store,
    )


def _column(row: VersionRow, x: int, has_store: bool) -> VersionColumn:
    shapes = _file_shapes(row, x)
    if has_store:
        shapes += _entry_shapes(row, x)
    return VersionColumn(version=row.version, title=f"Version {row.version:,}: {row.meaning}", x=x, shapes=shapes)


def _file_shapes(row: VersionRow, x: int) -> tuple[Shape, ...]:
    if row.state == VersionState.FOREIGN_WRITER:
        return (Shape("v alien", x + 2.75, 22.75, 10.5, 16.5),)
    if row.state == VersionState.MISSING:
        return (Shape("v gone", x + 2.75, 22.75, 10.5, 16.5), Shape("x", d=f"M{x + 5} 28l6 6m0-6-6 6"))
    if row.state in UNPUBLISHED:
        return (Shape("v soft", x + 2.5, 22.5, 11, 17),)
    return (Shape("v", x + 2, 22, 12, 18),)


def _entry_shapes(row: VersionRow, x: int) -> tuple[Shape, ...]:
    if row.state == VersionState.FOREIGN_WRITER:
        return (Shape("v alien", d=f"M{x + 8} 49l7 7-7 7-7-7z"),)
    held = Shape("v held", x + 2.75, 48.75, 10.5, 14.5)
    if row.state == VersionState.UNBACKFILLED:
        return (held, Shape("v half", d=f"M{x + 5} 53h6l-3 6z"))
    if row.state == VersionState.PENDING or (row.entry and row.entry.complete is False):
        return (held, Shape("v half", d=f"M{x + 5} 56h6v4.5h-6z"))
    if row.entry:
        return (Shape("v", x + 2, 48, 12, 16),)
    return (Shape("v soft", x + 2.5, 48.5, 11, 15),)


def _water(rows: Sequence[VersionRow], published: int | None) -> int | None:
    """The left edge of the first version that is not published, where every later one waits too."""
    if published is None or rows[-1].file_present or rows[-1].version <= published:
        return None
    behind = sum(1 for row in rows if row.version <= published)
    return LANE_WIDTH + COLUMN * behind


def _labels(rows: Sequence[VersionRow], water: int | None, published: int | None) -> tuple[Label, ...]:
    """The newest version that needs a look, the published line, then other versions where there is room."""
    wanted = [_tag(row, place, len(rows)) for place, row in reversed(list(enumerate(rows))) if row.state in _TONES]
    if water is not None and published is not None:
        wanted.insert(1, _water_label(water, published, wanted[0]))
    round_ones = [place for place, row in enumerate(rows) if row.version % 10 == 0]
    wanted += [Label(_middle(place), f"{rows[place].version:,}") for place in round_ones]
    placed: list[Label] = []
    for label in wanted:
        if not any(_overlap(label, other) for other in placed) and _span(label)[0] >= LANE_WIDTH - 4:
            placed.append(label)
    return tuple(sorted(placed, key=lambda label: label.x))


def _water_label(water: int, published: int, newest: Label) -> Label:
    """Left of its line and of the newest version's name; right of both where the history is too short for that."""
    left, right = _span(newest)
    label = Label(min(water, left) - 6, f"published to {published:,}", "end")
    return label if _span(label)[0] >= LANE_WIDTH else Label(right + 8, label.text, "start")


def _tag(row: VersionRow, place: int, count: int) -> Label:
    """A version's name over its column. The newest one's begins there, or ends at the edge where it is too long."""
    tone, text = _TONES[row.state], f"{row.version:,}"
    if place < count - 1:
        return Label(_middle(place), text, "middle", tone)
    left, edge = LANE_WIDTH + COLUMN * place + 2, LANE_WIDTH + COLUMN * count + MARGIN
    if left + DIGIT * len(text) <= edge or count < len(text):
        return Label(left, text, "start", tone)
    return Label(edge, text, "end", tone)


def _middle(place: int) -> float:
    return LANE_WIDTH + COLUMN * place + COLUMN / 2


def _span(label: Label) -> tuple[float, float]:
    width = DIGIT * len(label.text)
    shift = {"start": 0.0, "middle": width / 2, "end": width}[label.anchor]
    return label.x - shift, label.x - shift + width


def _overlap(one: Label, other: Label) -> bool:
    (left, right), (other_left, other_right) = _span(one), _span(other)
    return left < other_right + 4 and other_left < right + 4


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
        x = LANE_WIDTH + COLUMN * place + 6.5
        ticks.append(Tick(x, x + 4, text))
    return tuple(ticks)


def _legend(rows: Sequence[VersionRow], has_store: bool) -> tuple[LegendPart, ...]:
    """Counts of the columns drawn. Kinds that a table without a store cannot have are left out."""
    counts = Counter(row.state for row in rows)
    expired = counts[VersionState.ENTRY_EXPIRED]
    published = counts[VersionState.PUBLISHED] + expired
    parts = [LegendPart(VersionState.PUBLISHED, f"Published {published:,}", published, "commits")]
    if expired:
        text = f"of these, entry expired {expired:,}"
        parts.append(LegendPart(VersionState.ENTRY_EXPIRED, text, expired, "commits"))
    kinds = [
        (VersionState.PENDING, "Pending", "entries"),
        (VersionState.UNBACKFILLED, "Unbackfilled", "entries"),
        (VersionState.FOREIGN_WRITER, "Foreign writer", "findings"),
        (VersionState.MISSING, "Missing", "findings"),
    ]
    if has_store:
        parts += [LegendPart(state, f"{word} {counts[state]:,}", counts[state], opens) for state, word, opens in kinds]
    return tuple(parts)


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
