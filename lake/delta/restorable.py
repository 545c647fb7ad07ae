"""Which versions of a table a set of objects gives back, in one pass over its log.

A version can be restored where the log leads to it without a gap, from the first commit or a whole checkpoint on, and
every file that it has is there with its size. As a data file has a unique name and is never overwritten, and a version
follows from the log up to it alone, a reader of these objects then sees what that version was. Source: PROTOCOL.md of
Delta 4.4.0, "Action Reconciliation"; `.crc` files, where there are any, are asked whether they agree.

Everything here is pure; `lake.delta.proving` reads.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from lake.delta.facts import LogListing, LogObject, ReadingProblem
from lake.delta.file_actions import (
    CommitTime,
    FileAction,
    Located,
    LogAction,
    LogUnreadable,
    ReaderVersion,
    TableId,
    located,
    path_of_vector,
    vector_id,
    vector_path,
)
from lake.delta.many_files import PlainAdds
from lake.delta.names import SIDECAR_FOLDER
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


class Contradiction(LogUnreadable):
    """Two witnesses of one version do not agree: what follows may be of another table."""


class Blocked(NamedTuple):
    """A file without which versions `first` to `last` cannot be restored; `reason` is one of REASONS."""

    key: str
    reason: str
    first: int
    last: int


REASONS = {
    "missing": "it is not in the backup",
    "other-size": "it has another size in the backup than the log says",
    "elsewhere": "the log names it by a place outside of what is proven",
    "no-size": "the log does not say its size",
}


@dataclass(frozen=True, slots=True)
class TableAtVersion:
    """A table at one version: its id, how many data files it has, their bytes, and when the commit was made.

    `committed_at` is epoch milliseconds, None where the commit does not say or was not read; `has_own_time` says that
    it is an in-commit timestamp, by which readers go, and not by when the commit's object was written.
    """

    version: int
    table_id: str
    files: int
    bytes: int
    committed_at: int | None
    has_own_time: bool = False

    @property
    def in_commit_timestamp(self) -> int | None:
        """Epoch milliseconds; None where the commit has none."""
        return self.committed_at if self.has_own_time else None


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive versions of a log from `first` on, read from a checkpoint of `base`, or from the first commit (-1).

    `good` are those whose files are all there, ascending; `newest` is the state at the last of them, `end` that at the
    last version of all. `blocked` are what the others lack, the newest first, `blocked_total` of them.
    """

    base: int
    first: int
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

    def lack(self, action: FileAction) -> tuple[str, str] | None:
        """The key and reason of what is not there of a file and its deletion vector. Raises LogUnreadable."""
        place = self.located(action.path)
        lack = self._lack_of(place, action.size, at_least=False)
        if lack is not None or not (path := vector_path(action.vector)):
            return lack
        vector = action.vector or {}
        start, length = vector.get("offset") or 0, vector.get("sizeInBytes")
        if type(start) is not int or type(length) is not int or min(start, length) < 0:
            raise LogUnreadable(f"Version {action.version} names a deletion vector without its place and size.")
        return self._lack_of(self.located(path), start + length + _AROUND_A_VECTOR, at_least=True)

    def key_of(self, place: Located) -> str | None:
        """The key in the backup, None where that cannot have it."""
        # As readers take it: decoded once. That some writers leave keys as they are helps no reader.
        key = next(iter(place.keys), None)
        return self.places(key) if key is not None and place.is_absolute else key

    def _lack_of(self, place: Located, size: int | None, *, at_least: bool) -> tuple[str, str] | None:
        key = self.key_of(place)
        if key is None:
            return place.name, "elsewhere"
        found = self.size_of(key)
        if found is None:
            return key, "missing"
        if size is None:
            return key, "no-size"
        fits = found >= size if at_least else found == size
        return None if fits else (key, "other-size")


