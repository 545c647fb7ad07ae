"""A table as the settings of its bucket are judged by it: where its files lie, what waits in them, how old they are."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain, takewhile

from coordinator.protocols.judgement import GRACE_SECONDS
from coordinator.protocols.names import STAGED_FOLDERS
from lake.delta.facts import LogListing
from lake.delta.names import TEMP_FOLDER, NameKind, parse_name

HELD_FOLDERS = (TEMP_FOLDER, *(f"{folder}/" for folder in STAGED_FOLDERS))
"""Folders of `_delta_log/` whose files are needed until their commit is published, and no longer."""

Stored = list[list[str | int]]


@dataclass(frozen=True, slots=True)
class SizeRange:
    """Log files of one storage class between two powers of two: the least and most bytes, when the oldest was written.

    `storage_class` is S3's word, "" where the listing names none.
    """

    storage_class: str
    least: int
    most: int
    oldest_at: datetime


def ranges_of(listing: LogListing) -> tuple[SizeRange, ...]:
    """Ranges of the files that readers need: commits, checkpoints and their sidecars.

    Checksums, compacted files and `_last_checkpoint` only save readers time, so losing one loses nothing.
    """
    needed = [*listing.commits.values(), *chain.from_iterable(listing.checkpoints.values())]
    needed += [found for found in listing.other if parse_name(found.name).kind is NameKind.SIDECAR]
    return joined_ranges(SizeRange(one.storage_class, one.size, one.size, one.modified_at) for one in needed)


def joined_ranges(ranges: Iterable[SizeRange]) -> tuple[SizeRange, ...]:
    """The same files in as few ranges as there are classes and powers of two; joining twice changes nothing."""
    found: defaultdict[tuple[str, int], list[SizeRange]] = defaultdict(list)
    for one in ranges:
        found[one.storage_class, one.least.bit_length()].append(one)
    return tuple(
        SizeRange(name, min(o.least for o in same), max(o.most for o in same), min(o.oldest_at for o in same))
        for (name, _), same in sorted(found.items(), key=lambda pair: pair[0])
    )


def stored_ranges(ranges: Iterable[SizeRange]) -> Stored:
    """As JSON: class, least, most, and the oldest in epoch milliseconds."""
    return [[one.storage_class, one.least, one.most, round(one.oldest_at.timestamp() * 1_000)] for one in ranges]


def read_ranges(stored: Stored | None) -> tuple[SizeRange, ...] | None:
    """The ranges as stored; None where none were."""
    if stored is None:
        return None
    return tuple(
        SizeRange(str(name), int(least), int(most), datetime.fromtimestamp(int(oldest) / 1_000, UTC))
        for name, least, most, oldest in stored
    )


@dataclass(frozen=True, slots=True)
class WaitingFile:
    """The file that holds an accepted commit which is not published.

    Or, as `is_last_copy`, one that a finding leaves as the last copy of a commit; `is_certain` is false where the
    commit may never have been accepted.
    `file` is relative to `_delta_log/`, "" where it may be any staged file of the version. `written_at` and `size`
    (bytes) are None where they are not known.
    """

    version: int
    file: str
    written_at: datetime | None
    size: int | None = None
    is_last_copy: bool = False
    is_certain: bool = True

    def is_young(self, now: datetime) -> bool:
        """Whether the commit may still be in its writer's hands, who is about to publish it."""
        return self.written_at is not None and now - self.written_at < timedelta(seconds=GRACE_SECONDS)


@dataclass(frozen=True, slots=True)
class LostFile:
    """The files, relative to `_delta_log/`, that held an accepted commit and are gone since `gone_by` or longer."""

    version: int
    files: tuple[str, ...]
    gone_by: datetime


@dataclass(frozen=True, slots=True)
class TableInBucket:
    """A table's key prefix without slashes at its ends, and what is known of its files.

    `oldest_log_at` is when the oldest commit file that is still in its log was written, None where that is not known.
    `log_sizes` are None where the sizes of its log files are not known. `is_read` is false where it could not be
    read, or not all of it, so that a commit may wait of which nothing is known.
    """

    prefix: str
    waiting: tuple[WaitingFile, ...] = ()
    lost: tuple[LostFile, ...] = ()
    oldest_log_at: datetime | None = None
    log_sizes: tuple[SizeRange, ...] | None = None
    is_read: bool = True

    @property
    def root(self) -> str:
        return f"{self.prefix}/" if self.prefix else ""

    @property
    def log(self) -> str:
        return f"{self.root}_delta_log/"

    @property
    def held(self) -> tuple[str, ...]:
        return tuple(self.log + folder for folder in HELD_FOLDERS)

    @property
    def name(self) -> str:
        """How a sentence names it."""
        return self.prefix or "the table"

    def places_of(self, files: Iterable[str]) -> tuple[str, ...]:
        """Keys of files of the log; the folders of staged files for one whose name is not known."""
        return tuple(place for file in files for place in ([self.log + file] if file else self.held[1:]))


class TablesByPrefix:
    """Tables by root, so that a bucket of a thousand rules and ten thousand tables is judged at once."""

    def __init__(self, tables: Iterable[TableInBucket]) -> None:
        self._by_root: defaultdict[str, list[TableInBucket]] = defaultdict(list)
        for table in tables:
            self._by_root[table.root].append(table)
        self._roots = sorted(self._by_root)

    def reached_by(self, prefix: str) -> list[TableInBucket]:
        """Tables of which a rule on this prefix can match a key."""
        inside = self._roots[bisect_left(self._roots, prefix) :]
        roots = set(takewhile(lambda root: root.startswith(prefix), inside))
        roots |= cuts_of(prefix) & self._by_root.keys()
        return [table for root in sorted(roots) for table in self._by_root[root]]


def cuts_of(key: str) -> set[str]:
    """Every prefix of a key."""
    return {key[:end] for end in range(len(key) + 1)}
