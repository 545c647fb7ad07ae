"""Reading files of one table's log: what protocol, properties and commit infos need, each object once."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import orjson

from coordinator.observation.targets import CUT, TableTarget
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.aws.s3 import ObjectBody
from lake.delta.actions import CommitActions, read_commit
from lake.delta.checkpoint import ReadRange, read_checkpoint_ends, read_checkpoint_state
from lake.delta.checksum import Checksum, read_checksum
from lake.delta.coordinator_properties import coordinator_store_name, coordinator_table_id
from lake.delta.facts import CommitInfo, LogListing, LogObject, ReadingProblem, Registration, TableProtocol
from lake.delta.names import commit_name
from lake.delta.replay import (
    HoldsState,
    ProtocolReads,
    fold_protocol,
    plan_protocol_reads,
    plan_staged_reads,
    usable_checkpoint,
)
from lake.delta.state import MetadataAction, ProtocolAction, StateParts, as_long
from lake.differences import first_difference

Found = TypeVar("Found")

NEWEST_DESCRIBED = 10
"""Commits whose own words (operation, engine) are read at first sight; later ones are read as they appear."""
MOST_DESCRIBED = 50
"""New commits described in one pass; a table that made more since the last look shows the newest of them."""
MOST_ANCHORS = 5
"""Checksums and checkpoints tried as a starting point, newest first, where they turn out to be unreadable."""
GONE = "It was listed, and has gone since."
MOST_COMMIT_BYTES = 32 << 20
"""A larger commit is read up to here: writers put protocol and metaData before the files they add."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two objects beside each other; `first_difference` counts bytes from 0, None where it was not reached."""

    equal: bool
    first_difference: int | None


