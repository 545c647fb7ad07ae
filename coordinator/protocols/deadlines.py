"""When a setting of a bucket takes something that a table needs, and how that is graded as the moment draws near."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from coordinator.protocols.verdict import State

WARNED_BEFORE = timedelta(days=14)
"""From then on a deadline is attention, with an alert."""

UNSAFE_BEFORE = timedelta(days=1)
"""From then on it is unsafe: S3 works through its rules once a day."""


class AtRisk(StrEnum):
    """What a deadline is about."""

    UNPUBLISHED = "unpublished commit"
    LAST_COPY = "last copy of a commit"
    LOST = "old version of a lost commit"
    LOG = "published log"
    DATA = "data files"


@dataclass(frozen=True, slots=True)
class Deadline:
    """When S3 may first act on files that tables need; `at` is None where nothing tells.

    `rule` names the lifecycle rule or archive configuration, `does` is "deletes" or "archives". `table` is the prefix
    of the table that is hit first, of `tables` in all; `version` and `file` (relative to `_delta_log/`) are of its
    commit, where the deadline is one commit's. `condition` is what an object must be besides, where that is not known.
    """

    at: datetime | None
    state: State
    what: AtRisk
    rule: str
    does: str
    table: str
    tables: int = 1
    version: int | None = None
    file: str = ""
    condition: str = ""


def state_before(at: datetime, now: datetime) -> State:
    """What a deadline makes of its bucket: healthy, attention from 14 days on, unsafe from 1 day on and after it."""
    left = at - now
    if left <= UNSAFE_BEFORE:
        return State.UNSAFE
    return State.ATTENTION if left <= WARNED_BEFORE else State.HEALTHY


def next_change(deadlines: Iterable[Deadline], now: datetime) -> datetime | None:
    """When the next of them is graded anew or passes, None where none ever is."""
    moments = (
        moment
        for deadline in deadlines
        if deadline.at is not None
        for moment in (deadline.at - WARNED_BEFORE, deadline.at - UNSAFE_BEFORE, deadline.at)
    )
    return min((moment for moment in moments if moment > now), default=None)


def soonest_first(deadlines: Iterable[Deadline]) -> tuple[Deadline, ...]:
    """By moment, those without one last; of one moment what may be a last copy comes after what is surely needed."""

    def order(one: Deadline) -> tuple[bool, float, bool, str]:
        return (one.at is None, one.at.timestamp() if one.at else 0, one.what is AtRisk.LAST_COPY, one.table)

    return tuple(sorted(deadlines, key=order))


def read_moment(stored: object) -> datetime | None:
    """A moment as it is kept in JSON or, in seconds since 1970, in DynamoDB; None for what is none."""
    try:
        if isinstance(stored, int | float):
            return datetime.fromtimestamp(stored, UTC)
        found = datetime.fromisoformat(stored) if isinstance(stored, str) else None
    except (OverflowError, OSError, ValueError):
        return None
    return found if found is None or found.tzinfo else found.replace(tzinfo=UTC)


def moment_in_words(at: datetime) -> str:
    return f"{at:%d %b %Y %H:%M} UTC"
