"""Look-ups in what was read of `_delta_log/`: present, absent, or not looked at."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from coordinator.protocols.names import (
    STAGED_FOLDERS,
    is_entry_of,
    is_version,
    names_place,
    staged_file_version,
    temp_file_version,
    written_for,
)
from lake.delta.facts import CommitInfo, LogObject, ReadingProblem, TableFacts
from lake.delta.names import NameKind, commit_name, parse_name
from lake.delta.replay import usable_checkpoint


@dataclass(frozen=True, slots=True)
class ObjectPresence:
    """One object: `present` is None where nobody looked; `name` is relative to `_delta_log/`."""

    name: str
    present: bool | None
    object: LogObject | None = None

    @property
    def size(self) -> int | None:
        return self.object.size if self.object else None

    @property
    def modified_at(self) -> datetime | None:
        return self.object.modified_at if self.object else None


@dataclass(frozen=True)
class LogView:
    """A table's facts with the questions that both protocols ask of them.

    Objects that were looked up singly are newer than the listing and win over it. Versions that Delta cannot have are
    left out.
    """

    facts: TableFacts

    @cached_property
    def published(self) -> Mapping[int, LogObject]:
        """`<version>.json` by version."""
        listed = {v: o for v, o in self.facts.listing.commits.items() if is_version(v)}
        for name, found in self.facts.heads.items():
            parsed = parse_name(name)
            if parsed.kind is not NameKind.COMMIT or parsed.version is None:
                continue
            if found is None:
                listed.pop(parsed.version, None)
            else:
                listed[parsed.version] = found
        return listed

    @cached_property
    def newest(self) -> int | None:
        return max(self.published, default=None)

    @cached_property
    def readable(self) -> int | None:
        """The newest version that readers of the log alone can have: of a log without commits its checkpoint's."""
        return self.newest if self.newest is not None else self.checkpoint

    @cached_property
    def base(self) -> int:
        """The version on which the next commit stands: the newest readable one, -1 for a log without any.

        Where only a tail without commits was listed, it is the version before that tail.
        """
        return self.readable if self.readable is not None else self.facts.listing.from_version - 1

    @cached_property
    def oldest(self) -> int | None:
        return min(self.published, default=None)

    @cached_property
    def checkpoint(self) -> int | None:
        """Newest version with a whole checkpoint, none of whose objects was found to be broken."""
        return max((v for v, files in self._named_checkpoints.items() if not self._is_broken(files)), default=None)

    @cached_property
    def newest_named_checkpoint(self) -> int | None:
        """Newest version with a whole checkpoint by names and sizes, which is what readers go by."""
        return max(self._named_checkpoints, default=None)

    @cached_property
    def is_empty(self) -> bool | None:
        """Whether nothing at all lies under `_delta_log/`; None where not all of it was listed."""
        log = self.facts.listing
        if log.commits or log.checkpoints or log.checksums or log.compacted or log.last_checkpoint or log.other:
            return False
        if log.temp_files or log.staged or any(self.facts.heads.values()):
            return False
        return None if log.from_version or log.temp_files is None or log.staged is None else True

    def file(self, version: int) -> ObjectPresence:
        """The published file of a version."""
        name = commit_name(version)
        if version in self.published:
            return ObjectPresence(name, True, self.published[version])
        if name in self.facts.heads or version >= self.facts.listing.from_version:
            return ObjectPresence(name, False)
        return ObjectPresence(name, None)

    def info(self, version: int) -> CommitInfo | None:
        """What the published file of a version says of itself; None where it was not read, or is another by now."""
        info, file = self.facts.commit_infos.get(version), self.published.get(version)
        return info if info is not None and file is not None and info.etag == file.etag else None

    def temp(self, name: str) -> ObjectPresence:
        """A temp file, by the name its entry gives."""
        if name in self.facts.heads:
            return ObjectPresence(name, self.facts.heads[name] is not None, self.facts.heads[name])
        found = self._set_aside.get(name)
        if found is not None:
            return ObjectPresence(name, True, found)
        return ObjectPresence(name, None if self.facts.listing.temp_files is None else False)

    def staged(self, file_name: str) -> ObjectPresence:
        """A staged file in whichever of the two folders holds it; the first folder's name where neither does."""
        names = [f"{folder}/{file_name}" for folder in STAGED_FOLDERS]
        for name in names:
            found = self.facts.heads[name] if name in self.facts.heads else self._set_aside.get(name)
            if found is not None:
                return ObjectPresence(name, True, found)
        looked_at_all = self.facts.listing.staged is not None or all(name in self.facts.heads for name in names)
        return ObjectPresence(names[0], False if looked_at_all else None)

    @cached_property
    def temp_by_version(self) -> Mapping[int, Sequence[LogObject]]:
        """The listed temp files whose names tell a version."""
        return _by_version(self.facts.listing.temp_files, temp_file_version)

    @cached_property
    def staged_by_version(self) -> Mapping[int, Sequence[LogObject]]:
        """The listed staged files of each version, in either folder."""
        return _by_version(self.facts.listing.staged, staged_file_version)

    def staged_of(self, version: int) -> Sequence[LogObject]:
        """Every staged file of a version, in either folder."""
        return self.staged_by_version.get(version, ())

    @cached_property
    def newest_staged(self) -> Mapping[str, int]:
        """The newest version staged in each folder that holds staged files."""
        newest: dict[str, int] = {}
        for version, files in self.staged_by_version.items():
            for folder in (file.name.partition("/")[0] for file in files):
                newest[folder] = max(version, newest.get(folder, -1))
        return newest

    def is_cleaned(self, version: int) -> bool:
        """Whether log clean-up explains that the version has no file: later ones exist and a checkpoint covers it."""
        if self.oldest is None or version >= self.oldest:
            return False
        return self.facts.listing.from_version > version or (self.checkpoint is not None and self.checkpoint >= version)

    def age(self, moment: datetime | None) -> float | None:
        """Seconds between a moment and the observation."""
        return (self.facts.observed_at - moment).total_seconds() if moment else None

    def equal(self, version: int, one: ObjectPresence, other: ObjectPresence) -> bool | None:
        """Whether the published file of a version and an accepted copy hold the same bytes; None: not compared."""
        if one.object and other.object and one.object.size != other.object.size:
            return False
        return self.facts.equal_bytes.get(other.name if one.name == commit_name(version) else one.name)

    @cached_property
    def knows_log_store(self) -> bool:
        """Whether a log store that was asked holds entries of this table, or held some: then absent ones say so."""
        uri = self.facts.uri
        return self.facts.had_entries or any(
            names_place(domain.path, uri) or is_entry_of(one, uri)
            for domain, entries in self.facts.entries.items()
            for one in entries
        )

    def is_copy(self, file: LogObject) -> bool | None:
        """Whether a temp or staged file holds the bytes of its version's published file; None where that is not known.

        An equal ETag of equal sizes proves equal bytes. An unequal one proves nothing: under a key of its own for each
        object (SSE-KMS) S3 gives every object another.
        """
        version = written_for(file.name)
        published = self.published.get(version) if version is not None else None
        if published is None:
            return None
        if file.name in self.facts.copies:
            return self.facts.copies[file.name]
        if file.size != published.size:
            return False
        return True if file.etag and file.etag == published.etag else None

    @cached_property
    def temp_copies(self) -> Mapping[int, set[bool | None]]:
        """Of each published version with temp files whether these hold its bytes, as `is_copy` says of each."""
        files = self.temp_by_version.items()
        return {version: set(map(self.is_copy, of_it)) for version, of_it in files if version in self.published}

    def unread(self, what: str) -> ReadingProblem | None:
        """The problem that kept a whole fact (listing, entries, registrations, protocol) from being read."""
        return next((p for p in self.facts.problems if p.place == what or p.place.startswith(f"{what} ")), None)

    @cached_property
    def _named_checkpoints(self) -> Mapping[int, Sequence[LogObject]]:
        checkpoints = self.facts.listing.checkpoints
        return {version: files for version, parts in checkpoints.items() if (files := usable_checkpoint(parts))}

    def _is_broken(self, files: Sequence[LogObject]) -> bool:
        return any(file.name in self.facts.broken for file in files)

    @cached_property
    def _set_aside(self) -> Mapping[str, LogObject]:
        """The listed temp and staged files by name."""
        listing = self.facts.listing
        return {one.name: one for one in (*(listing.temp_files or ()), *(listing.staged or ()))}


def _by_version(
    files: Iterable[LogObject] | None, version_of: Callable[[str], int | None]
) -> Mapping[int, Sequence[LogObject]]:
    found: dict[int, list[LogObject]] = {}
    for file in files or ():
        version = version_of(file.name)
        if version is not None:
            found.setdefault(version, []).append(file)
    return found
