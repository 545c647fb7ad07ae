"""Rows of several kinds brought together by their keys: divided where they are read, put together where they are used.

Spark's shuffle costs by the row, and hardly by the byte. So a row of BLOBS holds thousands: all that one reading found
of a kind and a part. Keys that are equal are of the same part, whatever their kind.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from lake.spark.backups.encoding import bytes_of
from lake.spark.backups.tasks import Batches

BLOBS = "part int, kind string, rows binary"
"""`rows` is one record batch in Arrow's IPC format, without its schema, which is the kind's."""
DIVIDED_BYTES = 16 * 1024**2
"""Rows that come in small batches, as listings do, are divided this many bytes at a time."""
HASHED_ROWS = 32_768
"""Keys that are hashed at once: their bytes, read a word at a time, stay within a core's cache."""
WORD = 8
DIGITS = np.int16
"""Of numbers of parts and of bytes of a key, which are thousands: 16 bits are sorted in one go by their digits."""
ODD = 0x9E3779B97F4A7C15
"""2^64 divided by the golden ratio, as multiplicative hashing takes it."""


def divided(kind: str, batches: Batches, parts: int) -> Batches:
    """The rows of `batches` as rows of BLOBS, of `parts` parts by their `key`, which is a string and never null."""
    for rows in _gathered(batches):
        yield from _blobs(kind, rows, parts)


def together(batches: Iterable[Any], schemas: Mapping[str, Any]) -> dict[str, Any]:
    """What rows of BLOBS hold: a record batch for each kind of `schemas`, which gives its columns, be it empty."""
    found: dict[str, list[Any]] = {kind: [] for kind in schemas}
    for batch in batches:
        for kind, rows in zip(batch.column("kind").to_pylist(), batch.column("rows"), strict=True):
            found[kind].append(pa.ipc.read_record_batch(rows.as_buffer(), schemas[kind]))
    return {
        kind: _joined(pieces) if pieces else pa.RecordBatch.from_pylist([], schemas[kind])
        for kind, pieces in found.items()
    }


def conformed(batch: Any, schema: Any) -> Any:
    """The batch with the columns of `schema`, in its types; one that the batch lacks is null."""
    held = set(batch.schema.names)
    columns = [
        batch.column(field.name).cast(field.type) if field.name in held else pa.nulls(batch.num_rows, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _gathered(batches: Batches) -> Batches:
    """The same rows in batches of DIVIDED_BYTES or a little more."""
    waiting: list[Any] = []
    held = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        waiting.append(batch)
        held += batch.nbytes
        if held >= DIVIDED_BYTES:
            yield _joined(waiting)
            waiting, held = [], 0
    if waiting:
        yield _joined(waiting)


def _joined(batches: list[Any]) -> Any:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def _blobs(kind: str, rows: Any, parts: int) -> Batches:
    part = _parts_of(rows.column("key"), parts)
    order = np.argsort(part, kind="stable")
    sorted_rows, sorted_parts = rows.take(pa.array(order)), part[order]
    firsts = np.flatnonzero(np.diff(sorted_parts, prepend=-1))
    ends = np.append(firsts[1:], len(sorted_parts))
    for first, end in zip(firsts, ends, strict=True):
        yield _blob(int(sorted_parts[first]), kind, sorted_rows.slice(first, end - first).serialize())


def _blob(part: int, kind: str, rows: Any) -> Any:
    """One row of BLOBS: what is sent by the piece is received while the next is made."""
    offsets = pa.py_buffer(np.array([0, rows.size], np.int32))
    columns = [
        pa.array([part], pa.int32()),
        pa.array([kind]),
        pa.Array.from_buffers(pa.binary(), 1, [None, offsets, rows]),
    ]
    return pa.RecordBatch.from_arrays(columns, names=["part", "kind", "rows"])


def _parts_of(keys: Any, parts: int) -> Any:
    """The part of each key, by a hash of all its bytes that is the same in every process."""
    hashes = [_hashes(*bytes_of(keys.slice(first, HASHED_ROWS))) for first in range(0, len(keys), HASHED_ROWS)]
    return (np.concatenate(hashes) % np.uint64(parts)).astype(DIGITS)


def _hashes(data: Any, offsets: Any) -> Any:
    """64 bits of each text, eight of its bytes at a time for all texts: three times as fast as zlib.crc32 one by one.

    A text's last eight bytes count first, which may be some of the others too; one below eight counts as it is.
    """
    padded = np.zeros(len(data) + WORD, np.uint8)
    padded[: len(data)] = data
    words = np.ndarray(len(data) + 1, "<u8", padded.data, strides=(1,))
    starts, lengths = offsets[:-1], np.diff(offsets)
    # The longest first, so that those which have a word at some place are always the first ones.
    order = np.argsort(-lengths.astype(DIGITS), kind="stable")
    starts, lengths = starts[order], lengths[order]
    last = words[starts + np.maximum(lengths - WORD, 0)]
    short = np.flatnonzero(lengths < WORD)
    last[short] &= (np.uint64(1) << (WORD * lengths[short]).astype(np.uint64)) - np.uint64(1)
    mixed = lengths.astype(np.uint64)
    _mix(mixed, np.uint64(0))
    _mix(mixed, last)
    for at in range(0, int(lengths[0]), WORD):
        count = np.searchsorted(-lengths, -(at + WORD))
        _mix(mixed[:count], words[starts[:count] + at])
    hashes = np.empty_like(mixed)
    hashes[order] = mixed
    return hashes


def _mix(hashes: Any, words: Any) -> None:
    hashes ^= words
    hashes *= np.uint64(ODD)
    hashes ^= hashes >> np.uint64(29)
