"""What a sweep reads of one table: its temp files version by version, with all that tells which may go."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from coordinator.protocols.names import temp_file_version
from coordinator.protocols.orphans import life_of_entry, shortest_life
from coordinator.protocols.survivors import Fate, NamedFile, Proof, Said, Witnesses, WrittenAside, fate_of_temp
from coordinator.repairs.table_under_repair import moment_of
from lake.aws.errors import AwsError
from lake.aws.s3 import ObjectSummary
from lake.delta.actions import read_commit_head
from lake.delta.checksum import read_checksum
from lake.delta.facts import CommitInfo, LogObject
from lake.delta.log_store import read_entry
from lake.delta.names import NameKind, checksum_name, commit_name, parse_name
from lake.differences import first_difference

if TYPE_CHECKING:
    from coordinator.settings.sweep import SweepTable
    from lake.aws.access import Lake

MOST_COMPARED = 500
"""Temp files of one table compared with their published files in one sweep; the rest stays for the next."""
MOST_COMPARED_BYTES = 256 << 20
"""Bytes of temp files read for it."""
HEAD_BYTES = 64 << 10
"""Bytes of a commit among which its first line is looked for."""

_CHECKPOINTS = (NameKind.CHECKPOINT, NameKind.CHECKPOINT_PART, NameKind.CHECKPOINT_V2)
_UNGUARDED = Fate(Proof.UNPROVEN, "which lock guards its table is not known, so an entry elsewhere may name it")
_CONTESTED = Fate(Proof.NEEDED, "several locks gave its version to different commits")
_CLEANED = Fate(Proof.UNPROVEN, "its version was cleaned out of the log, and nothing is left to compare it with")


@dataclass(slots=True)
class Budget:
    """What a sweep of one table may still compare: files, and their bytes."""

    files: int
    size: int

    def take(self, size: int) -> bool:
        """Whether a file of this size may still be read; it counts from then on."""
        if self.files < 1 or size > self.size:
            return False
        self.files -= 1
        self.size -= size
        return True


@dataclass(frozen=True)
class TableLog:
    """The published log of a table as far as its temp files need it: `cleaned_to` is the version below which clean-up
    has removed all, which it does only behind a checkpoint. `checksums` are the versions that have a `.crc` file.
    """

    commits: Mapping[int, LogObject]
    checksums: frozenset[int] = frozenset()
    cleaned_to: int = 0


@dataclass(frozen=True)
class SweptVersion:
    """The temp files of one version, old and young; None for those whose name tells no version."""

    call: "SweepTable"
    lake: "Lake"
    version: int | None
    files: tuple[LogObject, ...]
    log: TableLog
    budget: Budget

    def fates(self) -> list[tuple[LogObject, Fate]]:
        """What may become of each file, by what is there now. Raises AwsError."""
        if self.version is None:
            return [(file, fate_of_temp(WrittenAside(file, None, None, None))) for file in self.files]
        named = self._named(self.version)
        if len({one.entry.temp_path for one in named}) > 1:
            return [(file, _CONTESTED) for file in self.files]
        published = self._published(self.version)
        life = shortest_life(life_of_entry(one.entry, published) for one in named)
        seen = self.call.recall(self.version)
        copies = {file.name: self._is_copy(file, published) for file in self.files}
        found = []
        for file in self.files:
            beside = any(copies[one.name] for one in self.files if one is not file)
            is_copy = copies[file.name]
            aside = WrittenAside(
                file, self.version, published, is_copy, named, seen, copy_beside=beside, life_seconds=life
            )
            found.append((file, self._fate(aside)))
        return found

    def _fate(self, aside: WrittenAside) -> Fate:
        fate, version = fate_of_temp(aside), aside.version
        if version is None or fate.proof in (Proof.NEEDED, Proof.COPIED):
            return fate
        if not self.call.is_guarded:
            return _UNGUARDED
        if fate.proof is Proof.NEVER_ACCEPTED:
            aside = replace(aside, written_at=self._written_at(version, aside.file))
            fate = fate_of_temp(aside)
        if fate.may_go:
            return fate
        if aside.published is None and version < self.log.cleaned_to:
            return _CLEANED
        if aside.is_copy is False and not aside.entries and self._witnesses_tell(version, aside.file):
            return fate_of_temp(replace(aside, witnessed=True))
        return fate

    def _written_at(self, version: int, file: LogObject) -> datetime:
        """When the file says itself that it was written; long ago where it does not, or was not read."""
        head = self._head(version, file.name) if self.budget.take(HEAD_BYTES) else None
        return moment_of(head.timestamp if head else None)

    def _named(self, version: int) -> list[NamedFile]:
        """The entries of a version under every spelling in every log store, each with its temp file."""
        by_name = {file.name: file for file in self.files}
        found = []
        for store, table_path in self.call.lock_domains:
            key = {"tablePath": {"S": table_path}, "fileName": {"S": commit_name(version)}}
            item = self.lake.dynamodb.get_item(store, key)
            if item is not None:
                entry = read_entry(item)
                found.append(NamedFile(entry, by_name.get(entry.temp_path or "")))
        return found

    def _published(self, version: int) -> LogObject | None:
        """The published file as it is now, for the listing may be old when its version's turn comes."""
        if version not in self.log.commits:
            return None
        found = self.lake.s3.head(self.call.bucket, self.call.folder + commit_name(version))
        return _log_object(self.call, found) if found else None

    def _is_copy(self, file: LogObject, published: LogObject | None) -> bool | None:
        if published is None:
            return None
        if file.size != published.size:
            return False
        if file.etag and file.etag == published.etag:
            return True
        if not self.budget.take(file.size):
            return None
        one, other = self._read(file.name), self._read(published.name)
        return None if one is None or other is None else first_difference(one, other) is None

    def _witnesses_tell(self, version: int, file: LogObject) -> bool:
        if version not in self.log.checksums or not self.budget.take(HEAD_BYTES):
            return False
        witnesses = Witnesses(version, self._checksum)
        published, own = self._said(version, commit_name(version)), self._said(version, file.name)
        return published is not None and own is not None and witnesses.tell(published, own)

    @cached_property
    def _checksum(self) -> Said | None:
        version = self.version or 0
        data = self._read(checksum_name(version))
        read = read_checksum(version, data) if data is not None else None
        return Said(read.transaction, read.in_commit_timestamp) if read and not read.problems else None

    def _said(self, version: int, name: str) -> Said | None:
        """What the first line of a commit says of its transaction."""
        head = self._head(version, name)
        return Said(head.transaction, head.in_commit_timestamp) if head else None

    def _head(self, version: int, name: str) -> CommitInfo | None:
        """What the first line of a commit says; None where it is not there, or none."""
        data = self._read(name, last=HEAD_BYTES - 1)
        head = read_commit_head(version, data, name=name) if data is not None else None
        return head.info if head and not head.problems else None

    def _read(self, name: str, last: int | None = None) -> bytes | None:
        first = 0 if last is not None else None
        try:
            return self.lake.s3.get(self.call.bucket, self.call.folder + name, first=first, last=last).data
        except AwsError as error:
            if error.is_missing:
                return None
            raise


