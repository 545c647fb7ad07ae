"""A digest of a version's data files, on which two readers of it must agree."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypedDict
from urllib.parse import unquote

import orjson

from lake.delta.file_actions import vector_path


class LiveFile(NamedTuple):
    """A data file of a version, as the log has it; `values` are those of its partition columns."""

    path: str
    size: int
    values: Mapping[str, str | None]
    vector: dict[str, Any] | None


class FileMark(NamedTuple):
    """What is kept of one file: a digest, one of its partition values, None where there are none, and how many rows it
    has that are not deleted, None where that is not known."""

    digest: bytes
    values: bytes | None
    has_vector: bool
    rows: int | None


class Fingerprint(TypedDict):
    """`digest` is over each file's place, size, partition values and deletion vector."""

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
    line = orjson.dumps([place(file.path), file.size, told]) + values
    left = None if rows is None else rows - deleted
    return FileMark(_digest(line), _digest(values) if file.values else None, told is not None, left)


def fingerprint(marks: Iterable[FileMark]) -> tuple[Fingerprint, int | None]:
    """The fingerprint of a version's files, whose order does not matter, and their rows, None where not known."""
    partitions: set[bytes | None] = {None}
    digest, vectors, rows = 0, 0, 0
    is_known = True
    for one in marks:
        digest = (digest + int.from_bytes(one.digest)) % 2**256
        partitions.add(one.values)
        vectors += one.has_vector
        is_known &= one.rows is not None
        rows += one.rows or 0
    found: Fingerprint = {"partitions": len(partitions) - 1, "vectors": vectors, "digest": f"{digest:064x}"}
    return found, rows if is_known else None


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
