"""The bytes of small, valid Delta tables: Parquet data files and the actions that add them to the log."""

import io
import json
import random
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

Action = dict[str, Any]

ENGINE = "Apache-Spark/3.5.6 Delta-Lake/3.3.2"
_WORDS = ("north", "south", "web", "store", "app", "partner", "open", "paid", "shipped", "returned", "de", "fr", "us")


@dataclass(frozen=True, slots=True)
class Shape:
    """Columns as "name type" in Delta's own type names, and the columns that the table is partitioned by."""

    columns: tuple[str, ...]
    partition_by: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, kind) for name, kind in (column.split() for column in self.columns))

    def schema_string(self) -> str:
        fields = [{"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in self.fields]
        return json.dumps({"type": "struct", "fields": fields})


@dataclass(frozen=True, slots=True)
class DataFile:
    """A data file: its path relative to the table, its bytes and its partition values."""

    path: str
    data: bytes
    rows: int
    partition_values: dict[str, str] = field(default_factory=dict)


def data_file(shape: Shape, at: float, rows: int, seed: int) -> DataFile:
    """Make one Parquet file of plausible rows for a commit at epoch seconds `at`; the same seed gives the same rows."""
    # Not at the top: the recipes of the samples are read by many who make none.
    import pyarrow as pa
    import pyarrow.parquet as pq

    dice = random.Random(seed)
    stored = [(name, kind) for name, kind in shape.fields if name not in shape.partition_by]
    types = _arrow_types()
    arrays = [pa.array([_value(kind, dice, at, seed, row) for row in range(rows)], types[kind]) for _, kind in stored]
    out = io.BytesIO()
    pq.write_table(pa.table(arrays, names=[name for name, _ in stored]), out, compression="snappy")
    values = {name: _partition_value(dict(shape.fields)[name], dice, at) for name in shape.partition_by}
    folder = "".join(f"{name}={quote(value, safe='')}/" for name, value in values.items())
    name = f"part-00000-{uuid.UUID(int=dice.getrandbits(128), version=4)}-c000.snappy.parquet"
    return DataFile(folder + name, out.getvalue(), rows, values)


def _arrow_types() -> dict[str, Any]:
    import pyarrow as pa

    return {
        "long": pa.int64(),
        "double": pa.float64(),
        "string": pa.string(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us", tz="UTC"),
    }


def _value(kind: str, dice: random.Random, at: float, seed: int, row: int) -> Any:
    moment = datetime.fromtimestamp(at - dice.random() * 3600, UTC)
    if kind == "long":
        return seed * 1000 + row
    if kind == "double":
        return round(dice.uniform(1, 900), 2)
    if kind == "string":
        return dice.choice(_WORDS)
    return moment.date() if kind == "date" else moment


def _partition_value(kind: str, dice: random.Random, at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}" if kind == "date" else dice.choice(_WORDS)


def creation(shape: Shape, name: str, at: float) -> list[Action]:
    """Actions of version 0: who made the table, its protocol and its schema."""
    meta = {
        "id": str(uuid.uuid4()),
        "name": name,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": shape.schema_string(),
        "partitionColumns": list(shape.partition_by),
        "configuration": {},
        "createdTime": int(at * 1000),
    }
    return [
        commit_info("CREATE TABLE", at, {"partitionBy": json.dumps(list(shape.partition_by)), "properties": "{}"}),
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {"metaData": meta},
    ]


def append(version: int, files: Sequence[DataFile], at: float) -> list[Action]:
    """Actions of an append of these files."""
    metrics = {
        "numFiles": str(len(files)),
        "numOutputRows": str(sum(file.rows for file in files)),
        "numOutputBytes": str(sum(len(file.data) for file in files)),
    }
    info = commit_info("WRITE", at, {"mode": "Append", "partitionBy": "[]"}, read_version=version - 1, metrics=metrics)
    return [info, *(add(file, at) for file in files)]


def compaction(version: int, old: Sequence[DataFile], new: DataFile, at: float) -> list[Action]:
    """Actions of an OPTIMIZE that puts one file in the place of several."""
    metrics = {"numRemovedFiles": str(len(old)), "numAddedFiles": "1"}
    info = commit_info("OPTIMIZE", at, {"predicate": "[]"}, read_version=version - 1, metrics=metrics)
    removed = [_remove(file, at) for file in old]
    return [info, add(new, at, data_change=False), *removed]


def commit_info(
    operation: str,
    at: float,
    parameters: dict[str, str],
    *,
    read_version: int | None = None,
    metrics: dict[str, str] | None = None,
) -> Action:
    info: Action = {
        "timestamp": int(at * 1000),
        "operation": operation,
        "operationParameters": parameters,
        "isolationLevel": "Serializable",
        "isBlindAppend": operation != "OPTIMIZE",
        "operationMetrics": metrics or {},
        "engineInfo": ENGINE,
        "txnId": str(uuid.uuid4()),
    }
    if read_version is not None:
        info["readVersion"] = read_version
    return {"commitInfo": info}


def add(file: DataFile, at: float, *, data_change: bool = True) -> Action:
    return {
        "add": {
            "path": quote(file.path),
            "partitionValues": file.partition_values,
            "size": len(file.data),
            "modificationTime": int(at * 1000),
            "dataChange": data_change,
            "stats": json.dumps({"numRecords": file.rows}),
        }
    }


def _remove(file: DataFile, at: float) -> Action:
    return {
        "remove": {
            "path": quote(file.path),
            "deletionTimestamp": int(at * 1000),
            "dataChange": False,
            "extendedFileMetadata": True,
            "partitionValues": file.partition_values,
            "size": len(file.data),
        }
    }


def commit_bytes(actions: Iterable[Action]) -> bytes:
    """Write a commit as Delta does: one JSON object a line."""
    return "".join(f"{json.dumps(action, separators=(',', ':'))}\n" for action in actions).encode()
