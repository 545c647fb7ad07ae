"""The charts of a table: what stands where in them, drawn by templates as SVG."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from coordinator.versions import VersionRow, VersionState

NEWEST_VERSIONS = 41
COLUMN = 16  # pixels of one version
DIGIT = 6.4  # width of a tabular figure at 11 px, rounded up


@dataclass(frozen=True, slots=True)
class Timeline:
    """The newest versions in two lanes: each with a label where there is room, and how many of each state.

    `ticks` are moments by the place of their column; `water` is the place that publishing has come to, None when
    nothing waits.
    """

    columns: tuple[tuple[VersionRow, str], ...]
    ticks: tuple[tuple[int, str], ...]
    water: int | None
    legend: tuple[tuple[VersionState, int], ...]
    summary: str
    has_entries: bool

    @property
    def width(self) -> int:
        """In columns; the first moment needs four of them."""
        return max(len(self.columns), 4)


@dataclass(frozen=True, slots=True)
class Sparkline:
    """Commits per hour over a day, oldest first: the height of each bar and its class."""

    bars: tuple[tuple[int, str], ...]
    total: int

    @property
    def paths(self) -> dict[str, str]:
        """The bars of each class as one path, in a picture of 96 by 20 pixels."""
        drawn: defaultdict[str, str] = defaultdict(str)
        for place, (height, css) in enumerate(self.bars):
            drawn[css] += f"M{4 * place} 20h3v-{height}h-3z"
        return dict(drawn)

    @property
    def label(self) -> str:
        return f"{self.total:,} {'commit' if self.total == 1 else 'commits'} in 24 hours"


def timeline(rows: Sequence[VersionRow], *, published: int | None, has_store: bool) -> Timeline | None:
    """The chart of `rows`, oldest first, at most the newest 41; None where there is nothing to draw."""
    rows = rows[-NEWEST_VERSIONS:]
    if not rows:
        return None
    named = _named(rows)
    counts = Counter(row.state for row in rows)
    counts[VersionState.PUBLISHED] += counts[VersionState.ENTRY_EXPIRED]
    return Timeline(
        columns=tuple((row, f"{row.version:,}" if place in named else "") for place, row in enumerate(rows)),
        ticks=_ticks(rows),
        water=_water(rows, published),
        legend=tuple((state, counts[state]) for state in VersionState if counts[state]),
        summary=_summary(rows, published),
        has_entries=has_store,
    )


def _water(rows: Sequence[VersionRow], published: int | None) -> int | None:
    """The first version that is not published, where every later one waits too."""
    if published is None or rows[-1].file_present or rows[-1].version <= published:
        return None
    return sum(1 for row in rows if row.version <= published)


def _named(rows: Sequence[VersionRow]) -> list[int]:
    """Places of the versions that need a look, the newest first, then of every tenth, as far as there is room."""
    troubled = [place for place, row in enumerate(rows) if row.is_troubled]
    tenths = [place for place, row in enumerate(rows) if row.version % 10 == 0]
    named: list[int] = []
    for place in (*reversed(troubled), *tenths):
        needed = DIGIT * len(f"{rows[place].version:,}") + 4
        if all(abs(place - other) * COLUMN >= needed for other in named):
            named.append(place)
    return named


def _ticks(rows: Sequence[VersionRow]) -> tuple[tuple[int, str], ...]:
    """A moment every nine columns; the day is named where it changes."""
    ticks: list[tuple[int, str]] = []
    day = None
    for place in range(0, max(len(rows) - 5, 1), 9):
        at = rows[place].at
        if at is None:
            continue
        ticks.append((place, f"{at:%H:%M}" if at.date() == day else f"{at.day} {at:%b %H:%M}"))
        day = at.date()
    return tuple(ticks)


def _summary(rows: Sequence[VersionRow], published: int | None) -> str:
    """The chart in words, for those who do not see it."""
    said = [f"Versions {rows[0].version:,} to {rows[-1].version:,}."]
    if published is not None:
        said.append(f"Published to {published:,}.")
    troubled = [row for row in rows if row.is_troubled]
    said += [f"{row.version:,} is {row.meaning}." for row in troubled[:8]]
    if len(troubled) > 8:
        said.append(f"{len(troubled) - 8} more need a look.")
    return " ".join(said)


def sparkline(counts: Mapping[datetime, int], *, now: datetime, held_since: datetime | None = None) -> Sparkline:
    """Commits per hour for the 24 hours up to `now`; `counts` is keyed by the start of the hour, in UTC.

    `held_since` is when the oldest commit was accepted that is not published yet: its hour is drawn as held.
    """
    hours = [hour_of(now) - timedelta(hours=ago) for ago in reversed(range(24))]
    numbers = [counts.get(hour, 0) for hour in hours]
    held_hour, peak = hour_of(held_since) if held_since else None, max(numbers)
    bars = []
    for hour, number in zip(hours, numbers, strict=True):
        least, css = (11, "held") if hour == held_hour else (3, "") if number else (1, "base")
        bars.append((max(least, round(17 * number / peak)) if number else least, css))
    return Sparkline(tuple(bars), sum(numbers))


def hour_of(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)
