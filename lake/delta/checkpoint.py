"""Reading protocol and metaData out of a checkpoint without reading its file actions.

A parquet checkpoint of a large table is hundreds of megabytes, of which these two columns are a few kilobytes: the
footer says where. Source: PROTOCOL.md of Delta 4.4.0, "Checkpoints"; V2 checkpoints have the same columns or, as JSON,
one action on each line.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lake.delta.actions import read_commit
from lake.delta.facts import Problem
from lake.delta.names import parse_name
from lake.delta.ranged_file import PieceMissingError, RangedFile
from lake.delta.state import MetadataAction, ProtocolAction, StateParts, StateReader

# Up to this size one request for the whole object is quicker than two or three for its parts.
WHOLE_BYTES = 1 << 20
# Beyond these a file is not what it claims to be, and memory is worth more than its answer.
MOST_JSON_BYTES = 64 << 20
MOST_COLUMN_BYTES = 64 << 20
MOST_FOOTER_BYTES = 64 << 20

_TAIL_BYTES = 64 << 10
# Neighbouring columns this close are fetched in one request.
_GAP_BYTES = 256 << 10
_MAGIC = b"PAR1"
_COLUMNS = {"protocol": "protocol.minReaderVersion", "metaData": "metaData.id"}

ReadRange = Callable[[int, int], bytes]


class _UnreadableError(Exception):
    """The checkpoint is not what it should be; the text is the sentence for its problem."""


def read_checkpoint_state(read_range: ReadRange, size: int, name: str) -> StateParts:
    """Read protocol and metaData of one checkpoint object: classic, one part of several, or V2.

    `read_range(first, last)` gives the bytes of an inclusive range of the object of `size` bytes; `name` is relative to
    `_delta_log/`. A part of a multi-part checkpoint may hold neither action. What cannot be read is None, with a
    problem; only what `read_range` itself raises is raised.
    """
    parsed = parse_name(name)
    version = parsed.version or 0
    if size <= 0:
        return _problem(version, name, "The checkpoint is empty.")
    try:
        if parsed.format == "json":
            return _json_state(read_range, size, name, version)
        return _parquet_state(read_range, size, name, version)
    except (_UnreadableError, PieceMissingError) as error:
        return _problem(version, name, str(error))


def _json_state(read_range: ReadRange, size: int, name: str, version: int) -> StateParts:
    if size > MOST_JSON_BYTES:
        raise _UnreadableError(f"The checkpoint has {size} bytes of JSON; at most {MOST_JSON_BYTES} are read.")
    commit = read_commit(version, read_range(0, size - 1), name=name)
    return StateParts(version, commit.protocol, commit.metadata, commit.problems)


def _parquet_state(read_range: ReadRange, size: int, name: str, version: int) -> StateParts:
    file = RangedFile(read_range, size)
    _fetch_footer(file)
    reader = StateReader(name)
    protocol: ProtocolAction | None = None
    metadata: MetadataAction | None = None
    for column, row in _rows(file):
        if column == "protocol":
            protocol = reader.protocol(row) or protocol
        else:
            metadata = reader.metadata(row) or metadata
    return StateParts(version, protocol, metadata, tuple(reader.problems))


def _fetch_footer(file: RangedFile) -> None:
    if file.size <= WHOLE_BYTES:
        file.fetch(0, file.size - 1)
    tail = file.fetch(max(0, file.size - _TAIL_BYTES), file.size - 1)
    if len(tail) < 12 or tail[-4:] != _MAGIC:
        raise _UnreadableError("The file does not end as parquet does; it is cut off or another kind of file.")
    length = int.from_bytes(tail[-8:-4], "little")
    if length > min(MOST_FOOTER_BYTES, file.size - 12):
        raise _UnreadableError(f"The parquet footer claims {length} bytes, which cannot be.")
    file.fetch(file.size - 8 - length, file.size - 1)


def _rows(file: RangedFile) -> list[tuple[str, Any]]:
    """The rows of both columns that hold something, as (column, decoded value), in the order of the file."""
    rows: list[tuple[str, Any]] = []
    with _as_unreadable():
        parquet = pq.ParquetFile(file)
        present = [column for column in _COLUMNS if column in parquet.schema_arrow.names]
        groups = [parquet.metadata.row_group(position) for position in range(parquet.metadata.num_row_groups)]
        wanted_by_group = [_wanted(group, present) for group in groups]
        spans = [_spans(group, wanted) for group, wanted in zip(groups, wanted_by_group, strict=True)]
    for position, wanted in enumerate(wanted_by_group):
        _fetch_columns(file, spans[position])
        with _as_unreadable():
            table = parquet.read_row_group(position, columns=wanted, use_threads=False) if wanted else None
            rows.extend((column, _last(table.column(column))) for column in wanted if table is not None)
    return [(column, row) for column, row in rows if row is not None]


@contextmanager
def _as_unreadable() -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        first_line = str(error).partition("\n")[0].rstrip(".")
        raise _UnreadableError(f"The parquet cannot be read: {first_line or type(error).__name__}.") from error


def _wanted(row_group: Any, present: list[str]) -> list[str]:
    """The columns of a row group that are not, by its statistics, null throughout."""
    nulls = {}
    for position in range(row_group.num_columns):
        chunk = row_group.column(position)
        statistics = chunk.statistics
        if statistics is not None and statistics.has_null_count:
            nulls[chunk.path_in_schema] = statistics.null_count == chunk.num_values
    return [column for column in present if not nulls.get(_COLUMNS[column], False)]


def _spans(row_group: Any, wanted: list[str]) -> list[tuple[int, int]]:
    """First and last byte of the chunks of the wanted columns, neighbours together."""
    chunks = [row_group.column(position) for position in range(row_group.num_columns)]
    merged: list[tuple[int, int]] = []
    for first, last in sorted(_span(chunk) for chunk in chunks if chunk.path_in_schema.split(".")[0] in wanted):
        if merged and first - merged[-1][1] <= _GAP_BYTES:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged


def _fetch_columns(file: RangedFile, spans: list[tuple[int, int]]) -> None:
    if sum(last - first + 1 for first, last in spans) > MOST_COLUMN_BYTES:
        raise _UnreadableError(f"Columns protocol and metaData are said to take more than {MOST_COLUMN_BYTES} bytes.")
    for first, last in spans:
        file.fetch(first, last)


def _span(chunk: Any) -> tuple[int, int]:
    first = chunk.data_page_offset
    if chunk.has_dictionary_page and chunk.dictionary_page_offset is not None:
        first = min(first, chunk.dictionary_page_offset)
    return first, first + chunk.total_compressed_size - 1


def _last(column: Any) -> Any:
    """The last value of a column that is not null; a whole checkpoint holds exactly one."""
    values = column.drop_null()
    return values[-1].as_py() if len(values) else None


def _problem(version: int, name: str, reason: str) -> StateParts:
    return StateParts(version, problems=(Problem(name, reason),))
