"""The file actions of large objects of a log: nearly all are adds that need no look at each, and come as columns.

What is read is what `lake.delta.file_actions` reads line by line; where the columns cannot be read, that is asked.
"""

import io
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, BinaryIO, NamedTuple

from lake.delta.file_actions import (
    CHECKPOINT_COLUMNS,
    PLAIN_PATH,
    ROWS,
    LogAction,
    actions_of,
    actions_of_line,
    commit_rows,
    unreadable_checkpoint,
)

_is_plain = re.compile(PLAIN_PATH, re.ASCII).fullmatch
LARGE = 256 * 1024
"""Bytes from which on a commit is worth reading by columns."""


class PlainAdds(NamedTuple):
    """Adds without a deletion vector, whose paths are relative and without an escape; `sizes` are in bytes."""

    paths: list[str]
    sizes: list[int]


def actions_of_commit(version: int, data: bytes) -> Iterator[PlainAdds | LogAction]:
    """All file actions of a commit, or of a V2 checkpoint in JSON. Raises LogUnreadable."""
    table = _json_table(data) if len(data) >= LARGE else None
    if table is None:
        yield from _line_by_line(version, data)
        return
    for batch in table.to_batches(max_chunksize=ROWS):
        yield from _split(version, batch)


def _line_by_line(version: int, data: bytes) -> Iterator[PlainAdds | LogAction]:
    plain = PlainAdds([], [])
    for row in commit_rows(version, data):
        add = row.get("add")
        if type(add) is dict and len(row) == 1 and add.get("deletionVector") is None:
            path, size = add.get("path"), add.get("size")
            if type(size) is int and size >= 0 and type(path) is str and _is_plain(path):
                plain.paths.append(path)
                plain.sizes.append(size)
                continue
        yield from actions_of_line(version, row)
    if plain.paths:
        yield plain


def actions_of_checkpoint(version: int, file: BinaryIO) -> Iterator[PlainAdds | LogAction]:
    """All file actions of a checkpoint, or of a sidecar, in Parquet. Raises LogUnreadable."""
    import pyarrow.parquet as pq

    with unreadable_checkpoint(version):
        parquet = pq.ParquetFile(file, pre_buffer=False)
        held = {field.name for field in parquet.schema_arrow}
        columns = [name for name in CHECKPOINT_COLUMNS if name.partition(".")[0] in held]
        for batch in parquet.iter_batches(ROWS, columns=columns):
            yield from _split(version, batch)


def _json_table(data: bytes) -> Any:
    """The lines of a commit as rows; None where they are not as they should be, or not one for each line."""
    import pyarrow as pa
    from pyarrow import json

    options = json.ParseOptions(explicit_schema=_schema(), unexpected_field_behavior="ignore")
    try:
        table = json.read_json(io.BytesIO(data), parse_options=options)
    except pa.ArrowException:
        return None
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    return table if table.num_rows == lines else None


@cache
def _schema() -> Any:
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    vector = pa.struct([("storageType", text), ("pathOrInlineDv", text), ("offset", number), ("sizeInBytes", number)])
    return pa.schema(
        [
            ("commitInfo", pa.struct([("timestamp", number), ("inCommitTimestamp", number)])),
            ("protocol", pa.struct([("minReaderVersion", number), ("readerFeatures", pa.list_(text))])),
            ("metaData", pa.struct([("id", text), ("schemaString", text)])),
            ("add", pa.struct([("path", text), ("size", number), ("deletionVector", vector)])),
            (
                "remove",
                pa.struct([("path", text), ("deletionTimestamp", number), ("deletionVector", vector)]),
            ),
            ("sidecar", pa.struct([("path", text)])),
        ]
    )


def _split(version: int, batch: Any) -> Iterator[PlainAdds | LogAction]:
    """The plain adds of rows in one piece, and every other row by itself."""
    import pyarrow.compute as pc

    if "add" not in batch.schema.names:
        rest = batch
    else:
        adds = batch.column("add")
        path, size = (pc.struct_field(adds, name) for name in ("path", "size"))
        plain = pc.and_(
            pc.fill_null(pc.match_substring_regex(path, PLAIN_PATH), False),
            pc.fill_null(pc.greater_equal(size, 0), False),
        )
        if adds.type.get_field_index("deletionVector") >= 0:
            plain = pc.and_(plain, pc.is_null(pc.struct_field(adds, "deletionVector")))
        for other in batch.schema.names:
            if other != "add":
                plain = pc.and_(plain, pc.is_null(batch.column(other)))
        if pc.any(plain).as_py():
            yield PlainAdds(path.filter(plain).to_pylist(), size.filter(plain).to_pylist())
        rest = batch.filter(pc.invert(plain))
    for row in rest.to_pylist():
        yield from actions_of(version, row)
