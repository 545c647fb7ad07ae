"""Reading a log in a backup as far as it says which versions of the table can be restored."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Protocol
from urllib.parse import unquote

from lake.delta.checksum import read_checksum
from lake.delta.facts import LogListing, ReadingProblem
from lake.delta.file_actions import LogAction, LogUnreadable, Sidecar
from lake.delta.many_files import PlainAdds, actions_of_checkpoint, actions_of_commit
from lake.delta.names import SIDECAR_FOLDER, commit_name
from lake.delta.replay import usable_checkpoints
from lake.delta.restorable import Agrees, Blocked, Replay, Segment, TableAtVersion, TableFiles, beginnings, ranges_of


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

    `segments` are in order and do not overlap; `problems` are what of the log could not be read or contradicts itself;
    `newest_in_log` is the newest version of any commit or checkpoint.
    """

    segments: tuple[Segment, ...]
    problems: tuple[ReadingProblem, ...]
    newest_in_log: int | None

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
        """What versions lack, those of the newest first."""
        return tuple(sorted((one for segment in self.segments for one in segment.blocked), key=lambda one: -one.last))

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

        Behind a version whose `.crc` contradicts its log nothing is claimed: what follows may be of another table.
        """
        segments: list[Segment] = []
        problems: list[ReadingProblem] = []
        for base in beginnings(self.listing):
            if segments and base <= segments[-1].last:
                continue
            segment = self._segment(base, problems, None)
            is_agreed = segment is None or segment.newest is None or self._agrees(segment.newest)
            if not is_agreed:
                segment = self._segment(base, problems, self._agrees)
            if segment is not None:
                segments.append(segment)
            if not is_agreed:
                break
        newest = max((*self.listing.commits, *usable_checkpoints(self.listing)), default=None)
        return TableProof(tuple(segments), tuple(dict.fromkeys(problems)), newest)

    def _segment(self, base: int, problems: list[ReadingProblem], agrees: Agrees | None) -> Segment | None:
        """Go from a beginning as far as the log leads, and as far as `agrees` says so."""
        replay = Replay(base, self.files, agrees)
        if base >= 0:
            try:
                replay.begin(self._checkpoint(base))
            except LogUnreadable as unreadable:
                problems.append(ReadingProblem(usable_checkpoints(self.listing)[base][0].name, str(unreadable)))
                return None
        for version, body in self._commits_from(max(base, 0)):
            try:
                self._go_on(replay, version, body, is_base=version == base)
            except LogUnreadable as unreadable:
                problems.append(ReadingProblem(commit_name(version), str(unreadable)))
                if version != base:
                    break
        return replay.segment()

    def _go_on(self, replay: Replay, version: int, body: bytes | LogUnreadable, *, is_base: bool) -> None:
        if isinstance(body, LogUnreadable):
            raise body
        actions = actions_of_commit(version, body)
        replay.stays(actions) if is_base else replay.apply(version, actions)

    def _commits_from(self, first: int) -> Iterator[tuple[int, bytes | LogUnreadable]]:
        """The commits from a version on, or, where its own is not there, from the next one on."""
        version = first if first in self.listing.commits else first + 1
        versions = []
        while version in self.listing.commits:
            versions.append(version)
            version += 1
        return zip(versions, self.reader.bodies([commit_name(one) for one in versions]), strict=True)

    def _checkpoint(self, version: int) -> Iterator[PlainAdds | LogAction]:
        for found in usable_checkpoints(self.listing)[version]:
            for action in self._actions_of(version, found.name):
                if isinstance(action, Sidecar):
                    # Sidecars lie in one folder, whatever their paths say before the name.
                    name = unquote(action.path).rpartition("/")[2]
                    yield from self._actions_of(version, SIDECAR_FOLDER + name)
                else:
                    yield action

    def _actions_of(self, version: int, name: str) -> Iterator[PlainAdds | LogAction]:
        with self.reader.open(name) as file:
            is_json = name.endswith(".json")
            yield from actions_of_commit(version, file.read()) if is_json else actions_of_checkpoint(version, file)

    def _agrees(self, state: TableAtVersion) -> bool:
        """Whether the `.crc` of the version, if it can be read, says the same."""
        found = self.listing.checksums.get(state.version)
        if found is None:
            return True
        body = next(self.reader.bodies([found.name]))
        if isinstance(body, LogUnreadable):
            return True
        said = read_checksum(state.version, body)
        same_table = said.metadata is None or said.metadata.table_id == state.table_id
        return same_table and said.num_files in (None, state.files)