class LogReader:
    """Reads for one table in one pass. What cannot be read goes to `problems`; a refusal by AWS is raised.

    `has_moved` tells that a file had gone which the listing holds: the log was cleaned up meanwhile, or damaged.
    """

    def __init__(self, lake: Lake, target: TableTarget, listing: LogListing) -> None:
        self.problems: list[ReadingProblem] = []
        self._lake = lake
        self._target = target
        self._listing = listing
        self._commits: dict[str, CommitActions | None] = {}
        self._parts_read: list[HoldsState] = []
        self.partly_read: set[int] = set()
        self.has_moved = False

    def published_protocol(self) -> TableProtocol | None:
        """Replay protocol and metaData up to the newest published version."""
        self._parts_read = self._published_parts()
        return fold_protocol(self._parts_read)

    def accepted_protocol(self, registrations: tuple[Registration, ...]) -> TableProtocol | None:
        """Replay them further, over the staged commits that the table's registration has accepted."""
        published = fold_protocol(self._parts_read)
        if published is None:
            return None
        registration = _registration_of(published, registrations)
        if registration is None:
            return published
        return fold_protocol([*self._parts_read, *self._staged_parts(registration)]) or published

    def commit_infos(self) -> dict[int, CommitInfo]:
        """Read what the newest commits say of themselves; of a known table, those that are new, and those that could
        not be read before.
        """
        known, listed = self._target.known, sorted(self._listing.commits)
        if known is None or known.published_version is None:
            wanted = listed[-NEWEST_DESCRIBED:]
        else:
            newer = [version for version in listed if version > known.published_version]
            wanted = (newer or listed[-1:])[-MOST_DESCRIBED:]
        again = [version for version in (known.unreadable if known else ()) if version in self._listing.commits]
        wanted = [*again[-MOST_DESCRIBED:], *wanted]
        read = (self._commit(version, commit_name(version), self._listing.commits[version].size) for version in wanted)
        staged = (commit for commit in self._commits.values() if commit is not None)
        return {commit.version: commit.info for commit in (*staged, *read) if commit is not None}

    def broken_checkpoints(self, *, whole_log: bool) -> dict[str, str]:
        """Why objects of the newest checkpoints are none, by name; one that is known is read again with the whole log.

        Older ones are looked at until a whole one is found, at most `MOST_ANCHORS` in all.
        """
        broken: dict[str, str] = {}
        named = {v: files for v, parts in self._listing.checkpoints.items() if (files := usable_checkpoint(parts))}
        for version in sorted(named, reverse=True)[:MOST_ANCHORS]:
            known = self._target.known.checkpoint_version if self._target.known else None
            if not whole_log and version == known:
                break
            troubles = {file.name: why for file in named[version] if (why := self._trouble(file))}
            broken |= troubles
            if not troubles:
                break
        return broken

    def hinted(self) -> int | None:
        """The version that `_last_checkpoint` names; None without one, or where it is no JSON: readers pass that by.

        None too where it was written anew since it was listed: it may name a checkpoint that came after the listing.
        """
        listed = self._listing.last_checkpoint
        found = self._get(listed.name) if listed else None
        if listed is None or found is None or found.etag != listed.etag:
            return None
        try:
            hint = orjson.loads(found.data)
        except orjson.JSONDecodeError:
            return None
        return as_long(hint.get("version")) if isinstance(hint, dict) else None

    def checksum_transactions(self, versions: Iterable[int]) -> dict[int, str]:
        """The transactions that `.crc` files name; those that name none, or have gone, are left out."""
        read = (self._checksum(version, self._listing.checksums[version]) for version in versions)
        return {checksum.version: checksum.transaction for checksum in read if checksum.transaction}

    def infos_of(self, versions: Iterable[int]) -> dict[int, CommitInfo]:
        """Read what these published versions say of themselves; one that has gone since is left out."""
        read = (self._commit(version, commit_name(version), self._size_of(version)) for version in versions)
        return {commit.version: commit.info for commit in read if commit is not None}

    def copy_infos(self, wanted: Iterable[tuple[int, str]]) -> dict[str, CommitInfo]:
        """Read what accepted copies say of themselves; one that has gone says nothing."""
        found = ((version, name, self._bytes(name)) for version, name in wanted)
        return {name: read_commit(version, data, name=name).info for version, name, data in found if data is not None}

    def heads(self, names: Iterable[str]) -> dict[str, LogObject | None]:
        """Look up single objects, names relative to `_delta_log/`; None for one that is absent."""
        return {name: self._head(name) for name in names}

    def comparisons(self, wanted: Iterable[tuple[int, str, str]]) -> dict[str, Comparison]:
        """Compare accepted copies with the published file of their version; by the copy's name."""
        compared = ((copy, self._compare(copy, published)) for _, copy, published in wanted)
        return {copy: comparison for copy, comparison in compared if comparison is not None}

    def copies(self, wanted: Iterable[tuple[str, str]]) -> dict[str, bool]:
        """Whether each first object holds the bytes of the second, by its name; one that has gone is left out."""
        compared = ((name, self._compare(name, published)) for name, published in wanted)
        return {name: comparison.equal for name, comparison in compared if comparison is not None}

    def _size_of(self, version: int) -> int | None:
        found = self._listing.commits.get(version)
        return found.size if found else None

    def _published_parts(self) -> list[HoldsState]:
        known = self._target.known.protocol if self._target.known else None
        listing = self._listing
        for attempt in range(MOST_ANCHORS + 1):
            plan = plan_protocol_reads(listing, known_version=known.version if known else None)
            parts = self._parts(plan, known)
            unreadable = (plan.checksum or plan.checkpoint) and not _is_whole(parts)
            if not unreadable or plan.anchor_version is None or attempt == MOST_ANCHORS:
                break
            listing = _without_anchor(listing, plan)
        self.problems += plan.problems
        return parts

    def _parts(self, plan: ProtocolReads, known: TableProtocol | None) -> list[HoldsState]:
        parts: list[HoldsState] = []
        if known is not None and plan.anchor_version == known.version:
            parts.append(_as_parts(known))
        if plan.checksum is not None:
            parts.append(self._checksum(plan.anchor_version or 0, plan.checksum))
        for found in plan.checkpoint:
            parts.append(self._checkpoint(found))
        for version, found in plan.commits:
            if commit := self._commit(version, found.name, found.size):
                parts.append(commit)
        return parts

    def _staged_parts(self, registration: Registration) -> list[HoldsState]:
        plan = plan_staged_reads(self._listing, registration)
        parts: list[HoldsState] = []
        for read in plan.commits:
            commit = next((c for name in read.names if (c := self._commit(read.version, name, None))), None)
            if commit is None:
                break
            parts.append(commit)
        return parts

    def _checksum(self, version: int, found: LogObject) -> Checksum:
        data = self._bytes(found.name)
        self.has_moved |= data is None
        return read_checksum(version, data) if data is not None else Checksum(version)

    def _checkpoint(self, found: LogObject) -> StateParts:
        try:
            state = read_checkpoint_state(self._ranges_of(found), found.size, found.name)
        except AwsError as error:
            if not error.is_missing:
                raise
            self.has_moved = True
            state = StateParts(-1, problems=(ReadingProblem(found.name, GONE),))
        self.problems += state.problems
        return state

    def _trouble(self, found: LogObject) -> str:
        """Why an object of a checkpoint is none, or which file is not listed that it stands on; "" for a whole one."""
        try:
            ends = read_checkpoint_ends(self._ranges_of(found), found.size, found.name)
        except AwsError as error:
            if not error.is_missing:
                raise
            self.has_moved = True
            return GONE
        # It may have been written anew since it was listed: a second look tells.
        self.has_moved |= bool(ends.trouble)
        there = {one.name for one in self._listing.other if one.size > 0}
        missing = [name for name in ends.sidecars if name not in there]
        if ends.trouble or not missing:
            return ends.trouble
        return f"It names {missing[0]}, which is not there{f', and {len(missing) - 1:,} more' if missing[1:] else ''}."

    def _ranges_of(self, found: LogObject) -> ReadRange:
        key = self._key(found.name)

        def read_range(first: int, last: int) -> bytes:
            return self._lake.s3.get(self._target.uri.bucket, key, first=first, last=last).data

        return read_range

    def _commit(self, version: int, name: str, size: int | None) -> CommitActions | None:
        if name not in self._commits:
            found = self._get(name)
            data = _whole_lines(found)
            self.has_moved |= data is None and size is not None
            if data is not None and size is not None and len(data) < size:
                self.partly_read.add(version)
                self.problems.append(ReadingProblem(name, f"{CUT} {len(data):,} of its {size:,} bytes were read."))
            commit = read_commit(version, data, name=name) if data is not None else None
            if commit is not None and found is not None:
                commit = replace(commit, info=replace(commit.info, etag=found.etag, digest=_digest(found)))
            self.problems += commit.problems if commit else ()
            self._commits[name] = commit
        return self._commits[name]

    def _bytes(self, name: str) -> bytes | None:
        return _whole_lines(self._get(name))

    def _compare(self, one: str, other: str) -> Comparison | None:
        """Compare two objects; None where one has gone, or both are too large and equal as far as they were read."""
        first, second = self._get(one), self._get(other)
        if first is None or second is None:
            return None
        where = first_difference(first.data, second.data)
        if where is None and first.size == second.size:
            return Comparison(True, None) if len(first.data) == first.size else None
        return Comparison(False, where)

    def _get(self, name: str) -> ObjectBody | None:
        try:
            return self._lake.s3.get(self._target.uri.bucket, self._key(name), first=0, last=MOST_COMMIT_BYTES - 1)
        except AwsError as error:
            if error.is_missing:
                return None
            raise

    def _head(self, name: str) -> LogObject | None:
        found = self._lake.s3.head(self._target.uri.bucket, self._key(name))
        return LogObject(name, found.size, found.modified_at, found.etag) if found else None

    def _key(self, name: str) -> str:
        return self._target.uri.log_key + name


