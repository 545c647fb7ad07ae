"""What tells the data files of a table from any others: a few numbers and a digest, in which two readers must agree."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypedDict
from urllib.parse import unquote

import orjson

from lake.delta.file_actions import vector_path

_UNPARTITIONED = b"[]"


class LiveFile(NamedTuple):
    """A data file of a version: `path`, `values` of its partition columns and `vector` as the log has them.

    `rows` are those in the file, deleted ones too; None where the log does not say.
    """

    path: str
    size: int
    values: Mapping[str, str | None]
    vector: dict[str, Any] | None
    rows: int | None = None


class FileMark(NamedTuple):
    """What of a file is compared. `deleted` are the rows that its deletion vector deletes, None without one."""

    digest: bytes
    partition: bytes
    deleted: int | None
    rows: int | None


class Fingerprint(TypedDict):
    """`digest` is over each file's place, size, partition values and deletion vector. `rows` are those that are not
    deleted, None where the log does not say of each file."""

    partitions: int
    vectors: int
    rows: int | None
    digest: str


def mark(file: LiveFile, place: Callable[[str], str] = unquote) -> FileMark:
    """`place` says where a path of the log leads. Raises LogUnreadable."""
    # An empty text stands for null, as PROTOCOL.md of Delta has it in "Partition Value Serialization".
    partition = orjson.dumps(sorted((name, value or None) for name, value in file.values.items()))
    told, deleted = None, None
    if (vector := file.vector) is not None:
        path, deleted = vector_path(vector), int(vector["cardinality"])
        where = place(path) if path else vector["pathOrInlineDv"]
        told = [where, vector.get("offset"), vector["sizeInBytes"], deleted]
    line = orjson.dumps([place(file.path), file.size, told]) + partition
    return FileMark(hashlib.sha256(line).digest(), partition, deleted, file.rows)


def fingerprint(marks: Iterable[FileMark]) -> Fingerprint:
    """That of the files of a version, in any order."""
    whole = sorted(marks, key=lambda one: one.digest)
    deleted, rows = [one.deleted for one in whole if one.deleted is not None], [one.rows for one in whole]
    return {
        "partitions": len({one.partition for one in whole} - {_UNPARTITIONED}),
        "vectors": len(deleted),
        "rows": None if None in rows else sum(filter(None, rows)) - sum(deleted),
        "digest": hashlib.sha256(b"".join(one.digest for one in whole)).hexdigest(),
    }
