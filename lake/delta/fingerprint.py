"""What tells the data files of a table from any others: a digest and a few numbers, in which two readers must agree."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypedDict
from urllib.parse import unquote

import orjson

from lake.delta.file_actions import vector_path


class LiveFile(NamedTuple):
    """A data file of a version, as the log has it; `values` are those of its partition columns, `stats` is JSON."""

    path: str
    size: int
    values: Mapping[str, str | None]
    vector: dict[str, Any] | None
    stats: str | None


class FileMark(NamedTuple):
    """What of a file is compared. `values` is short, as there may be millions; `rows` are those that are not deleted,
    None where they are not known."""

    digest: bytes
    values: int
    has_vector: bool
    rows: int | None


class Fingerprint(TypedDict):
    """`digest` is over each file's place, size, partition values, deletion vector and statistics."""

    partitions: int
    vectors: int
    digest: str


def mark(file: LiveFile, place: Callable[[str], str] = unquote, rows: int | None = None) -> FileMark:
    """`place` says where a path of the log leads; `rows` are those in the file. Raises LogUnreadable."""
    values, told, deleted = orjson.dumps(sorted(file.values.items())), None, 0
    if (vector := file.vector) is not None:
        path, deleted = vector_path(vector), vector["cardinality"]
        where = place(path) if path else vector["pathOrInlineDv"]
        told = [where, vector.get("offset"), vector["sizeInBytes"], deleted]
    line = orjson.dumps([place(file.path), file.size, told, file.stats]) + values
    left = None if rows is None else rows - deleted
    return FileMark(hashlib.sha256(line).digest(), hash(values) if file.values else 0, told is not None, left)


def fingerprint(marks: Iterable[FileMark]) -> Fingerprint:
    """That of the files of a version, in any order."""
    whole = sorted(marks, key=lambda one: one.digest)
    return {
        "partitions": len({one.values for one in whole} - {0}),
        "vectors": sum(one.has_vector for one in whole),
        "digest": hashlib.sha256(b"".join(one.digest for one in whole)).hexdigest(),
    }


def rows_of(marks: Iterable[FileMark]) -> int | None:
    """The rows of a version; None where they are not known of each file."""
    rows = [one.rows for one in marks]
    return None if None in rows else sum(one or 0 for one in rows)
