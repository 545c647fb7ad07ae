"""Reading a log in a backup as far as it says which versions of the table can be restored."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Protocol
from urllib.parse import unquote

from lake.delta.checksum import read_checksum
from lake.delta.facts import LogListing, LogObject, ReadingProblem
from lake.delta.file_actions import LogAction, LogUnreadable, Sidecar
from lake.delta.many_files import PlainAdds, actions_of_checkpoint, actions_of_commit
from lake.delta.names import SIDECAR_FOLDER, commit_name
from lake.delta.replay import whole_checkpoints
from lake.delta.restorable import (
    MOST_BLOCKED,
    Agrees,
    Blocked,
    Contradiction,
    Replay,
    Segment,
    TableAtVersion,
    TableFiles,
    beginnings,
    ranges_of,
)


class LogBodies(Protocol):
    """The objects of one `_delta_log/`, by their names below it."""

    def bodies(self, names: Sequence[str]) -> Iterator[bytes | LogUnreadable]:
        """The objects whole, in the order of the names, many at once; LogUnreadable for one that is not there."""
        ...

    def open(self, name: str) -> BinaryIO:
        """One object. Raises LogUnreadable where it is not there."""
        ...


@dataclass(frozen=True, slots=True)
class TableProof:
    """Which versions of a table can be restored.

    `segments` are in order and do not overlap; `problems` are what of the log could not be read or contradicts itself.
    """

    segments: tuple[Segment, ...]
    problems: tuple[ReadingProblem, ...]

    @property
    def newest(self) -> TableAtVersion | None:
        """The newest version that can be restored."""
        return next((segment.newest for segment in reversed(self.segments) if segment.newest is not None), None)

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """All versions that can be restored."""
        return ranges_of(version for segment in self.segments for version in segment.good)

    @property
    def blocked(self) -> tuple[Blocked, ...]:
        """What versions lack, that of the newest first; at most MOST_BLOCKED."""
        return tuple(one for segment in reversed(self.segments) for one in segment.blocked)[:MOST_BLOCKED]

    @property
    def blocked_total(self) -> int:
        return sum(segment.blocked_total for segment in self.segments)


@dataclass(frozen=True)
class Prover:
    """Proves one table from the listing of its log in the backup."""

    listing: LogListing
    reader: LogBodies
    files: TableFiles

    def prove(self) -> TableProof:
        """Read the log from each place where reading can begin and that an earlier one did not reach.

        Behind a version of which two witnesses do not agree nothing is claimed: what follows may be of another table.
        """
        segments: list[Segment] = []
        problems: list[ReadingProblem] = []
        for base in beginnings(self.listing):
            if segments and base <= segments[-1].end.version:
                continue
            segment, contradicted = self._segment(base, problems)
            if segment is not None:
                segments.append(segment)
            if contradicted:
                break
        problems += [*_gaps(self.listing, segments), *_without_state(segments)]
        return TableProof(tuple(segments), tuple(dict.fromkeys(problems)))

    def _segment(self, base: int, problems: list[ReadingProblem]) -> tuple[Segment | None, bool]:
        """Go from a beginning as far as the log leads; the second says that it contradicts itself there.

        The newest `.crc` answers for all versions before it. Only where it does not agree, or is not reached, all are
        asked.
        """
        versions = self._versions_from(max(base, 0))
        witnesses = [version for version in versions if version in self.listing.checksums]
        found: list[ReadingProblem] = []
        replay, contradicted = self._read(base, versions, witnesses[-1:], found)
        segment = replay.segment() if replay else None
        reached = segment.end.version if segment is not None else -1
        if contradicted or (witnesses and reached < witnesses[-1]):
            found.clear()
            replay, contradicted = self._read(base, versions, witnesses, found)
            segment = replay.segment() if replay else None
        problems += found
        return segment, contradicted

    def objects_at(self, state: TableAtVersion, base: int) -> dict[str, str | None] | None:
        """The objects of the newest version of the listing as `Replay.objects` has them, read from one base on; None
        where that does not lead to this very state with all its files. Raises LogUnreadable."""
        versions = self._versions_from(max(base, 0))
        replay, _ = self._read(base, versions, (), [])
        segment = replay.segment() if replay else None
        return replay.objects() if replay and segment and segment.newest == state else None

    def _read(
        self, base: int, versions: Sequence[int], witnesses: Sequence[int], problems: list[ReadingProblem]
    ) -> tuple[Replay | None, bool]:
        asked = frozenset(witnesses)
        replay = self._begun(base, lambda state: state.version not in asked or self._agrees(state), problems)
        if replay is None:
            return None, False
        bodies = self.reader.bodies([self.listing.commits[version].name for version in versions])
        for version, body in zip(versions, bodies, strict=True):
            try:
                if isinstance(body, LogUnreadable):
                    raise body
                actions = actions_of_commit(version, body)
                replay.stays(actions) if version == base else replay.apply(version, actions)
            except LogUnreadable as unreadable:
                problems.append(ReadingProblem(commit_name(version), str(unreadable)))
                if isinstance(unreadable, Contradiction):
                    return replay, True
                if version != base:
                    break
        return replay, False

    def _begun(self, base: int, agrees: Agrees, problems: list[ReadingProblem]) -> Replay | None:
        """The state of a whole checkpoint of the base, of the first one that can be read; None where none can."""
        if base < 0:
            return Replay(base, self.files, agrees)
        for objects in whole_checkpoints(self.listing.checkpoints[base]):
            replay = Replay(base, self.files, agrees)
            try:
                replay.begin(self._checkpoint(base, objects))
            except LogUnreadable as unreadable:
                problems.append(ReadingProblem(objects[0].name, str(unreadable)))
            else:
                return replay
        return None

    def _versions_from(self, first: int) -> list[int]:
        """The versions of commits from one on without a gap, or from the next one on, where its own is not there."""
        version = first if first in self.listing.commits else first + 1
        versions = []
        while version in self.listing.commits:
            versions.append(version)
            version += 1
        return versions

    def _checkpoint(self, version: int, objects: Sequence[LogObject]) -> Iterator[PlainAdds | LogAction]:
        for found in objects:
            for action in self._actions_of(version, found.name):
                if isinstance(action, Sidecar):
                    yield from self._sidecar(version, action)
                else:
                    yield action

    def _sidecar(self, version: int, sidecar: Sidecar) -> Iterator[PlainAdds | LogAction]:
        # Sidecars lie in one folder, whatever their paths say before the name.
        name = SIDECAR_FOLDER + unquote(sidecar.path).rpartition("/")[2]
        if not any(found.name == name for found in self.listing.other):
            raise LogUnreadable(f"{name} is not there, or is not the source's.")
        yield from self._actions_of(version, name)

    def _actions_of(self, version: int, name: str) -> Iterator[PlainAdds | LogAction]:
        with self.reader.open(name) as file:
            is_json = name.endswith(".json")
            yield from actions_of_commit(version, file.read()) if is_json else actions_of_checkpoint(version, file)

    def _agrees(self, state: TableAtVersion) -> bool:
        """Whether the `.crc` of the version, if it can be read, says the same."""
        body = next(self.reader.bodies([self.listing.checksums[state.version].name]))
        if isinstance(body, LogUnreadable):
            return True
        said = read_checksum(state.version, body)
        same_table = said.metadata is None or said.metadata.table_id == state.table_id
        return same_table and said.num_files in (None, state.files) and said.table_bytes in (None, state.bytes)


def _gaps(listing: LogListing, segments: Sequence[Segment]) -> Iterator[ReadingProblem]:
    """The first commit that is missing before later ones, in each gap that no checkpoint bridges."""
    reached = {version for one in segments for version in range(one.first, one.end.version + 1)}
    for version in sorted(listing.commits):
        before = version - 1
        if version not in reached and before not in listing.commits and before >= 0:
            yield ReadingProblem(commit_name(before), f"It is missing: version {version} is not reached.")


def _without_state(segments: Sequence[Segment]) -> Iterator[ReadingProblem]:
    for segment in segments:
        if not segment.good and not segment.blocked:
            yield ReadingProblem(commit_name(segment.first), "The log has no protocol, or no metadata with a schema.")
