"""The file actions of a log: which data files, and which deletion vectors beside them, a table names.

Source: PROTOCOL.md of Delta 4.4.0: "Add File and Remove File", "Deletion Vectors", "Checkpoints", "Sidecar Files".
"""

import base64
import re
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import unquote

import orjson

from lake.delta.names import MAX_VERSION
from lake.delta.uri import SCHEMES

# Those that change neither how files are named nor where commits are. A catalog may hold commits that no log does.
KNOWN_FEATURES = frozenset(
    {
        "columnMapping",
        "deletionVectors",
        "timestampNtz",
        "typeWidening",
        "typeWidening-preview",
        "v2Checkpoint",
        "vacuumProtocolCheck",
        "variantShredding",
        "variantShredding-preview",
        "variantType",
        "variantType-preview",
    }
)
NEWEST_READER = 3
ROWS = 20_000

_Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_RFC_1924 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_TO_RFC_1924 = str.maketrans(_Z85, _RFC_1924)
_UUID_CHARACTERS = 20
_ABSOLUTE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/]*))?(/.*)", re.DOTALL)
PLAIN_PATH = r"^(?:[A-Za-z0-9_=-][A-Za-z0-9_=.-]*/)*[A-Za-z0-9_=-][A-Za-z0-9_=.-]*$"
"""A relative path as nearly all are: without an escape, a scheme or a dotted part."""
_PLAIN = re.compile(PLAIN_PATH, re.ASCII)
_ADD = ("add.path", "add.size", "add.deletionVector")
_REMOVE = ("remove.path", "remove.deletionTimestamp", "remove.deletionVector")
CHECKPOINT_COLUMNS = ("protocol", "metaData.id", "metaData.schemaString", *_ADD, *_REMOVE, "sidecar.path")


class LogUnreadable(Exception):
    """The log does not tell which files the table has; the message is one sentence."""


class FileAction(NamedTuple):
    """An add or a remove. `path` is the log's own text, `vector` the deletion vector's as {"storageType", …} or None.

    `removed_at` is epoch milliseconds, None for an add and for a remove that does not say; `size` is an add's bytes,
    None where it does not say.
    """

    version: int
    is_add: bool
    path: str
    removed_at: int | None
    vector: dict[str, Any] | None
    size: int | None = None


class Sidecar(NamedTuple):
    """A file of a V2 checkpoint below `_sidecars/`, by the log's own text."""

    path: str


class TableId(NamedTuple):
    """The id that a `metaData` action with a schema gives the table: another one is another table."""

    id: str


class ReaderVersion(NamedTuple):
    """What a `protocol` action asks of readers, which are known here."""

    version: int


class CommitTime(NamedTuple):
    """When a commit says that it was made, in epoch milliseconds: its in-commit timestamp, else its writer's clock."""

    at: int
    is_in_commit: bool


LogAction = FileAction | Sidecar | TableId | ReaderVersion | CommitTime


class Located(NamedTuple):
    """Where a path of a log leads: `name` is the whole path, and `keys` are those of the bucket that it may mean.

    `is_absolute` tells a file that need not be of this table. No key: it lies in another bucket, or nowhere on S3.
    """

    name: str
    keys: tuple[str, ...]
    is_absolute: bool


def commit_files(version: int, data: bytes) -> Iterator[LogAction]:
    """The file actions of a commit, or of a V2 checkpoint in JSON. Raises LogUnreadable."""
    for row in commit_rows(version, data):
        yield from actions_of_line(version, row)


def commit_rows(version: int, data: bytes) -> Iterator[dict[str, Any]]:
    """The actions of a commit as they stand on its lines. Raises LogUnreadable."""
    if not data.strip():
        raise LogUnreadable(f"The commit of version {version} is empty.")
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line or line.isspace():
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError:
            row = None
        if not isinstance(row, dict):
            raise LogUnreadable(f"Line {number} of version {version} is not one whole action.")
        yield row


def checkpoint_files(version: int, file: BinaryIO) -> Iterator[LogAction]:
    """The file actions of a checkpoint, or of a sidecar, in Parquet, a few rows in memory. Raises LogUnreadable."""
    with unreadable_checkpoint(version):
        for row in checkpoint_rows(version, file, CHECKPOINT_COLUMNS):
            yield from actions_of(version, row)


