"""The shortest log that leads to the newest version that a backup restores: what a restore point has a copy of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from lake.delta.facts import LogListing, LogObject
from lake.delta.file_actions import LogUnreadable
from lake.delta.names import commit_name
from lake.delta.proving import LogBodies, Prover, TableProof
from lake.delta.replay import usable_checkpoints, whole_checkpoints
from lake.delta.restorable import Segment, TableAtVersion, objects_of


@dataclass(frozen=True, slots=True)
class PointLog:
    """A checkpoint of `base`, or the first commit (-1), and the commits up to a version, as one reads them.

    `objects` are those of the log by their names in the point's, in which each accepted commit is published. `files`
    are all data files and deletion vectors of that version, as `Replay.objects` has them. `telling` are those of
    `objects` that may have a protocol or metadata.
    """

    base: int
    state: TableAtVersion
    telling: frozenset[str]
    objects: Mapping[str, LogObject]
    files: Mapping[str, str | None]


def point_log(prover: Prover, proof: TableProof) -> PointLog | None:
    """The log that reads the fewest commits and gives the very state that was proven; None where nothing was."""
    segment = next((one for one in reversed(proof.segments) if one.newest), None)
    if segment is None or segment.newest is None:
        return None
    for base, checkpoint in _beginnings(prover.listing, segment, segment.newest.version):
        reader = _Recorder(prover.reader)
        part = _part(prover.listing, base, checkpoint, segment.newest.version)
        try:
            files = replace(prover, listing=part, reader=reader).objects_at(segment.newest, base)
        except LogUnreadable:
            continue
        if files is not None:
            names = {found.name: commit_name(version) for version, found in part.commits.items()}
            read = {names.get(one.name, one.name): one for one in objects_of(part) if one.name in reader.names}
            telling = frozenset(name for name, one in read.items() if one.name in reader.telling)
            return PointLog(base, segment.newest, telling, read, files)
    return None


def _beginnings(listing: LogListing, segment: Segment, version: int) -> Iterator[tuple[int, tuple[LogObject, ...]]]:
    """The newest checkpoint up to the version, in each way in which it is whole, then what the proof began with."""
    newest = max((one for one in usable_checkpoints(listing) if one <= version), default=segment.base)
    for base in dict.fromkeys((newest, segment.base)):
        for checkpoint in whole_checkpoints(listing.checkpoints[base]) if base >= 0 else [()]:
            yield base, checkpoint


def _part(listing: LogListing, base: int, checkpoint: tuple[LogObject, ...], version: int) -> LogListing:
    return replace(
        listing,
        commits={one: found for one, found in listing.commits.items() if one <= version},
        checkpoints={base: checkpoint} if checkpoint else {},
        checksums={},  # One of an older version may be wrong where that of the newest has been believed
    )


@dataclass
class _Recorder:
    """Reads as another does, and notes the names of what was read, and of what may tell protocol or metadata."""

    reader: LogBodies
    names: set[str] = field(default_factory=set)
    telling: set[str] = field(default_factory=set)

    def bodies(self, names: Sequence[str]) -> Iterator[bytes | LogUnreadable]:
        self.names.update(names)
        for name, body in zip(names, self.reader.bodies(names), strict=True):
            if isinstance(body, bytes) and (b'"metaData"' in body or b'"protocol"' in body):
                self.telling.add(name)
            yield body

    def open(self, name: str) -> BinaryIO:
        self.names.add(name)
        self.telling.add(name)
        return self.reader.open(name)
