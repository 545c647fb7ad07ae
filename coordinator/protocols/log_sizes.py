"""Sizes, ages and storage classes of a table's log files in a few numbers, for rules that are limited by size."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from lake.delta.facts import LogListing, LogObject
from lake.delta.names import NameKind, parse_name

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

    @property
    def _kind(self) -> tuple[str, int]:
        return self.storage_class, self.least.bit_length()

    def with_file(self, other: "SizeRange") -> "SizeRange":
        return SizeRange(
            self.storage_class,
            min(self.least, other.least),
            max(self.most, other.most),
            min(self.oldest_at, other.oldest_at),
        )


def ranges_of(listing: LogListing) -> tuple[SizeRange, ...]:
    """Ranges of the files that readers need: commits, checkpoints and their sidecars.

    Checksums, compacted files and `_last_checkpoint` only save readers time, so losing one loses nothing.
    """
    return joined_ranges(
        SizeRange(found.storage_class, found.size, found.size, found.modified_at) for found in _needed(listing)
    )


def _needed(listing: LogListing) -> Iterator[LogObject]:
    yield from listing.commits.values()
    for parts in listing.checkpoints.values():
        yield from parts
    yield from (found for found in listing.other if parse_name(found.name).kind is NameKind.SIDECAR)


def joined_ranges(ranges: Iterable[SizeRange]) -> tuple[SizeRange, ...]:
    """The same files in as few ranges as there are classes and powers of two; joining twice changes nothing."""
    found: dict[tuple[str, int], SizeRange] = {}
    for one in ranges:
        known = found.get(one._kind)
        found[one._kind] = known.with_file(one) if known else one
    return tuple(found[kind] for kind in sorted(found))


def stored_ranges(ranges: Iterable[SizeRange]) -> Stored:
    """As JSON: class, least, most, and the oldest in epoch milliseconds."""
    return [[one.storage_class, one.least, one.most, round(one.oldest_at.timestamp() * 1_000)] for one in ranges]


def read_ranges(stored: object) -> tuple[SizeRange, ...] | None:
    """The ranges as stored; None where none were, or they cannot be read."""
    if not isinstance(stored, list):
        return None
    try:
        return tuple(
            SizeRange(str(name), int(least), int(most), datetime.fromtimestamp(oldest / 1_000, UTC))
            for name, least, most, oldest in stored
        )
    except (TypeError, ValueError, OverflowError, OSError):
        return None
