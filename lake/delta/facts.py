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
    """One object under `_delta_log/`; `name` is relative to that folder.

    `storage_class` is S3's word for it, "" where it was not told.
    """

    name: str
    size: int
    modified_at: datetime
    etag: str
    storage_class: str = ""


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


@dataclass(frozen=True, slots=True, order=True)
class LockDomain:
    """Entries that exclude each other: one DynamoDB table and one `tablePath`, to the letter.

    Another table, or another spelling of the same path, is another lock.
    """

    store: str
    path: str


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
    """An item of the DynamoDB commit coordinator (Delta 3.3 to 4.4). Booleans are None where they cannot be read.

    `store` is the DynamoDB table that holds it.
    """

    table_id: str
    path: str
    table_version: int | None
    table_timestamp: int | None
    accepting_commits: bool | None
    has_accepted_commits: bool | None
    schema_version: int | None
    commits: tuple[CoordinatorCommit, ...]
    problems: tuple[str, ...] = ()
    store: str = ""


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
    """What a commit file says of itself. Timestamps are epoch milliseconds; `lines` counts its actions.

    `transaction` is its `txnId`, which Spark gives each attempt to commit; "" where it has none. `etag` is that of the
    object which said so, `digest` the MD5 of its bytes in hexadecimal, None where not all of them were read.
    `bad_line` is the first line, counted from 1, that is no JSON object.
    """

    version: int
    operation: str = ""
    engine: str = ""
    timestamp: int | None = None
    in_commit_timestamp: int | None = None
    added_files: int = 0
    removed_files: int = 0
    lines: int = 0
    transaction: str = ""
    etag: str | None = None
    digest: str | None = None
    bad_line: int | None = None


@dataclass(frozen=True, slots=True)
class Acceptance:
    """An item of a commit store that was seen to accept a version, with the file it named; None is not known.

    The fields are those of `Provenance`, `etag`, `size` and `timestamp` of the accepted file. `differs_etag` is the
    ETag of the published file that was shown to be of another commit. An `expire_time` says that it was completed.
    `abandoned_at` is when it was given up: an item that a later look finds counts again.
    """

    store: str
    region: str
    lock_domain: str
    file_name: str | None = None
    size: int | None = None
    etag: str | None = None
    timestamp: int | None = None
    accepted_at: datetime | None = None
    differs_etag: str | None = None
    expire_time: int | None = None
    abandoned_at: datetime | None = None

    @property
    def identity(self) -> tuple[str, str, str]:
        """The lock: acceptances under one exclude each other while the item is there."""
        return self.store, self.region, self.lock_domain

    @property
    def is_of_log_store(self) -> bool:
        """Whether an entry accepted it: `tablePath` is a URI, the coordinator's `tableId` is not."""
        return "/" in self.lock_domain

    def names(self, name: str) -> bool:
        """Whether a temp or staged file, named relative to `_delta_log/`, is the one that was accepted.

        An item of the coordinator names no folder, and a temp file's name is unique without its own.
        """
        return self.file_name is not None and name.rpartition("/")[2] == self.file_name.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class AskedStores:
    """What answered, by what it was asked as: `log_stores`, `coordinators` that were scanned, and `registrations` that
    were read singly, by DynamoDB table and `tableId`. A store that does not exist has answered that it holds nothing.
    """

    log_stores: frozenset[str] = frozenset()
    coordinators: frozenset[str] = frozenset()
    registrations: frozenset[tuple[str, str]] = frozenset()

    def would_show(self, one: Acceptance) -> bool:
        """Whether the item that accepted would have been seen if it were still there."""
        if one.is_of_log_store:
            return one.store in self.log_stores
        return one.store in self.coordinators or (one.store, one.lock_domain) in self.registrations


@dataclass(frozen=True, slots=True)
class Provenance:
    """What was seen of one version when it was first seen. None is not known; what is known is never changed.

    Of its published file: `size`, `etag`, `digest` (MD5 of its bytes in hexadecimal, where all of them were read),
    `in_commit_timestamp` and `commit_timestamp` as its commitInfo says them (`timestamp` is the writer's clock).
    `seen_at` is when the first reading began that found the file, `absent_at` when the last one before it began, which
    did not. `copy_etag` is the ETag of a later file in its place whose bytes were proven to be equal.

    Of its acceptance by a commit store: `store` (the DynamoDB table), `region`, `lock_domain` (`tablePath` or
    `tableId`, as stored), `file_name` (`tempPath` or `fsName`, as stored), `accepted_size` and `accepted_etag` of that
    file, `accepted_timestamp` (the in-commit timestamp that the coordinator holds), `expire_time` (of a complete entry,
    epoch seconds), `accepted_at` (when the first reading began that found the item). `disputed` says that another item
    accepted the version with another file: then neither file may be taken for the only accepted one; `rivals` are those
    other acceptances. `differs_etag` is as in `Acceptance`, of the first one. Timestamps are epoch milliseconds.

    `abandoned` are acceptances that count no more: an admin gave them up, or they were of a table that stood here
    before.
    """

    version: int
    size: int | None = None
    etag: str | None = None
    digest: str | None = None
    copy_etag: str | None = None
    in_commit_timestamp: int | None = None
    commit_timestamp: int | None = None
    seen_at: datetime | None = None
    absent_at: datetime | None = None
    store: str | None = None
    region: str | None = None
    lock_domain: str | None = None
    file_name: str | None = None
    accepted_size: int | None = None
    accepted_etag: str | None = None
    accepted_timestamp: int | None = None
    expire_time: int | None = None
    accepted_at: datetime | None = None
    disputed: bool = False
    differs_etag: str | None = None
    rivals: tuple[Acceptance, ...] = ()
    abandoned: tuple[Acceptance, ...] = ()

    @property
    def acceptances(self) -> tuple[Acceptance, ...]:
        """Every item that was seen to accept the version, the first one first."""
        if self.store is None:
            return self.rivals
        first = Acceptance(
            self.store,
            self.region or "",
            self.lock_domain or "",
            self.file_name,
            self.accepted_size,
            self.accepted_etag,
            self.accepted_timestamp,
            self.accepted_at,
            self.differs_etag,
            self.expire_time,
        )
        return (first, *self.rivals)

    @property
    def is_known(self) -> bool:
        """Whether the version was seen at all, published or accepted, since it was last given up."""
        return self.seen_at is not None or self.is_accepted

    @property
    def is_accepted(self) -> bool:
        """Whether an item of a commit store was seen that accepted the version."""
        return self.store is not None

    def accepted(self, name: str) -> bool:
        """Whether a temp or staged file, named relative to `_delta_log/`, is one that was ever accepted."""
        return any(one.names(name) for one in (*self.acceptances, *self.abandoned))


