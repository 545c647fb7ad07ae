"""To which moments tables can be restored: of one table from its log, of all of a plan together. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

Span = tuple[datetime, datetime]
"""From a moment to another one, both included."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A span of which each moment can be restored of all tables, or only of some."""

    start: datetime
    end: datetime
    of_all: bool


def moments_of(
    ranges: Sequence[tuple[int, int]], given: Mapping[int, datetime], accepted: int | None, read_at: datetime
) -> list[Span]:
    """The moments at which the newest version was one of `ranges`, which can be restored. `given` is when S3 was given
    the commit of each version of the source's log, read at `read_at`, whose newest is `accepted`.

    Until when a version was the newest is known where the commit after it is in the log, or where it is the newest.
    """
    spans = []
    for first, last in ranges:
        end = given[last + 1] if last + 1 in given else read_at if last == accepted else given[last]
        spans.append((given[first], max(end, given[first])))
    return spans


def together(tables: Iterable[Sequence[Span]], since: datetime) -> list[Stretch]:
    """The moments from `since` on to which all of the tables, or some of them, can be restored."""
    number, events = 0, list[tuple[datetime, int]]()
    for spans in tables:
        number += 1
        for start, end in _apart(spans):
            if end > since:
                events += [(max(start, since), 1), (end, -1)]
    stretches, covering, begun = list[Stretch](), 0, since
    for moment, changes in groupby(sorted(events), key=lambda event: event[0]):
        if covering and moment > begun:
            _append(stretches, Stretch(begun, moment, covering == number))
        covering, begun = covering + sum(change for _, change in changes), moment
    return stretches


def _apart(spans: Sequence[Span]) -> list[Span]:
    """The spans of one table without what they share: by clocks of several servers, a commit may be older than the one
    before it."""
    apart = list[Span]()
    for start, end in sorted(spans):
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


def _append(stretches: list[Stretch], one: Stretch) -> None:
    """Make it a part of the last one where nothing is between them and they say the same."""
    last = stretches[-1] if stretches else None
    if last and last.end == one.start and last.of_all == one.of_all:
        stretches[-1] = Stretch(last.start, one.end, one.of_all)
    else:
        stretches.append(one)
