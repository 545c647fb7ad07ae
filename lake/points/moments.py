"""To which moments tables can be restored: of one table from its log, of all of a plan together. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

Span = tuple[datetime, datetime]
"""From a moment to another one, both included."""
WINDOW = timedelta(days=30)
"""How far back anybody is told of moments."""
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
"""From when on a table needs nothing that was made later: a span from here ends with its first commit."""
_ALMOST_A_MINUTE = timedelta(minutes=1) - timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A span of which each moment can be restored of all tables, or only of some."""

    start: datetime
    end: datetime
    of_all: bool


def moments_of(
    ranges: Sequence[tuple[int, int]],
    given: Mapping[int, datetime],
    accepted: Mapping[int, datetime],
    newest: tuple[int, datetime] | None,
) -> list[Span]:
    """The moments at which the newest version was one of `ranges`, which can be restored.

    `given` is when S3 was given the commit of each version of the source's log, `accepted` the earliest moment at which
    it may have been accepted. `newest` is the last version of all and until when nothing followed it, None where that
    is not known. Until when another one was the newest is known where the commit after it is in the log.
    """
    spans = []
    for first, last in ranges:
        end = newest[1] if newest and last == newest[0] else accepted.get(last + 1, given[last])
        spans.append((given[first], max(end, given[first])))
    return spans


def together(tables: Iterable[Iterable[Span]], since: datetime) -> list[Stretch]:
    """The moments from `since` on to which all of the tables, or some of them, can be restored, by whole minutes."""
    number, changes = 0, Counter[datetime]()
    for spans in tables:
        number += 1
        for start, end in apart(spans):
            begins, ends = max(_whole(start + _ALMOST_A_MINUTE), since), _whole(end)
            if begins < ends:
                changes[begins] += 1
                changes[ends] -= 1
    stretches, covering, begun = list[Stretch](), 0, since
    for moment, change in sorted(changes.items()):
        if covering and moment > begun:
            _append(stretches, Stretch(begun, moment, covering == number))
        covering, begun = covering + change, moment
    return stretches


def _whole(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)


def apart(spans: Iterable[Span]) -> list[Span]:
    """The spans of one table without what they share: by clocks of several servers, a commit may be older than the one
    before it."""
    merged = list[Span]()
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _append(stretches: list[Stretch], one: Stretch) -> None:
    """Make it a part of the last one where nothing is between them and they say the same."""
    last = stretches[-1] if stretches else None
    if last and last.end == one.start and last.of_all == one.of_all:
        stretches[-1] = Stretch(last.start, one.end, one.of_all)
    else:
        stretches.append(one)
