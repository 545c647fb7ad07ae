"""Which versions of a table a set of objects gives back, in one pass over its log.

A version can be restored where the log leads to it without a gap, from the first commit or a whole checkpoint on, and
every file that it has is there with its size. As a data file has a unique name and is never overwritten, and a version
follows from the log up to it alone, a reader of these objects then sees what that version was. Source: PROTOCOL.md of
Delta 4.4.0, "Action Reconciliation"; `.crc` files, where there are any, are asked whether they agree.

Everything here is pure; `lake.delta.proving` reads.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from lake.delta.facts import LogListing, LogObject
from lake.delta.file_actions import (
    CommitTime,
    FileAction,
    Located,
    LogAction,
    LogUnreadable,
    TableId,
    located,
    vector_id,
    vector_path,
)
from lake.delta.many_files import PlainAdds
from lake.delta.replay import usable_checkpoints

MOST_BLOCKED = 100
"""Files of a segment named singly that versions lack; beyond that they are counted."""
_AROUND_A_VECTOR = 8
"""Bytes of a deletion vector's file around its data: its size before, a checksum behind it."""

SizeOf = Callable[[str], int | None]
"""The bytes of the object of a key in the backup, None where none is there."""
Places = Callable[[str], str | None]
"""The key in the backup of a key of the source's bucket that a log names in full; None where that was not backed up."""


Agrees = Callable[["TableAtVersion"], bool]
"""Whether another witness says the same of a version."""


class Blocked(NamedTuple):
    """A file without which versions `first` to `last` cannot be restored; `reason` is one of REASONS."""

    key: str
    reason: str
    first: int
    last: int


REASONS = {
    "missing": "it is not in the backup",
    "other-size": "it has another size in the backup than the log says",
    "elsewhere": "the log names a place that was not backed up",
}


