"""What a whole file of the log says of itself, before a repair rests on it."""

import hashlib

from coordinator.repairs.facts import FileCheck
from lake.delta.actions import read_commit, read_commit_head
from lake.delta.checksum import read_checksum
from lake.delta.coordinator_properties import coordinator_table_id
from lake.delta.names import NameKind, parse_name


def check_file(name: str, data: bytes, etag: str) -> FileCheck:
    """Check the bytes of a commit or of a checksum; `name` is relative to `_delta_log/`. Never raises."""
    parsed = parse_name(name)
    version = parsed.version or 0
    if parsed.kind is NameKind.CHECKSUM:
        return _check_checksum(name, version, data, etag)
    commit = read_commit(version, data, name=name)
    first = read_commit_head(version, data, name=name)
    problems = dict.fromkeys(f"{p.place}: {p.reason}" for p in (*first.problems, *commit.problems))
    return FileCheck(
        name=name,
        size=len(data),
        etag=etag,
        sha256=hashlib.sha256(data).hexdigest(),
        lines=commit.info.lines,
        in_commit_timestamp=first.info.in_commit_timestamp,
        problems=tuple(problems),
        registration=coordinator_table_id(commit.metadata.properties) if commit.metadata else "",
        transaction=first.info.transaction,
        timestamp=first.info.timestamp,
        md5=hashlib.md5(data, usedforsecurity=False).hexdigest(),
    )


def _check_checksum(name: str, version: int, data: bytes, etag: str) -> FileCheck:
    read = read_checksum(version, data)
    return FileCheck(
        name=name,
        size=len(data),
        etag=etag,
        sha256=hashlib.sha256(data).hexdigest(),
        lines=1,
        in_commit_timestamp=read.in_commit_timestamp,
        problems=tuple(f"{p.place}: {p.reason}" for p in read.problems),
        transaction=read.transaction,
        md5=hashlib.md5(data, usedforsecurity=False).hexdigest(),
    )