def checkpoint_rows(version: int, file: BinaryIO, wanted: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows of a checkpoint, or of a sidecar, in Parquet, with those of the `wanted` columns that it has, a few in
    memory. Raises LogUnreadable."""
    import pyarrow.parquet as pq

    with unreadable_checkpoint(version):
        parquet = pq.ParquetFile(file, pre_buffer=False)
        held = {field.name for field in parquet.schema_arrow}
        columns = [name for name in wanted if name.partition(".")[0] in held]
        for batch in parquet.iter_batches(ROWS, columns=columns, use_threads=False):
            yield from batch.to_pylist()


@contextmanager
def unreadable_checkpoint(version: int) -> Iterator[None]:
    """Turn what pyarrow raises into LogUnreadable."""
    # Not at the top, so that what reads commits alone, or nothing yet, goes without.
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, ArithmeticError, ValueError, TypeError, AttributeError, LookupError) as error:
        first_line = str(error).partition("\n")[0].rstrip(".")
        raise LogUnreadable(f"The checkpoint of version {version} cannot be read: {first_line}.") from error


def located(path: str, root: str, bucket: str) -> Located:
    """Where a path of the log of the table at the key `root` of `bucket` leads. Raises LogUnreadable.

    Paths are percent-encoded; as some writers left that out, the key as it stands counts as well.
    """
    if _PLAIN.fullmatch(path):
        key = f"{root}/{path}" if root else path
        return Located(key, (key,), is_absolute=False)
    absolute = _ABSOLUTE.fullmatch(path)
    if absolute is not None:
        scheme, authority, rest = absolute[1].lower(), absolute[2] or "", absolute[3]
        is_here = scheme in SCHEMES and authority in ("", bucket)
        return Located(path, _keys(rest[1:]) if is_here else (), is_absolute=True)
    if path.startswith("/"):
        return Located(path, _keys(path[1:]), is_absolute=True)
    keys = _keys(path)
    below = f"{root}/" if root else ""
    return Located(below + keys[0], tuple(below + key for key in keys), is_absolute=False)


def vector_path(vector: dict[str, Any] | None) -> str:
    """The path, as `located` reads it, of the file that a deletion vector lies in; "" for none and for an inline one.

    Raises LogUnreadable.
    """
    if vector is None:
        return ""
    kind, text = vector.get("storageType"), vector.get("pathOrInlineDv")
    if kind == "i":
        return ""
    if kind == "p" and isinstance(text, str):
        return text
    if kind != "u" or not isinstance(text, str) or len(text) < _UUID_CHARACTERS:
        raise LogUnreadable(f"The log names a deletion vector of an unknown kind: {str(vector)[:100]!r}.")
    folder, encoded = text[:-_UUID_CHARACTERS], text[-_UUID_CHARACTERS:]
    try:
        name = uuid.UUID(bytes=base64.b85decode(encoded.translate(_TO_RFC_1924)))
    except ValueError as error:
        raise LogUnreadable(f"The log names a deletion vector by no UUID: {text[:100]!r}.") from error
    return f"{folder}/deletion_vector_{name}.bin" if folder else f"deletion_vector_{name}.bin"


def vector_id(vector: dict[str, Any] | None) -> str:
    """What tells a file with this deletion vector from the same file with another; "" for none."""
    if vector is None:
        return ""
    return f"{vector.get('storageType')}{vector.get('pathOrInlineDv')}@{vector.get('offset')}"


def path_of_vector(identity: str) -> str:
    """The `vector_path` of the deletion vector that a `vector_id` tells apart."""
    return vector_path({"storageType": identity[:1], "pathOrInlineDv": identity[1:].rpartition("@")[0]})


def actions_of_line(version: int, row: dict[str, Any]) -> Iterator[LogAction]:
    """What one line of a commit says. Raises LogUnreadable."""
    try:
        yield from actions_of(version, row)
    except (TypeError, AttributeError) as error:
        raise LogUnreadable(f"A line of version {version} is no action of Delta: {str(row)[:100]!r}.") from error


def actions_of(version: int, row: dict[str, Any]) -> Iterator[LogAction]:
    """What one row or line says. Raises LogUnreadable, and what wrong types raise."""
    add, remove, sidecar = row.get("add"), row.get("remove"), row.get("sidecar")
    if add is not None and (path := _path(version, add)):
        yield FileAction(version, True, path, None, _vector(version, add), _whole_number(add.get("size")))
    if remove is not None and (path := _path(version, remove)):
        yield FileAction(version, False, path, _whole_number(remove.get("deletionTimestamp")), _vector(version, remove))
    if sidecar is not None and (path := _path(version, sidecar)):
        yield Sidecar(path)
    if (protocol := row.get("protocol")) is not None:
        _require_known(protocol)
        yield ReaderVersion(protocol["minReaderVersion"])
    if (metadata := row.get("metaData")) is not None and isinstance(metadata.get("schemaString"), str):
        yield TableId(str(metadata.get("id")))
    if (info := row.get("commitInfo")) is not None and (made := _made_at(info)) is not None:
        yield made


def _made_at(info: dict[str, Any]) -> CommitTime | None:
    if (in_commit := _whole_number(info.get("inCommitTimestamp"))) is not None:
        return CommitTime(in_commit, is_in_commit=True)
    at = _whole_number(info.get("timestamp"))
    return None if at is None else CommitTime(at, is_in_commit=False)


def _path(version: int, action: dict[str, Any]) -> str:
    path = action.get("path")
    if not isinstance(path, str) or not path:
        raise LogUnreadable(f"A file action of version {version} names no path.")
    return path


def _whole_number(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= MAX_VERSION else None


def _vector(version: int, action: dict[str, Any]) -> dict[str, Any] | None:
    vector = action.get("deletionVector")
    if vector is None or isinstance(vector, dict):
        return vector
    raise LogUnreadable(f"A deletion vector of version {version} is no object.")


def _require_known(protocol: dict[str, Any]) -> None:
    reader = protocol.get("minReaderVersion")
    unknown = sorted(set(protocol.get("readerFeatures") or ()) - KNOWN_FEATURES)
    if unknown:
        raise LogUnreadable(f"The table needs readers that know the feature {unknown[0]}, which Levee does not.")
    if not isinstance(reader, int) or reader > NEWEST_READER:
        raise LogUnreadable(f"The table needs readers of version {reader!r}; Levee knows up to {NEWEST_READER}.")


def _keys(path: str) -> tuple[str, ...]:
    """What a path may mean as a key, the likeliest first."""
    try:
        decoded = unquote(path, errors="strict")
    except UnicodeDecodeError as error:
        raise LogUnreadable(f"The log names a file by a path that is not UTF-8: {path[:100]!r}.") from error
    if not {"", ".", ".."}.isdisjoint(decoded.split("/")):
        raise LogUnreadable(f"The log names a file by a path with an empty or dotted part: {path[:100]!r}.")
    return (decoded,) if decoded == path else (decoded, path)
