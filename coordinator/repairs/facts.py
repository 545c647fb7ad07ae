"""What planning a repair rests on: all that is known of one table, read anew for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from coordinator.protocols.verdict import Verdict
from coordinator.repairs.object_calls import Item
from lake.delta.facts import LockDomain, TableFacts


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
    which Levee itself put the table under its coordinator, `sibling_paths` are those of the coordinator's other tables,
    `path_scheme` is what somebody chose; "" for none.
    """

    facts: TableFacts
    verdict: Verdict
    lock_domains: tuple[LockDomain, ...] = ()
    coordinator: str = ""
    raw_registrations: Mapping[tuple[str, str], Item] = field(default_factory=dict)
    files: Mapping[str, FileCheck | None] = field(default_factory=dict)
    registered_path: str = ""
    enabled_as: str = ""
    sibling_paths: tuple[str, ...] = ()
    path_scheme: str = ""
    account: str = ""
