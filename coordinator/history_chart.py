"""The history of a table as a drawing: what stands where on one axis of time. Pure; a template draws it as SVG."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from dashboard.web.text import shortened

LANES = {"version": "Versions", "entry": "Entries", "finding": "Findings", "job": "Repairs, jobs", "alert": "Alerts"}
HEAD, TICKS, ROW, GAP, ICON = 26, 28, 28, 6, 16
LEFT, RIGHT = 4, 1010
"""Columns between which time runs; like the heights above in pixels."""
LETTER = 6.6  # width of a bold letter at 11 px, rounded up
LONGEST_LABEL = 32
MOST_ROWS = 4
_PLAIN, _MERGE, _DELETE, _TIDY, _UNREAD = ("append", 20), ("merge", 28), ("delete", 11), ("tidy", 27), ("unread", 20)
_FILLS = {"MERGE": _MERGE, "UPDATE": _MERGE, "DELETE": _DELETE, "TRUNCATE": _DELETE, "OPTIMIZE": _TIDY, "": _UNREAD}
"""How the tick of an operation is filled and how high it is; "" is one that was not read."""


@dataclass(frozen=True, slots=True)
class Window:
    """What is looked at: after `since`, up to and with `until`."""

    since: datetime
    until: datetime

    @property
    def length(self) -> timedelta:
        return self.until - self.since

    def x(self, at: datetime) -> float:
        """The column of a moment; what lies outside stands at the nearer end."""
        share = (min(max(at, self.since), self.until) - self.since) / self.length
        return round(LEFT + share * (RIGHT - LEFT), 1)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a table, or went on from `at` until `until` (None: it still does).

    `key` tells events of one moment apart, `state` is the name of a look, `label` stands beside the mark. `number`
    versions of one operation can be one event. `job` is the key of the job that an act asked for.
    """

    kind: str
    key: str
    at: datetime
    state: str
    says: str
    href: str
    until: datetime | None = None
    by: str = ""
    label: str = ""
    operation: str = ""
    number: int = 1
    job: str = ""

    @property
    def place(self) -> str:
        """Where it stands in the order of time."""
        return f"{self.at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f} {self.key}"


@dataclass(frozen=True, slots=True)
class Mark:
    """A tick where `css` fills it, else a span or icon as its event's state looks; `y` counts from its lane's top."""

    event: Event
    x: float
    y: float
    width: float
    height: float
    css: str = ""
    label: str = ""
    label_x: float = 0
    anchor: str = "start"

    @property
    def extent(self) -> tuple[float, float]:
        """From which column to which it stands with its label."""
        long, end = len(self.label) * LETTER, self.x + self.width
        return (self.label_x - long, end) if self.anchor == "end" else (self.x, max(end, self.label_x + long))


@dataclass(frozen=True, slots=True)
class Lane:
    """`left_out` counts the events for whose marks there was no room."""

    kind: str
    name: str
    top: int
    bottom: int
    marks: Sequence[Mark]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Chart:
    """`operations` are the fill, name and number of versions of each; Levee did not watch before column `unwatched`."""

    lanes: Sequence[Lane]
    axis: Sequence[tuple[float, str]]
    operations: Sequence[tuple[str, str, int]]
    unwatched: float
    summary: str


def chart_of(events: Mapping[str, Sequence[Event]], window: Window, watched_since: datetime) -> Chart:
    """The chart of events by kind."""
    lanes: list[Lane] = []
    for kind, name in LANES.items():
        top, in_order = lanes[-1].bottom if lanes else HEAD, sorted(events[kind], key=lambda event: event.place)
        if kind in ("version", "entry"):
            lanes.append(Lane(kind, name, top, top + TICKS + 12, _ticks(in_order, window)))
        else:
            marks, rows = _side_by_side(in_order, window)
            lanes.append(Lane(kind, name, top, top + ROW * rows + GAP, marks, len(in_order) - len(marks)))
    operations: Counter[str] = Counter()
    for event in events["version"]:
        operations[event.operation] += event.number
    counts = (f"{name} {sum(event.number for event in events[kind]):,}" for kind, name in LANES.items())
    return Chart(
        lanes,
        _axis(window),
        [(_FILLS.get(name, _PLAIN)[0], name or "Unknown", number) for name, number in operations.most_common()],
        window.x(watched_since),
        f"{moment(window.since)} to {moment(window.until)} UTC. {'; '.join(counts)}. The list has the same.",
    )


def _ticks(events: Sequence[Event], window: Window) -> list[Mark]:
    """A tick an event. Those that stand for many are stacked, the more the higher, and as wide as their hour or day."""
    totals: Counter[datetime] = Counter()
    for event in events:
        totals[event.at] += event.number
    unit = TICKS / max(totals.values(), default=1)
    marks: list[Mark] = []
    floors = dict.fromkeys(totals, TICKS + 4.0)
    for event in events:
        css, height = ("entry", 10.0) if event.kind == "entry" else _FILLS.get(event.operation, _PLAIN)
        x, y, width = window.x(event.at), TICKS + 4 - height, 3.0
        if event.until:
            height, width = event.number * unit, max(window.x(event.until) - x - 1, 2)
            y = floors[event.at] = floors[event.at] - height
        elif event.kind == "entry" and marks and x - marks[-1].x < 1:
            continue  # it would stand on the one before
        marks.append(Mark(event, x, round(y, 1), round(width, 1), round(height, 1), css))
    return marks


def _side_by_side(events: Sequence[Event], window: Window) -> tuple[list[Mark], int]:
    """Marks in as few rows as hold them with their labels, as far as there is room, and how many rows that are."""
    marks: list[Mark] = []
    ends: list[float] = []
    for event in events:
        labelled = _mark(event, window)
        for mark in (labelled, replace(labelled, label="", label_x=0, anchor="start")):
            begin, end = mark.extent
            row = next((row for row, taken in enumerate(ends) if taken + GAP <= begin), len(ends))
            if row < MOST_ROWS:
                ends[row : row + 1] = [end]
                marks.append(replace(mark, y=mark.y + ROW * row))
                break
    return marks, max(len(ends), 1)


def _mark(event: Event, window: Window) -> Mark:
    """An icon for a job, a span for what went on, with its label in it, behind it, or where the axis ends before it."""
    x, label = window.x(event.at), shortened(event.label, LONGEST_LABEL)
    if event.kind == "job":
        mark = Mark(event, min(max(x - ICON / 2, LEFT), RIGHT - ICON), 9, ICON, ICON, label=label)
    else:
        width = round(max(window.x(event.until or window.until) - x, 6), 1)
        mark = Mark(event, min(x, RIGHT - 6), 8, width, 18, label=label)
    fits = mark.width > len(label) * LETTER + 16
    mark = replace(mark, label_x=mark.x + (8 if fits else mark.width + 4))
    return mark if mark.extent[1] <= RIGHT + 1 else replace(mark, label_x=mark.x - 4, anchor="end")


def _axis(window: Window) -> list[tuple[float, str]]:
    """Moments of the axis: every three hours of a day, every day of a week, every third day of more."""
    step = max(timedelta(hours=3), timedelta(days=round(window.length.days / 8)))
    at, found = window.since.replace(hour=0, minute=0, second=0, microsecond=0), []
    while at < window.until - window.length / 30:
        if at > window.since:
            found.append((window.x(at), f"{at:%a} {at.day} {at:%b}" if at.hour == 0 else f"{at:%H:%M}"))
        at += step
    return found


def moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}"
