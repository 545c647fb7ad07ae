"""What was read of one Delta table: plain, frozen facts that diagnosis judges and observation stores.

Versions are ints, sizes bytes, times aware datetimes in UTC, durations seconds. A fact that was not read is None and
never a guess; a fact that was read and is absent is an empty collection or a False.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Mechanism(StrEnum):
    """How a table's commits are made exclusive."""

    LOG_STORE = "log_store"
    COORDINATED_COMMITS = "coordinated_commits"
    SINGLE_DRIVER = "single_driver"
    CATALOG_MANAGED = "catalog_managed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class LogObject:
    """One object under `_delta_log/`; `name` is relative to that folder."""

    name: str
    size: int
    modified_at: datetime
    etag: str


@dataclass(frozen=True, slots=True)
class LogListing:
    """A listing of `_delta_log/` from `from_version` on (0: all of it).

    `commits` maps version to its `<version>.json`. `temp_files` holds `.tmp/` objects and delta-rs'
    `_commit_*.json.tmp`; `staged` holds files of `_staged_commits/` and `_commits/` (markers left out). Both are None
    where those folders were not listed.
    """

    from_version: int
    commits: Mapping[int, LogObject]
    checkpoints: Mapping[int, tuple[LogObject, ...]] = field(default_factory=dict)
    checksums: Mapping[int, LogObject] = field(default_factory=dict)
    compacted: tuple[LogObject, ...] = ()
    last_checkpoint: LogObject | None = None
    temp_files: tuple[LogObject, ...] | None = None
    staged: tuple[LogObject, ...] | None = None
    other: tuple[LogObject, ...] = ()
    total_bytes: int = 0

    @property
    def newest_version(self) -> int | None:
        return max(self.commits, default=None)


@dataclass(frozen=True, slots=True)
class LogStoreEntry:
    """An item of S3DynamoDBLogStore (delta-storage-s3-dynamodb 2.2 to 4.4: `ExternalCommitEntry`).

    `problems` names each attribute whose value is not as the protocol has it ("complete is BOOL, not the text …").
    `complete` is None where it cannot be read. `expire_time` and `commit_time` are epoch seconds; a `commit_time` marks
    a writer of release 2.1 or older. `temp_path` is relative to `_delta_log/`.
    """

    table_path: str
    file_name: str
    version: int | None
    temp_path: str | None
    complete: bool | None
    expire_time: int | None = None
    commit_time: int | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CoordinatorCommit:
    """One element of a registration's `commits`: accepted and not yet cleared. Timestamps are epoch milliseconds."""

    version: int
    file_name: str
    size: int | None
    in_commit_timestamp: int | None
    file_timestamp: int | None


@dataclass(frozen=True, slots=True)
class Registration:
    """An item of the DynamoDB commit coordinator (Delta 3.3 to 4.4). Booleans are None where they cannot be read."""

    table_id: str
    path: str
    table_version: int | None
    table_timestamp: int | None
    accepting_commits: bool | None
    has_accepted_commits: bool | None
    schema_version: int | None
    commits: tuple[CoordinatorCommit, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableProtocol:
    """Protocol and metaData of the newest readable version: `protocol` and `metaData` actions, newest wins."""

    version: int
    reader_version: int
    writer_version: int
    reader_features: tuple[str, ...] = ()
    writer_features: tuple[str, ...] = ()
    table_id: str = ""
    name: str = ""
    partition_columns: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """What a commit file says of itself. Timestamps are epoch milliseconds; `lines` counts its actions."""

    version: int
    operation: str = ""
    engine: str = ""
    timestamp: int | None = None
    in_commit_timestamp: int | None = None
    added_files: int = 0
    removed_files: int = 0
    lines: int = 0


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read: `place` is the exact object, item or attribute, `reason` one sentence."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class TableFacts:
    """All that was read of one table in one pass, the input of coordinator.protocols.

    `entries` are the log store entries by lock domain (`tablePath` as stored), each ascending by version; an empty
    mapping means that every log store of the connection was asked and holds none. `had_entries` says that an earlier
    reading saw some: the store through which the table commits is then one of those asked. `registrations` are the
    coordinator's items whose path is this table. `heads` holds objects that were looked up singly (HEAD): name relative
    to `_delta_log/` to the object, or None where it is absent.
    `equal_bytes` says of a version whether its accepted and its published copy are equal, `first_differences` at which
    byte (from 0) they part. `ttl_seconds` is the longest entry life assumed.
    """

    uri: str
    mechanism: Mechanism
    observed_at: datetime
    listing: LogListing
    entries: Mapping[str, tuple[LogStoreEntry, ...]] = field(default_factory=dict)
    registrations: tuple[Registration, ...] = ()
    protocol: TableProtocol | None = None
    commit_infos: Mapping[int, CommitInfo] = field(default_factory=dict)
    heads: Mapping[str, LogObject | None] = field(default_factory=dict)
    equal_bytes: Mapping[int, bool] = field(default_factory=dict)
    first_differences: Mapping[int, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    ttl_seconds: int = 86_400
    had_entries: bool = False