class Replay:
    """A table's state from version to version, with what of it cannot be had.

    A file is told from others by the log's own text of its path, as readers do. `agrees` says whether another witness
    has the same state of a version.
    """

    def __init__(self, base: int, files: TableFiles, agrees: Agrees) -> None:
        self._base, self._files, self._agrees = base, files, agrees
        self._live: dict[str, int] = {}
        self._bytes = 0
        self._lacking: dict[str, tuple[str, str, int]] = {}
        self._table_id = ""
        self._is_readable = False
        self._first: int | None = None
        self._good: list[int] = []
        self._newest: TableAtVersion | None = None
        self._end: TableAtVersion | None = None
        self._blocked: deque[Blocked] = deque(maxlen=MOST_BLOCKED)
        self._blocked_total = 0

    def begin(self, actions: Iterable[PlainAdds | LogAction]) -> None:
        """Take the state that the whole checkpoint of the base holds. Raises LogUnreadable."""
        added = 0
        for action in actions:
            added += sum(1 for _ in _added([action]))
            self._take(action, self._base)
        if added != len(self._live):
            raise LogUnreadable(f"The checkpoint of version {self._base} names a file twice.")

    def stays(self, actions: Iterable[PlainAdds | LogAction]) -> None:
        """Count the checkpoint's own version as reached; the actions are those of its commit. Raises LogUnreadable."""
        whole = list(actions)
        added = set(_added(whole))
        removed = {_name(one) for one in whole if isinstance(one, FileAction) and not one.is_add} - added
        ids = {one.id for one in whole if isinstance(one, TableId)} - {self._table_id}
        if ids or not added <= self._live.keys() or not self._live.keys().isdisjoint(removed):
            raise Contradiction(f"The checkpoint of version {self._base} is not of a table with this commit.")
        self._reached(self._base, whole)

    def apply(self, version: int, actions: Iterable[PlainAdds | LogAction]) -> None:
        """Go on to the next version. Raises LogUnreadable, and nothing of that version then counts."""
        whole = list(actions)  # read to its end before any of it counts
        for action in whole:
            if isinstance(action, FileAction) and not action.is_add:
                self._remove(_name(action), version)
        for action in whole:
            self._take(action, version)
        self._reached(version, whole)

    def segment(self) -> Segment | None:
        """The versions that were reached; None for none."""
        if self._first is None or self._end is None:
            return None
        for lack in self._lacking.values():
            self._blocked_until(*lack, self._end.version)
        blocked, self._lacking = tuple(reversed(self._blocked)), {}
        return Segment(
            self._base, self._first, tuple(self._good), self._newest, self._end, blocked, self._blocked_total
        )

    def objects(self) -> dict[str, str | None]:
        """The objects that the last version has, data files and those of deletion vectors, by their keys in the backup.

        Of each its path below the table, None where the log names it in full. Raises LogUnreadable.
        """
        found: dict[str, str | None] = {}
        below = len(self._files.root) + 1 if self._files.root else 0
        for name in self._live:
            path, _, vector = name.partition("\0")
            for one in filter(None, (path, path_of_vector(vector) if vector else "")):
                place = self._files.located(one)
                key = self._files.key_of(place)
                if key is None:
                    raise LogUnreadable(f"The log names {place.name} by a place outside of what is proven.")
                found[key] = None if place.is_absolute else key[below:]
        return found

    def _reached(self, version: int, actions: Iterable[PlainAdds | LogAction]) -> None:
        made = next((one for one in actions if isinstance(one, CommitTime)), None)
        state = TableAtVersion(
            version,
            self._table_id,
            len(self._live),
            self._bytes,
            made.at if made else None,
            has_own_time=made is not None and made.is_in_commit,
        )
        if not self._agrees(state):
            raise Contradiction(f"What the log says of version {version} is not what its .crc says.")
        self._first = version if self._first is None else self._first
        self._end = state
        if self._table_id and self._is_readable and not self._lacking:
            self._good.append(version)
            self._newest = state

    def _take(self, action: PlainAdds | LogAction, version: int) -> None:
        if isinstance(action, PlainAdds):
            self._add_many(action, version)
        elif isinstance(action, FileAction) and action.is_add:
            self._add(action, version)
        elif isinstance(action, TableId):
            self._table_id = action.id
        elif isinstance(action, ReaderVersion):
            self._is_readable = True

    def _add(self, action: FileAction, version: int) -> None:
        name = _name(action)
        self._forget(name, version)
        self._live[name] = action.size or 0
        self._bytes += action.size or 0
        if (lack := self._files.lack(action)) is not None:
            self._lacking[name] = (*lack, version)

    def _add_many(self, adds: PlainAdds, version: int) -> None:
        """Add files whose paths are their keys below the root; one by one where some are there already."""
        if len(set(adds.paths)) < len(adds.paths) or not self._live.keys().isdisjoint(adds.paths):
            for path, size in zip(*adds, strict=True):
                self._add(FileAction(version, True, path, None, None, size), version)
            return
        self._live.update(zip(*adds, strict=True))
        self._bytes += sum(adds.sizes)
        below, size_of = f"{self._files.root}/" if self._files.root else "", self._files.size_of
        for path, size in zip(*adds, strict=True):
            if (found := size_of(below + path)) != size:
                self._lacking[path] = (below + path, "missing" if found is None else "other-size", version)

    def _remove(self, name: str, version: int) -> None:
        if name not in self._live:
            path = name.partition("\0")[0]
            raise Contradiction(
                f"Version {version} removes {path}, which the table does not have: it may be another's."
            )
        self._forget(name, version)

    def _forget(self, name: str, version: int) -> None:
        """Let go of a file before a version."""
        self._bytes -= self._live.pop(name, 0)
        if name in self._lacking:
            self._blocked_until(*self._lacking.pop(name), version - 1)

    def _blocked_until(self, key: str, reason: str, since: int, last: int) -> None:
        """Note what was not there from version `since` to `last`, as far as these versions were reached."""
        first = last + 1 if self._first is None else max(since, self._first)
        if first <= last:
            self._blocked_total += 1
            self._blocked.append(Blocked(key, reason, first, last))