def swept_versions(call: "SweepTable", lake: "Lake", before: datetime) -> Iterator[SweptVersion]:
    """Versions of which a temp file was last written before the limit, lowest first. Raises AwsError."""
    pages = lake.s3.list(call.bucket, f"{call.folder}.tmp/")
    files = [_log_object(call, one) for page in pages for one in page.objects if not one.key.endswith("/")]
    by_version: dict[int | None, list[LogObject]] = {}
    for file in files:
        by_version.setdefault(temp_file_version(file.name), []).append(file)
    old = {
        version: tuple(of_it) for version, of_it in by_version.items() if any(one.modified_at < before for one in of_it)
    }
    if not old:
        return
    log = read_log(call, lake, {version for version in old if version is not None})
    budget = Budget(MOST_COMPARED, MOST_COMPARED_BYTES)
    for version in sorted(old, key=lambda one: -1 if one is None else one):
        yield SweptVersion(call, lake, version, old[version], log, budget)


def read_log(call: "SweepTable", lake: "Lake", wanted: Iterable[int]) -> TableLog:
    """List the published log as far as the versions wanted reach. Raises AwsError."""
    versions = set(wanted)
    last = max(versions, default=-1)
    commits: dict[int, LogObject] = {}
    checksums: set[int] = set()
    first: int | None = None
    checkpoint = -1
    for one in (found for page in lake.s3.list(call.bucket, call.folder, delimiter="/") for found in page.objects):
        name = parse_name(one.key.removeprefix(call.folder))
        if name.version is None:
            continue
        if name.kind in _CHECKPOINTS:
            checkpoint = max(checkpoint, name.version)
        elif name.kind is NameKind.CHECKSUM and name.version in versions:
            checksums.add(name.version)
        elif name.kind is NameKind.COMMIT:
            first = name.version if first is None else first
            if name.version in versions:
                commits[name.version] = _log_object(call, one)
            if name.version > last:
                break
    return TableLog(commits, frozenset(checksums), min(first if first is not None else 0, checkpoint + 1))


def _log_object(call: "SweepTable", found: ObjectSummary) -> LogObject:
    return LogObject(found.key.removeprefix(call.folder), found.size, found.modified_at, found.etag)
