"""The calls a repair may make. Each is conditional on facts that its plan was made from; none overwrites anything.

A call says what it does (`says`), which AWS operation carries it (`operation`) and on which condition (`condition`), so
that a page shows exactly what will be sent. Keys are whole S3 keys, tables are DynamoDB tables, times epoch seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Item = Mapping[str, Mapping[str, Any]]
"""A DynamoDB item in wire form."""


@dataclass(frozen=True, slots=True)
class SaveAside:
    """Keep a copy of what is about to go: an object (`source`), or an item as JSON, under the rescue prefix.

    PUT with If-None-Match:*; a copy of equal bytes that is there already counts as made.
    """

    bucket: str
    key: str
    source: str = ""
    item: Item | None = None


@dataclass(frozen=True, slots=True)
class Publish:
    """Copy the bytes of `source` to `key`: GET, then PUT with If-None-Match:*, then read back and compare.

    `etag` and `size` are the source's as planned; another source stops the repair. Where the key exists, equal bytes
    are success and different bytes stop the repair.
    """

    bucket: str
    source: str
    key: str
    etag: str
    size: int


@dataclass(frozen=True, slots=True)
class RequireEqual:
    """Read both objects; different bytes, or an absent one, stop the repair."""

    bucket: str
    one: str
    other: str


@dataclass(frozen=True, slots=True)
class RequireAbsent:
    """HEAD each key; one that exists stops the repair."""

    bucket: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RequireEmpty:
    """List the prefix; any object (directory markers aside) stops the repair."""

    bucket: str
    prefix: str


@dataclass(frozen=True, slots=True)
class RequireNoEntry:
    """Read the entry of another lock of the same table; one that exists stops the repair."""

    table: str
    table_path: str
    file_name: str


@dataclass(frozen=True, slots=True)
class CompleteEntry:
    """SET complete = "true", expireTime = now + `ttl_seconds`, if complete = "false" AND tempPath = `temp_path`.

    An entry of that tempPath that is complete already counts as completed.
    """

    table: str
    table_path: str
    file_name: str
    temp_path: str
    ttl_seconds: int


@dataclass(frozen=True, slots=True)
class DeleteEntry:
    """Delete an entry, if complete = "false" AND tempPath = `temp_path`; an absent one counts as deleted."""

    table: str
    table_path: str
    file_name: str
    temp_path: str


@dataclass(frozen=True, slots=True)
class ClearCommits:
    """SET commits = [], if tableVersion, path and schemaVersion = 1 are as read and commits = `commits` as read.

    A list that is empty already counts as cleared; any other refusal means that a writer moved on: nothing is done.
    """

    table: str
    table_id: str
    path: str
    table_version: int
    commits: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RaiseVersion:
    """SET tableVersion and tableTimestamp, if tableVersion = `from_version` AND path = `path` AND schemaVersion = 1."""

    table: str
    table_id: str
    path: str
    from_version: int
    to_version: int
    to_timestamp: int


@dataclass(frozen=True, slots=True)
class Register:
    """Put a registration, if none of its tableId exists; an equal one counts as put."""

    table: str
    item: Item


@dataclass(frozen=True, slots=True)
class DeleteRegistration:
    """Delete a registration, if hasAcceptedCommits = false AND commits = [] AND path and tableVersion are as read."""

    table: str
    table_id: str
    path: str
    table_version: int


@dataclass(frozen=True, slots=True)
class DeleteLitter:
    """Delete a file that no commit needs: read the item again, prove it once more, then DELETE with If-Match.

    `entry` is the key (tablePath, fileName) of the entry that must not name the file; `registration` the tableId whose
    list must not name it. `named` is the tempPath that the entry must still name instead. `survivor` is the key of an
    object that must hold the same bytes, "" where the file was never accepted. An entry without either proves nothing.
    A file that has gone counts as deleted; one that is named, or not proven, after all stops the repair.
    """

    bucket: str
    key: str
    etag: str
    size: int
    table: str
    entry: tuple[str, str] | None = None
    registration: str = ""
    named: str = ""
    survivor: str = ""


Call = (
    SaveAside
    | Publish
    | RequireEqual
    | RequireAbsent
    | RequireEmpty
    | RequireNoEntry
    | CompleteEntry
    | DeleteEntry
    | ClearCommits
    | RaiseVersion
    | Register
    | DeleteRegistration
    | DeleteLitter
)
