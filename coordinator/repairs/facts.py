"""What planning a repair rests on: all that is known of one table, read anew for it, and of whole files of its log."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from coordinator.protocols.verdict import Verdict
from coordinator.repairs.object_calls import Item
from lake.delta.actions import read_commit, read_commit_head
from lake.delta.checksum import read_checksum
from lake.delta.coordinator_properties import coordinator_table_id
from lake.delta.facts import LockDomain, ReadingProblem, TableFacts
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

    For a registration that is lost: `registered_path` is its path as Levee last read it, `enabled_as` the path under
    which Levee put the table under its coordinator, `path_scheme` is what somebody chose; "" for none.
    """

    facts: TableFacts
    verdict: Verdict
    lock_domains: tuple[LockDomain, ...] = ()
    coordinator: str = ""
    raw_registrations: Mapping[tuple[str, str], Item] = field(default_factory=dict)
    files: Mapping[str, FileCheck | None] = field(default_factory=dict)
    registered_path: str = ""
    enabled_as: str = ""
    path_scheme: str = ""
    account: str = ""


def check_file(name: str, data: bytes, etag: str) -> FileCheck:
    """Check the bytes of a commit or of a checksum; `name` is relative to `_delta_log/`. Never raises."""
    parsed = parse_name(name)
    version = parsed.version or 0
    sha256, md5 = hashlib.sha256(data).hexdigest(), hashlib.md5(data, usedforsecurity=False).hexdigest()
    if parsed.kind is NameKind.CHECKSUM:
        read = read_checksum(version, data)
        problems, transaction = _told(read.problems), read.transaction
        stamp = read.in_commit_timestamp
        return FileCheck(name, len(data), etag, sha256, 1, stamp, problems, transaction=transaction, md5=md5)
    commit, first = read_commit(version, data, name=name), read_commit_head(version, data, name=name)
    return FileCheck(
        name=name,
        size=len(data),
        etag=etag,
        sha256=sha256,
        lines=commit.info.lines,
        in_commit_timestamp=first.info.in_commit_timestamp,
        problems=_told((*first.problems, *commit.problems)),
        registration=coordinator_table_id(commit.metadata.properties) if commit.metadata else "",
        transaction=first.info.transaction,
        timestamp=first.info.timestamp,
        md5=md5,
    )


def _told(problems: Iterable[ReadingProblem]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{one.place}: {one.reason}" for one in problems))
