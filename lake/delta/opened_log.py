"""A log whose data files lie elsewhere: a table's log with each file named in full, its writers kept out.

It opens as a table of its own that shares its files with a backup. Source: PROTOCOL.md of Delta 4.4.0: "Add File and
Remove File" (a path may be an absolute URI), "Deletion Vectors" (storage type "p"), "Protocol Evolution", "Sidecars".
"""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import orjson

from lake.delta.file_actions import LogUnreadable, commit_rows, unreadable_checkpoint, vector_path
from lake.delta.names import NameKind, parse_name

READ_ONLY = "leveeReadOnly"
"""A writer feature that no engine knows: whoever keeps to the protocol reads such a table and refuses to change it."""
_WITH_FEATURES = 7
_OF_OLD_WRITERS = (
    (2, ("appendOnly", "invariants")),
    (3, ("checkConstraints",)),
    (4, ("changeDataFeed", "generatedColumns")),
    (5, ("columnMapping",)),
    (6, ("identityColumns",)),
)
"""The features that a writer version below 7 stands for, beside those of the versions before it."""
_COORDINATION = ("delta.coordinatedCommits.", "delta.managedCommits.")
_NOT_KEPT = ("coordinatedCommits", "managedCommit", "vacuumProtocolCheck")
"""How the names of features begin that only a log with commits elsewhere needs; the last shuts deltalake 1.6 out."""
_FILE_ACTIONS = ("add", "remove", "cdc")
_ROWS = 50_000


@dataclass(frozen=True)
class LogOpener:
    """Makes the objects of such a log. `place` gives the absolute URI of a file by a path as the log has it.

    `sidecars` are the sizes of the sidecars that were made, which come before the checkpoint that names them.
    """

    place: Callable[[str], str]
    sidecars: dict[str, int] = field(default_factory=dict)

    def opened(self, name: str, data: bytes) -> bytes:
        """What an object of the log, by its name there, becomes: the same for the same. Raises LogUnreadable."""
        parsed = parse_name(name)
        version = parsed.version or 0
        if parsed.kind is NameKind.COMMIT or parsed.format == "json":
            try:
                rows = [self._row(row) for row in commit_rows(version, data)]
            except (LookupError, TypeError, AttributeError, ValueError) as error:
                raise LogUnreadable(f"A line of {name} is no action of Delta.") from error
            return b"".join(orjson.dumps(row) + b"\n" for row in rows)
        with unreadable_checkpoint(version):
            made = self._parquet(data)
        if parsed.kind is NameKind.SIDECAR:
            self.sidecars[name.rpartition("/")[2]] = len(made)
        return made

    def _row(self, row: dict[str, Any]) -> dict[str, Any]:
        return {name: action and self._action(name, action) for name, action in row.items()}

    def _action(self, name: str, action: dict[str, Any]) -> dict[str, Any]:
        if name in _FILE_ACTIONS:
            vector = action.get("deletionVector")
            placed = {"deletionVector": self._vector(vector)} if vector else {}
            return {**action, "path": self.place(action["path"]), **placed}
        match name:
            case "sidecar":
                own = unquote(action["path"]).rpartition("/")[2]  # they lie in one folder, whatever the path says
                return {**action, "path": own, "sizeInBytes": self.sidecars[own]}
            case "protocol":
                return read_only(action)
            case "metaData":
                return {**action, "configuration": without_coordinator(dict(action.get("configuration") or ()))}
        return action

    def _vector(self, vector: dict[str, Any]) -> dict[str, Any]:
        path = vector_path(vector)
        return {**vector, "storageType": "p", "pathOrInlineDv": self.place(path)} if path else vector

    def _parquet(self, data: bytes) -> bytes:
        import pyarrow.parquet as pq

        parquet, made = pq.ParquetFile(io.BytesIO(data), pre_buffer=False), io.BytesIO()
        schema = _schema(parquet.schema_arrow)
        with pq.ParquetWriter(made, schema) as writer:
            for batch in parquet.iter_batches(_ROWS, use_threads=False):
                columns = [self._column(field, batch.column(field.name)) for field in schema]
                writer.write_batch(type(batch).from_arrays(columns, schema=schema))
        return made.getvalue()

    def _column(self, field: Any, column: Any) -> Any:
        """One column of a checkpoint. Of the many files only paths and vectors become objects of Python."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if field.name not in _FILE_ACTIONS:
            if field.type == column.type and column.null_count == len(column):
                return column
            return pa.array([row and self._action(field.name, row) for row in column.to_pylist()], field.type)
        change: dict[str, Callable[[Any], Any]] = {"path": self.place, "deletionVector": self._vector}
        children, is_there = [], column.is_valid().to_pylist()
        for one in field.type:
            child = column.field(one.name)
            if one.name in change and child.null_count < len(column):
                values = zip(child.to_pylist(), is_there, strict=True)
                child = pa.array(
                    [change[one.name](value) if there and value else None for value, there in values], one.type
                )
            children.append(child.cast(one.type))
        return pa.StructArray.from_arrays(children, fields=list(field.type), mask=pc.is_null(column))


def _schema(schema: Any) -> Any:
    """The columns of a checkpoint, with room for features in its protocol, which one of an old writer has not, and
    without parsed statistics: `stats` says the same, and pyarrow does not write timestamps as Spark reads them. All may
    be null, as Spark has it: deltalake says of some that they may not, and leaves what stands where no action is open.
    """
    import pyarrow as pa

    features = [pa.field(name, pa.list_(pa.string())) for name in ("readerFeatures", "writerFeatures")]
    for number, column in enumerate(schema):
        if pa.types.is_struct(column.type):
            fields = {one.name: one for one in (*(features if column.name == "protocol" else ()), *column.type)}
            kept = [one for one in fields.values() if not one.name.endswith("_parsed")]
            schema = schema.set(number, pa.field(column.name, _nullable(pa.struct(kept))))
    return schema


def _nullable(kind: Any) -> Any:
    import pyarrow as pa

    return pa.struct([pa.field(one.name, _nullable(one.type)) for one in kind]) if pa.types.is_struct(kind) else kind


def without_coordinator(configuration: Mapping[str, str]) -> dict[str, str]:
    """A table's properties without those by which its commits go through a coordinator."""
    return {name: value for name, value in configuration.items() if not name.startswith(_COORDINATION)}


def read_only(protocol: Mapping[str, Any]) -> dict[str, Any]:
    """A protocol whose readers are the same, and that no writer knows."""
    writer, named = protocol["minWriterVersion"], protocol.get("writerFeatures") or ()
    of_version = [one for since, features in _OF_OLD_WRITERS if since <= writer < _WITH_FEATURES for one in features]
    kept = sorted(one for one in {*named, *of_version} if not one.startswith(_NOT_KEPT))
    made = {**protocol, "minWriterVersion": _WITH_FEATURES, "writerFeatures": [*kept, READ_ONLY]}
    if (readers := protocol.get("readerFeatures")) is not None:
        made["readerFeatures"] = [one for one in readers if not one.startswith(_NOT_KEPT)]
    return made