def _name(action: FileAction) -> str:
    """What tells a file from others, and from itself with another deletion vector."""
    return f"{action.path}\0{vector_id(action.vector)}" if action.vector else action.path


def _added(actions: Iterable[PlainAdds | LogAction]) -> Iterator[str]:
    for action in actions:
        if isinstance(action, PlainAdds):
            yield from action.paths
        elif isinstance(action, FileAction) and action.is_add:
            yield _name(action)


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


def newest_of(listing: LogListing) -> int | None:
    """The newest version of any commit or whole checkpoint."""
    return max((*listing.commits, *usable_checkpoints(listing)), default=None)


def with_accepted(listing: LogListing, unpublished: Mapping[int, str]) -> LogListing:
    """The listing as if accepted commits were published: each version from the file that holds it, where that is there.
    Who publishes a commit copies that file."""
    waiting = {one.name: one for one in (*(listing.staged or ()), *(listing.temp_files or ()))}
    found = {version: waiting[name] for version, name in unpublished.items() if name in waiting}
    return replace(listing, commits={**listing.commits, **found})


def as_the_source_has_it(
    copy: LogListing, source: LogListing, is_same: Callable[[LogObject, LogObject], bool]
) -> tuple[LogListing, list[ReadingProblem]]:
    """What of a copy's log is the source's object of that name, and what is not.

    What the source no longer has is left out as well, since nothing tells whose it is.
    """
    originals = {one.name: one for one in objects_of(source)}
    same = {one.name for one in objects_of(copy) if one.name in originals and is_same(one, originals[one.name])}
    problems = [
        ReadingProblem(one.name, "It is not known to be the source's object of that name.")
        for one in objects_of(copy)
        if one.name in originals and one.name not in same
    ]

    def kept(of: Mapping[int, LogObject]) -> dict[int, LogObject]:
        return {version: found for version, found in of.items() if found.name in same}

    checkpoints = {
        version: left
        for version, of in copy.checkpoints.items()
        if (left := tuple(one for one in of if one.name in same))
    }
    other = tuple(one for one in copy.other if one.name in same)
    commits, checksums = kept(copy.commits), kept(copy.checksums)
    return replace(copy, commits=commits, checkpoints=checkpoints, checksums=checksums, other=other), problems


def objects_of(listing: LogListing) -> Iterator[LogObject]:
    """The objects that a proof may read."""
    yield from listing.commits.values()
    yield from (one for of in listing.checkpoints.values() for one in of)
    yield from listing.checksums.values()
    yield from (one for one in listing.other if one.name.startswith(SIDECAR_FOLDER))
