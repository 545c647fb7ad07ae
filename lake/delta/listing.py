"""Sorting a listing of `_delta_log/` into what each object is."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from lake.delta.facts import LogListing, LogObject
from lake.delta.names import LogName, NameKind, parse_name

_CHECKPOINTS = frozenset({NameKind.CHECKPOINT, NameKind.CHECKPOINT_PART, NameKind.CHECKPOINT_V2})
# Kinds that stand in the sequence of versions, so that a listing from a version on leaves out the earlier ones.
_SEQUENCE = _CHECKPOINTS | {NameKind.COMMIT, NameKind.CHECKSUM, NameKind.COMPACTED}
_IGNORED = frozenset({NameKind.MARKER, NameKind.HIDDEN})


class ListedObject(Protocol):
    """An object as a listing of the bucket gives it: whole key, bytes, aware UTC time, its storage class or ""."""

    @property
    def key(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def modified_at(self) -> datetime: ...
    @property
    def etag(self) -> str: ...
    @property
    def storage_class(self) -> str: ...


@dataclass(slots=True)
class _Sorted:
    commits: dict[int, LogObject] = field(default_factory=dict)
    checkpoints: defaultdict[int, list[LogObject]] = field(default_factory=lambda: defaultdict(list))
    checksums: dict[int, LogObject] = field(default_factory=dict)
    compacted: list[LogObject] = field(default_factory=list)
    last_checkpoint: LogObject | None = None
    temp_files: list[LogObject] = field(default_factory=list)
    staged: list[LogObject] = field(default_factory=list)
    other: list[LogObject] = field(default_factory=list)


def read_listing(
    objects: Iterable[ListedObject], log_key: str, from_version: int = 0, *, folders_listed: bool
) -> LogListing:
    """Sort listed objects by what their names say; a name that says nothing known goes to `other`, nothing raises.

    `log_key` is the prefix up to and including `_delta_log/`; objects outside it, and versions below `from_version`,
    are left out. `folders_listed` says whether `.tmp/` and the staged folders were part of the listing. Directory
    markers and dot-files are in no list but count in `total_bytes`. `checkpoints` holds every checkpoint object, the
    parts of an unfinished multi-part checkpoint too: `replay.usable_checkpoint` picks.
    """
    into = _Sorted()
    total_bytes = 0
    start = len(log_key)
    for listed in objects:
        if not listed.key.startswith(log_key):
            continue
        name = listed.key[start:]
        parsed = parse_name(name)
        if parsed.version is not None and parsed.version < from_version and parsed.kind in _SEQUENCE:
            continue
        total_bytes += listed.size
        found = LogObject(name, listed.size, listed.modified_at, listed.etag, listed.storage_class)
        if parsed.kind not in _IGNORED:
            _place(into, parsed, found)
        elif parsed.kind is NameKind.MARKER and listed.size > 0:
            into.other.append(found)
    return _listing(into, from_version, folders_listed, total_bytes)


def _place(into: _Sorted, parsed: LogName, found: LogObject) -> None:
    version = parsed.version
    if parsed.kind is NameKind.TEMP:
        into.temp_files.append(found)
    elif parsed.kind is NameKind.STAGED:
        into.staged.append(found)
    elif parsed.kind is NameKind.LAST_CHECKPOINT:
        into.last_checkpoint = found
    elif version is None:
        into.other.append(found)
    elif parsed.kind is NameKind.COMMIT:
        into.commits[version] = found
    elif parsed.kind is NameKind.CHECKSUM:
        into.checksums[version] = found
    elif parsed.kind is NameKind.COMPACTED:
        into.compacted.append(found)
    else:
        into.checkpoints[version].append(found)


def _listing(into: _Sorted, from_version: int, folders_listed: bool, total_bytes: int) -> LogListing:
    return LogListing(
        from_version=from_version,
        commits=dict(sorted(into.commits.items())),
        checkpoints={version: tuple(parts) for version, parts in sorted(into.checkpoints.items())},
        checksums=dict(sorted(into.checksums.items())),
        compacted=tuple(into.compacted),
        last_checkpoint=into.last_checkpoint,
        temp_files=tuple(into.temp_files) if folders_listed else None,
        staged=tuple(into.staged) if folders_listed else None,
        other=tuple(into.other),
        total_bytes=total_bytes,
    )
