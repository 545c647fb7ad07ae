"""Which objects of a log tell the files that a table has, or had since some moment.

A file that is live at that moment or later is in the state of a checkpoint written before it, or added since. A newer
checkpoint tells as much where its tombstones reach back far enough: Delta keeps them for
`delta.deletedFileRetentionDuration`. Source: PROTOCOL.md of Delta 4.4.0, "Checkpoints" and "Add File and Remove File".
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from lake.delta.facts import LogListing, LogObject
from lake.delta.file_actions import LogUnreadable
from lake.delta.names import parse_name
from lake.delta.replay import usable_checkpoints

RETENTION = "delta.deletedFileRetentionDuration"
DEFAULT_RETENTION = timedelta(days=7)
CLOCKS_APART = timedelta(hours=1)
"""How far the clocks of a table's writers, and the time that one of them takes for a checkpoint, may part."""

_INTERVAL = re.compile(r"\s*interval\s+((?:\d+\s+[a-z]+\s*)+)", re.IGNORECASE)
_AMOUNT = re.compile(r"(\d+)\s+([a-z]+?)s?(?:\s|$)", re.IGNORECASE)
_UNITS = {
    "week": timedelta(weeks=1),
    "day": timedelta(days=1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
    "millisecond": timedelta(milliseconds=1),
    "microsecond": timedelta(microseconds=1),
}


@dataclass(frozen=True, slots=True)
class FileReads:
    """What to read: the whole `checkpoint`, if any, of `base`; `commits` after it, ascending; and `proposed` ones.

    Those are commits that may have been accepted and are not published yet, or have lost: what they add may be live.
    `checksum` is the `.crc` of `newest`, which counts its files, if there is one.
    """

    base: int
    newest: int
    checkpoint: tuple[LogObject, ...]
    commits: tuple[tuple[int, LogObject], ...]
    proposed: tuple[LogObject, ...]
    checksum: LogObject | None


def newest_checkpoint(listing: LogListing) -> tuple[LogObject, ...]:
    """All objects of the newest whole checkpoint; empty where there is none."""
    usable = usable_checkpoints(listing)
    return usable[max(usable)] if usable else ()


def plan_file_reads(listing: LogListing, *, since: datetime, retention: timedelta) -> FileReads:
    """Name what tells every file that is live now or was at any moment after `since`.

    `retention` is how long the newest checkpoint keeps tombstones. Where the log does not reach back to `since`, all of
    it is read. Raises LogUnreadable for a log with a gap or without a beginning.
    """
    usable = usable_checkpoints(listing)
    newest = max((*listing.commits, *usable), default=None)
    if newest is None:
        raise LogUnreadable("The log holds no commit and no checkpoint.")
    base = _base(listing, usable, since, retention)
    if base is None and 0 not in listing.commits:
        raise LogUnreadable("The log holds neither a whole checkpoint nor its first commit.")
    first = 0 if base is None else base + 1
    for version in range(first, newest + 1):
        if version not in listing.commits:
            raise LogUnreadable(f"The log lacks version {version}, which comes before version {newest}.")
    return FileReads(
        base=first - 1,
        newest=newest,
        checkpoint=() if base is None else usable[base],
        commits=tuple((version, listing.commits[version]) for version in range(first, newest + 1)),
        proposed=proposed_commits(listing, newest),
        checksum=listing.checksums.get(newest),
    )


def retention_of(properties: Mapping[str, str]) -> timedelta:
    """How long a table's properties keep tombstones; none at all where they cannot be read, which is on the safe side.

    Delta takes intervals without months and years: "interval 1 week", "interval 36 hours".
    """
    text = properties.get(RETENTION)
    if text is None:
        return DEFAULT_RETENTION
    whole = _INTERVAL.fullmatch(text)
    amounts = _AMOUNT.findall(whole[1]) if whole else []
    if not amounts or any(unit.lower() not in _UNITS for _, unit in amounts):
        return timedelta(0)
    try:
        return sum((int(number) * _UNITS[unit.lower()] for number, unit in amounts), timedelta(0))
    except OverflowError:
        return timedelta(0)


def _base(
    listing: LogListing, usable: Mapping[int, tuple[LogObject, ...]], since: datetime, retention: timedelta
) -> int | None:
    """The version of the checkpoint to begin with; None to begin with the first commit."""
    if not usable:
        return None
    newest = max(usable)
    if _written(usable[newest]) - retention + CLOCKS_APART <= since:
        return newest
    older = [version for version, objects in usable.items() if _written(objects) <= since]
    if older:
        return max(older)
    return None if _is_whole(listing) else min(usable)


def _is_whole(listing: LogListing) -> bool:
    """Whether the commits reach from the first to the newest."""
    return bool(listing.commits) and len(listing.commits) == max(listing.commits) + 1


def _written(objects: tuple[LogObject, ...]) -> datetime:
    return max(found.modified_at for found in objects)


def proposed_commits(listing: LogListing, newest: int) -> tuple[LogObject, ...]:
    """Files of commits above a version that may have been accepted and are not published yet, or have lost."""
    waiting = (*(listing.staged or ()), *(listing.temp_files or ()))
    # A temp file of a writer without versions in its names may be of any.
    return tuple(found for found in waiting if (version := parse_name(found.name).version) is None or version > newest)