def _whole_lines(found: ObjectBody | None) -> bytes | None:
    """The object's bytes, of a huge one those of its first whole lines; None where it has gone since listed."""
    if found is None or len(found.data) == found.size:
        return found.data if found else None
    return found.data[: found.data.rfind(b"\n") + 1]


def _digest(found: ObjectBody) -> str | None:
    """MD5, as an ETag has it wherever S3 makes one of the bytes alone; None where not all of them were read."""
    return hashlib.md5(found.data, usedforsecurity=False).hexdigest() if len(found.data) == found.size else None


def _registration_of(protocol: TableProtocol, registrations: tuple[Registration, ...]) -> Registration | None:
    table_id, store = coordinator_table_id(protocol.properties), coordinator_store_name(protocol.properties)
    return next((one for one in registrations if (one.store, one.table_id) == (store, table_id)), None)


def _is_whole(parts: Iterable[HoldsState]) -> bool:
    return fold_protocol(parts) is not None


def _without_anchor(listing: LogListing, plan: ProtocolReads) -> LogListing:
    """Leave out a starting point that could not be read, so that the next plan takes an older one."""
    if plan.checksum is not None:
        return replace(listing, checksums=_without(listing.checksums, plan.anchor_version))
    return replace(listing, checkpoints=_without(listing.checkpoints, plan.anchor_version))


def _without(found: Mapping[int, Found], version: int | None) -> dict[int, Found]:
    return {key: value for key, value in found.items() if key != version}


def _as_parts(known: TableProtocol) -> StateParts:
    properties: Mapping[str, str] = known.properties
    return StateParts(
        known.version,
        ProtocolAction(known.reader_version, known.writer_version, known.reader_features, known.writer_features),
        MetadataAction(known.table_id, known.name, known.partition_columns, properties, known.created_at),
    )