@dataclass(frozen=True, slots=True)
class ReadingProblem:
    """Something that could not be read: `place` is the exact object, item or attribute, `reason` one sentence."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class HeldElsewhere:
    """Entries of the table in a log store of another region or account, as the connection that reads it saw them.

    `newest` is their newest version, `expires_at` when the last of the complete ones expires (epoch seconds, None where
    none says so), `read_at` when that connection last looked.
    """

    connection: str
    region: str
    domain: LockDomain
    newest: int
    read_at: datetime
    expires_at: int | None = None


@dataclass(frozen=True, slots=True)
class TableFacts:
    """All that was read of one table in one pass, the input of coordinator.protocols.

    `entries` are the log store entries by lock domain, each ascending by version; an empty mapping means that every
    log store of the connection was asked and holds none; complete ones below `entries_from` may exist and were not
    kept. `had_entries` says that this or an earlier reading saw some: the store through which the table commits is then
    one of those asked. `registrations` are the coordinators' items whose path is this table. `commit_infos` are by
    version, those of `copy_infos` by the name of the accepted copy, a temp or staged file, that says so of itself.
    `heads` holds objects that were looked up singly (HEAD): name relative to `_delta_log/` to the object, or
    None where it is absent.
    `equal_bytes` says of an accepted copy, a temp or staged file by its name, whether the published file of its version
    is equal, `first_differences` at which byte (from 0) they part: two stores may have accepted two copies of one
    version. `copies` says of a temp or staged file, by its name, whether its bytes equal those of the published file of
    its version; a file that it does not name was not compared. `unread_stores` are commit stores of the connection that
    refused, and may hold items of the table all the same. `elsewhere` are entries that this reading could not reach;
    `locks_elsewhere` the lock domains in which such entries lie or ever lay; `region` is that of the stores it did.
    `asked_stores` is what was asked and answered, None where all that matters was.
    `ttl_seconds` is the longest entry life assumed. `provenance` is what earlier readings saw of the versions of this
    very table, and of what other connections saw accepted; a version that is not in it is seen for the first time.
    `broken` says of objects of the newest checkpoints, by name, why they are none; those that it does not name were
    whole as far as their ends and the sidecars that they name tell, or were not looked at. `hinted` is the version that
    `_last_checkpoint` names. `checksum_transactions` is the `txnId` that a version's `.crc` names. `engines` are those
    of commits of the last seven days that earlier looks have read, each with its first and last version.
    """

    uri: str
    mechanism: Mechanism
    observed_at: datetime
    listing: LogListing
    entries: Mapping[LockDomain, tuple[LogStoreEntry, ...]] = field(default_factory=dict)
    entries_from: int = 0
    registrations: tuple[Registration, ...] = ()
    protocol: TableProtocol | None = None
    commit_infos: Mapping[int, CommitInfo] = field(default_factory=dict)
    copy_infos: Mapping[str, CommitInfo] = field(default_factory=dict)
    heads: Mapping[str, LogObject | None] = field(default_factory=dict)
    equal_bytes: Mapping[str, bool] = field(default_factory=dict)
    first_differences: Mapping[str, int] = field(default_factory=dict)
    copies: Mapping[str, bool] = field(default_factory=dict)
    problems: tuple[ReadingProblem, ...] = ()
    unread_stores: tuple[ReadingProblem, ...] = ()
    asked_stores: AskedStores | None = None
    elsewhere: tuple[HeldElsewhere, ...] = ()
    locks_elsewhere: tuple[LockDomain, ...] = ()
    region: str = ""
    ttl_seconds: int = 86_400
    provenance: Mapping[int, Provenance] = field(default_factory=dict)
    had_entries: bool = False
    broken: Mapping[str, str] = field(default_factory=dict)
    hinted: int | None = None
    checksum_transactions: Mapping[int, str] = field(default_factory=dict)
    engines: Mapping[str, tuple[int, int]] = field(default_factory=dict)
