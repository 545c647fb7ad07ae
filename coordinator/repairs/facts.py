"""What planning a repair rests on: all that is known of one table, read anew for it, and of whole files of its log."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from coordinator.protocols.verdict import Verdict
from coordinator.repairs.object_calls import Item
from lake.delta.actions import read_commit, read_commit_head
from lake.delta.checksum import read_checksum
from lake.delta.coordinator_properties import coordinator_table_id
from lake.delta.facts import LockDomain, TableFacts
from lake.delta.names import NameKind, parse_name


@dataclass(frozen=True, slots=True)
class FileCheck:
    """What reading a whole file said: `name` is relative to `_delta_log/`, `size` in bytes, `lines` its actions.

    `problems` is empty where every line parses and the first action may begin a commit. `in_commit_timestamp` is in
    epoch milliseconds, None where the first line has none; `transaction` is its `txnId`, "" where it has none. Of a
    checksum file `lines` is 1, and both are its own. `md5` is that of its bytes in hexadecimal, as provenance holds it.
    `registration` is the tableId that its metaData names. `timestamp` is when its writer says that it was written,
    in epoch milliseconds.
    """

    name: str
    size: int
    etag: str
    sha256: str
    lines: int
    in_commit_timestamp: int | None = None
    problems: tuple[str, ...] = ()
    registration: str = ""
    transaction: str = ""
    md5: str = ""
    timestamp: int | None = None


@dataclass(frozen=True, slots=True)
class RepairFacts:
    """All that planning knows of one table, read anew for it.

    `lock_domains` are all that the table has, and had since it is known: entries expire. `coordinator` is the DynamoDB
    table that the properties name, "" where they name none of this connection. `account` is that of the role which the
    connection assumes, "" where it assumes none. `raw_registrations` are the items as
    read, by DynamoDB table and tableId. `files` are the files that `wanted_files` asked for; None stands for one that
    is absent.

    For a registration that is lost: `registered_path` is its path as Levee last read it, `path_scheme` is what somebody
    chose; "" for none.
    """

    facts: TableFacts
    verdict: Verdict
    lock_domains: tuple[LockDomain, ...] = ()
    coordinator: str = ""
    raw_registrations: Mapping[tuple[str, str], Item] = field(default_factory=dict)
    files: Mapping[str, FileCheck | None] = field(default_factory=dict)
    registered_path: str = ""
    path_scheme: str = ""
    account: str = ""


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
