"""Reading protocol and metaData out of a checkpoint without reading its file actions.

A parquet checkpoint of a large table is hundreds of megabytes, of which these two columns are a few kilobytes: the
footer says where. Source: PROTOCOL.md of Delta 4.4.0, "Checkpoints"; V2 checkpoints have the same columns or, as JSON,
one action on each line.
"""

import io
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from lake.delta.actions import read_commit
from lake.delta.facts import ReadingProblem
from lake.delta.names import SIDECAR_FOLDER, parse_name
from lake.delta.state import MetadataAction, ProtocolAction, StateParts, StateReader

# Up to this size one request for the whole object is quicker than two or three for its parts.
WHOLE_BYTES = 1 << 20
# Fetched at a time beyond that: the footer of most checkpoints, and both columns of a row group, fit.
READ_AHEAD_BYTES = 64 << 10
# Beyond this a file is not what it claims to be, and memory is worth more than its answer.
MOST_FETCHED_BYTES = 64 << 20
_MAGIC = b"PAR1"
_COLUMNS = ("protocol", "metaData")
ReadRange = Callable[[int, int], bytes]


class PieceMissingError(Exception):
    """A piece of the file cannot be had: its own offsets contradict its size, or a limit is reached."""


class SeekableFile(io.RawIOBase):
    """A file of `size` bytes that is read from `position` on."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self.position, io.SEEK_END: self.size}[whence]
        self.position = max(0, base + offset)
        return self.position


class RangedFile(SeekableFile):
    """What parquet readers read from: a seekable, read-only file of `size` bytes over ranged reads of an object.

    Bytes that are not here yet are fetched at least `read_ahead` at a time, because neighbouring columns of parquet are
    wanted together; `most_bytes` bounds what a corrupt file can make a reader fetch. `store_error` is what reading the
    object raised, if anything: a parquet reader may have wrapped it.
    """

    def __init__(self, read_range: Callable[[int, int], bytes], size: int, read_ahead: int, most_bytes: int) -> None:
        super().__init__(size)
        self.store_error: Exception | None = None
        self._read_range = read_range
        self._read_ahead = read_ahead
        self._bytes_left = most_bytes
        self._pieces: list[tuple[int, bytes]] = []

    def fetch(self, first: int, last: int) -> bytes:
        """The bytes of an inclusive range, from what is here or with one request.

        Raises PieceMissingError where the range lies outside the file, the object gives fewer bytes or the limit is
        reached, and whatever reading the object raises.
        """
        if not 0 <= first <= last < self.size:
            raise PieceMissingError(f"bytes {first} to {last} lie outside the file's {self.size}")
        here = self._held(first, last - first + 1)
        if here is not None:
            return here
        piece = self._requested(first, last)
        self._pieces.append((first, piece))
        return piece

    def read(self, size: int = -1) -> bytes:
        first = self.position
        left = max(0, self.size - first)
        wanted = left if size < 0 else min(size, left)
        if wanted == 0:
            return b""
        data = self._held(first, wanted)
        if data is None:
            data = self.fetch(first, min(self.size, first + max(wanted, self._read_ahead)) - 1)[:wanted]
        self.position = first + wanted
        return data

    def _requested(self, first: int, last: int) -> bytes:
        wanted = last - first + 1
        if wanted > self._bytes_left:
            raise PieceMissingError(f"it asks for {wanted} bytes at {first}, more than a checkpoint's state can need")
        self._bytes_left -= wanted
        try:
            piece = self._read_range(first, last)
        except Exception as error:
            self.store_error = error
            raise
        if len(piece) != wanted:
            raise PieceMissingError(f"bytes {first} to {last} came back as {len(piece)} bytes; the object has changed")
        return piece

    def _held(self, first: int, length: int) -> bytes | None:
        for start, piece in self._pieces:
            if start <= first and first + length <= start + len(piece):
                return piece[first - start : first - start + length]
        return None


@dataclass(frozen=True, slots=True)
class CheckpointEnds:
    """What the end of one checkpoint object shows.

    `trouble` is the sentence that says why it is none, "" where it is one; `sidecars` are the names, relative to
    `_delta_log/`, of the files that it stands on.
    """

    trouble: str = ""
    sidecars: tuple[str, ...] = ()


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


def read_checkpoint_ends(read_range: ReadRange, size: int, name: str) -> CheckpointEnds:
    """Look whether an object is a checkpoint that readers can open: one request for the end of a parquet file.

    What lies between is not read. The parameters are those of `read_checkpoint_state`; only what `read_range` itself
    raises is raised.
    """
    if size <= 0:
        return CheckpointEnds("The checkpoint is empty.")
    try:
        if parse_name(name).format == "json":
            return _json_ends(read_range, size, name)
        return _parquet_ends(RangedFile(read_range, size, READ_AHEAD_BYTES, MOST_FETCHED_BYTES))
    except (_UnreadableError, PieceMissingError) as error:
        return CheckpointEnds(str(error))


def _json_ends(read_range: ReadRange, size: int, name: str) -> CheckpointEnds:
    if size > MOST_FETCHED_BYTES:
        raise _UnreadableError(f"The checkpoint has {size} bytes of JSON; at most {MOST_FETCHED_BYTES} are read.")
    data = read_range(0, size - 1)
    commit = read_commit(parse_name(name).version or 0, data, name=name)
    if commit.info.bad_line is not None:
        return CheckpointEnds(f"Line {commit.info.bad_line} is not one whole JSON object.")
    actions = (json.loads(line) for line in data.split(b"\n") if line.strip())
    return CheckpointEnds(sidecars=_sidecar_names(action.get("sidecar") for action in actions))


def _parquet_ends(file: RangedFile) -> CheckpointEnds:
    """By the footer alone: a column of a type that pyarrow does not know is no reason for Spark to stop."""
    import pyarrow.parquet as pq

    _fetch_tail(file)
    with _as_unreadable(file):
        schema = pq.read_metadata(file).schema
    columns = {schema.column(place).path.partition(".")[0] for place in range(len(schema))}
    if not columns & {*_COLUMNS, "add"}:
        raise _UnreadableError("The file is parquet, and has none of a checkpoint's columns.")
    if "sidecar" not in columns:
        return CheckpointEnds()
    try:
        with _as_unreadable(file):
            rows = pq.read_table(file, columns=["sidecar"])["sidecar"].to_pylist()
    except _UnreadableError:
        return CheckpointEnds()
    return CheckpointEnds(sidecars=_sidecar_names(rows))


def _sidecar_names(sidecars: Iterable[Any]) -> tuple[str, ...]:
    """Sidecars lie in one folder, whatever their paths say before the name; paths are escaped as in a URL."""
    paths = (one.get("path") for one in sidecars if isinstance(one, dict))
    return tuple(SIDECAR_FOLDER + unquote(path).rpartition("/")[2] for path in paths if isinstance(path, str))


def _json_state(read_range: ReadRange, size: int, name: str, version: int) -> StateParts:
    if size > MOST_FETCHED_BYTES:
        raise _UnreadableError(f"The checkpoint has {size} bytes of JSON; at most {MOST_FETCHED_BYTES} are read.")
    commit = read_commit(version, read_range(0, size - 1), name=name)
    return StateParts(version, commit.protocol, commit.metadata, commit.problems)


def _parquet_state(read_range: ReadRange, size: int, name: str, version: int) -> StateParts:
    file = RangedFile(read_range, size, READ_AHEAD_BYTES, MOST_FETCHED_BYTES)
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
    _fetch_tail(file)


def _fetch_tail(file: RangedFile) -> None:
    tail = file.fetch(max(0, file.size - READ_AHEAD_BYTES), file.size - 1)
    if len(tail) < 12 or tail[-4:] != _MAGIC:
        raise _UnreadableError("The file does not end as parquet does; it is cut off or another kind of file.")
    length = int.from_bytes(tail[-8:-4], "little")
    if length > min(MOST_FETCHED_BYTES, file.size - 12):
        raise _UnreadableError(f"The parquet footer claims {length} bytes, which cannot be.")
    file.fetch(file.size - 8 - length, file.size - 1)


def _rows(file: RangedFile) -> Iterator[tuple[str, Any]]:
    """The values of both columns, as (column, decoded value), up to the row group where both have been seen.

    Row groups are not skipped by their statistics: pyarrow's accessors for those end the process on a damaged footer.
    """
    parquet = _opened(file)
    # In the order of the file, so that the second column is in the bytes fetched for the first.
    wanted = [column for column in dict.fromkeys(parquet.schema_arrow.names) if column in _COLUMNS]
    for group in range(parquet.metadata.num_row_groups):
        if not wanted:
            return
        with _as_unreadable(file):
            table = parquet.read_row_group(group, columns=wanted, use_threads=False)
            values = {column: _last(table.column(column)) for column in wanted}
        found = {column: value for column, value in values.items() if value is not None}
        yield from found.items()
        wanted = [column for column in wanted if column not in found]


def _opened(file: RangedFile) -> Any:
    # Not at the top: every page and command loads this module at its start, and hardly any reads a checkpoint.
    import pyarrow.parquet as pq

    with _as_unreadable(file):
        parquet = pq.ParquetFile(file, pre_buffer=False)
        # Decoded here, so that a schema that cannot be is refused under the same guard.
        _ = parquet.schema_arrow
        return parquet


@contextmanager
def _as_unreadable(file: RangedFile) -> Iterator[None]:
    """Turn what pyarrow raises into one sentence, but never an error of the store that came through it."""
    import pyarrow as pa

    try:
        yield
    except (
        pa.ArrowException,
        PieceMissingError,
        OSError,
        ValueError,
        LookupError,
        ArithmeticError,
        MemoryError,
    ) as error:
        if file.store_error is not None:
            raise file.store_error from None
        first_line = str(error).partition("\n")[0].rstrip(".")
        raise _UnreadableError(f"The parquet cannot be read: {first_line or type(error).__name__}.") from error


def _last(column: Any) -> Any:
    """The last value of a column that is not null; a whole checkpoint holds exactly one."""
    values = column.drop_null()
    return values[-1].as_py() if len(values) else None


def _problem(version: int, name: str, reason: str) -> StateParts:
    return StateParts(version, problems=(ReadingProblem(name, reason),))