@dataclass(frozen=True, slots=True)
class TableAtVersion:
    """A table at one version: its id, how many data files it has, their bytes, and when the commit was made.

    `committed_at` is epoch milliseconds, None where the commit does not say or was not read.
    """

    version: int
    table_id: str
    files: int
    bytes: int
    committed_at: int | None


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive versions `first` to `last` of a log, read from a checkpoint of `base`, or from the first commit (-1).

    `good` are those whose files are all there, ascending; `newest` is the state at the last of them, `end` that at
    `last`. `blocked` are what the others lack, `blocked_total` of them.
    """

    base: int
    first: int
    last: int
    good: tuple[int, ...]
    newest: TableAtVersion | None
    end: TableAtVersion
    blocked: tuple[Blocked, ...]
    blocked_total: int


@dataclass(frozen=True, slots=True)
class TableFiles:
    """What a backup has of a table's files.

    `root` is the table's key at the source and, below the backup's place, in the backup; `bucket` is the source's.
    """

    root: str
    bucket: str
    places: Places
    size_of: SizeOf

    def located(self, path: str) -> Located:
        """Where a path of the log leads at the source. Raises LogUnreadable."""
        return located(path, self.root, self.bucket)

    def lack(self, place: Located, action: FileAction) -> tuple[str, str] | None:
        """The key and reason of what is not there of a file and its deletion vector. Raises LogUnreadable."""
        lack = self._lack_of(place, action.size, at_least=False)
        if lack is not None or not (path := vector_path(action.vector)):
            return lack
        vector = action.vector or {}
        start, length = vector.get("offset") or 0, vector.get("sizeInBytes")
        if type(start) is not int or type(length) is not int:
            raise LogUnreadable(f"Version {action.version} names a deletion vector without its size.")
        return self._lack_of(self.located(path), start + length + _AROUND_A_VECTOR, at_least=True)

    def _lack_of(self, place: Located, size: int | None, *, at_least: bool) -> tuple[str, str] | None:
        # As readers take it: decoded once. That some writers leave keys as they are helps no reader.
        key = next(iter(place.keys), None)
        if key is not None and place.is_absolute:
            key = self.places(key)
        if key is None:
            return place.name, "elsewhere"
        found = self.size_of(key)
        if found is None:
            return key, "missing"
        fits = found >= (size or 0) if at_least else found == size
        return None if fits else (key, "other-size")


class Replay:
    """A table's state from version to version, with what of it cannot be had.

    `agrees` says whether another witness has the same state; where it does not, the log is read no further.
    """

    def __init__(self, base: int, files: TableFiles, agrees: Agrees | None = None) -> None:
        self._base, self._files, self._agrees = base, files, agrees
        self._live: dict[str, int] = {}
        self._bytes = 0
        self._lacking: dict[str, tuple[str, str, int]] = {}
        self._table_id = ""
        self._first: int | None = None
        self._last = base
        self._good: list[int] = []
        self._newest: TableAtVersion | None = None
        self._end: TableAtVersion | None = None
        self._blocked: list[Blocked] = []
        self._blocked_total = 0

    def begin(self, actions: Iterable[PlainAdds | LogAction]) -> None:
        """Take the state that the whole checkpoint of the base holds. Raises LogUnreadable."""
        for action in actions:
            if isinstance(action, PlainAdds):
                self._add_many(action, self._base)
            elif isinstance(action, TableId):
                self._table_id = action.id
            elif isinstance(action, FileAction) and action.is_add:
                self._add(action, *self._place_and_name(action), self._base)

    def apply(self, version: int, actions: Iterable[PlainAdds | LogAction]) -> None:
        """Go on to the next version. Raises LogUnreadable, and nothing of that version then counts."""
        whole = list(actions)
        # All of it is read before any of it counts, and what goes before what comes.
        files = [(one, *self._place_and_name(one)) for one in whole if isinstance(one, FileAction)]
        for action, _, name in files:
            if not action.is_add:
                self._remove(name, version)
        for action, place, name in files:
            if action.is_add:
                self._add(action, place, name, version)
        for one in whole:
            if isinstance(one, PlainAdds):
                self._add_many(one, version)
        self._table_id = next((one.id for one in whole if isinstance(one, TableId)), self._table_id)
        self._reached(version, whole)

    def stays(self, actions: Iterable[PlainAdds | LogAction]) -> None:
        """Count the checkpoint's own version as reached; the actions are those of its commit. Raises LogUnreadable."""
        self._reached(self._base, list(actions))

    def segment(self) -> Segment | None:
        """The versions that were reached; None for none."""
        if self._first is None or self._end is None:
            return None
        # What the newest version lacks is named first.
        earlier, self._blocked = self._blocked, []
        for lack in self._lacking.values():
            self._blocked_until(*lack, self._last)
        return Segment(
            self._base,
            self._first,
            self._last,
            tuple(self._good),
            self._newest,
            self._end,
            tuple([*self._blocked, *earlier][:MOST_BLOCKED]),
            self._blocked_total,
        )

    def _reached(self, version: int, actions: Iterable[PlainAdds | LogAction]) -> None:
        committed_at = next((one.at for one in actions if isinstance(one, CommitTime)), None)
        state = TableAtVersion(version, self._table_id, len(self._live), self._bytes, committed_at)
        if self._agrees is not None and not self._agrees(state):
            raise LogUnreadable(f"What the log says of version {version} is not what its .crc says.")
        self._first = version if self._first is None else self._first
        self._last, self._end = version, state
        if self._table_id and not self._lacking:
            self._good.append(version)
            self._newest = state

    def _place_and_name(self, action: FileAction) -> tuple[Located, str]:
        """Where the file lies, and what tells it from the same file with another deletion vector."""
        place = self._files.located(action.path)
        return place, f"{place.name}\0{vector_id(action.vector)}" if action.vector else place.name

    def _add(self, action: FileAction, place: Located, name: str, version: int) -> None:
        self._forget(name)
        self._live[name] = action.size or 0
        self._bytes += action.size or 0
        lack = self._files.lack(place, action)
        if lack is None:
            if name in self._lacking:
                del self._lacking[name]
        elif name not in self._lacking:
            self._lacking[name] = (*lack, version)

    def _add_many(self, adds: PlainAdds, version: int) -> None:
        """Add files whose paths are their keys below the root; one by one where some are there already."""
        below = f"{self._files.root}/" if self._files.root else ""
        names = [below + path for path in adds.paths]
        if len(set(names)) < len(names) or not self._live.keys().isdisjoint(names):
            for path, size in zip(*adds, strict=True):
                action = FileAction(version, True, path, None, None, size)
                self._add(action, *self._place_and_name(action), version)
            return
        self._live.update(zip(names, adds.sizes, strict=True))
        self._bytes += sum(adds.sizes)
        size_of = self._files.size_of
        for name, size in zip(names, adds.sizes, strict=True):
            if (found := size_of(name)) != size:
                self._lacking[name] = (name, "missing" if found is None else "other-size", version)

    def _remove(self, name: str, version: int) -> None:
        self._forget(name)
        if name in self._lacking:
            self._blocked_until(*self._lacking.pop(name), version - 1)

    def _forget(self, name: str) -> None:
        self._bytes -= self._live.pop(name, 0)

    def _blocked_until(self, key: str, reason: str, since: int, last: int) -> None:
        """Note what was not there from version `since` to `last`, as far as these versions were reached."""
        first = last + 1 if self._first is None else max(since, self._first)
        if first > last:
            return
        self._blocked_total += 1
        if len(self._blocked) < MOST_BLOCKED:
            self._blocked.append(Blocked(key, reason, first, last))


def ranges_of(versions: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Ascending versions as ranges, both ends included."""
    ranges: list[tuple[int, int]] = []
    for version in versions:
        if ranges and ranges[-1][1] == version - 1:
            ranges[-1] = (ranges[-1][0], version)
        else:
            ranges.append((version, version))
    return tuple(ranges)


def beginnings(listing: LogListing) -> list[int]:
    """Where reading can begin: -1 for the first commit, and the versions of whole checkpoints, ascending."""
    first = [-1] if 0 in listing.commits else []
    return [*first, *sorted(usable_checkpoints(listing))]


def as_the_source_has_it(
    copy: LogListing, source: LogListing, is_same: Callable[[LogObject, LogObject], bool]
) -> LogListing:
    """What of a copy's log is the source's object of that name.

    What the source no longer has is left out as well, since nothing tells whose it is.
    """

    def kept(of: Mapping[int, LogObject], originals: Mapping[int, LogObject]) -> dict[int, LogObject]:
        return {
            version: found
            for version, found in of.items()
            if (original := originals.get(version)) is not None and is_same(found, original)
        }

    parts = {one.name: one for of in source.checkpoints.values() for one in of}
    checkpoints = {
        version: same
        for version, of in copy.checkpoints.items()
        if (same := tuple(one for one in of if one.name in parts and is_same(one, parts[one.name])))
    }
    commits, checksums = kept(copy.commits, source.commits), kept(copy.checksums, source.checksums)
    return replace(copy, commits=commits, checkpoints=checkpoints, checksums=checksums)
