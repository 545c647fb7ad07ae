"""The bytes of small, valid Delta tables: Parquet data files and the actions that add them to the log."""

import io
import json
import random
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

Action = dict[str, Any]

IN_COMMIT_TIMESTAMP = "inCommitTimestamp"
READER_FEATURES = frozenset({"catalogManaged", "vacuumProtocolCheck"})
ENGINE = "Apache-Spark/3.5.6 Delta-Lake/3.3.2"
_WORDS = ("north", "south", "web", "store", "app", "partner", "open", "paid", "shipped", "returned", "de", "fr", "us")


@dataclass(frozen=True, slots=True)
class Shape:
    """Columns as "name type" in Delta's own type names, and the columns that the table is partitioned by.

    `features` are writer features that its protocol names; none: writer version 2.
    """

    columns: tuple[str, ...]
    partition_by: tuple[str, ...] = ()
    features: tuple[str, ...] = ()

    @property
    def protocol(self) -> Action:
        if not self.features:
            return {"minReaderVersion": 1, "minWriterVersion": 2}
        both = [name for name in self.features if name in READER_FEATURES]
        named: Action = {"minReaderVersion": 3 if both else 1, "minWriterVersion": 7}
        return named | ({"readerFeatures": both} if both else {}) | {"writerFeatures": list(self.features)}

    @property
    def properties(self) -> dict[str, str]:
        return {"delta.enableInCommitTimestamps": "true"} if IN_COMMIT_TIMESTAMP in self.features else {}

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
    """Make one Parquet file of plausible rows for a commit at epoch seconds `at`; the same seed gives the same rows.

    Columns are long, double or string, and those of the partition dates: the day of the commit.
    """
    # Not at the top: the recipes of the samples are read by many who make none.
    import pyarrow as pa
    import pyarrow.parquet as pq

    dice = random.Random(seed)
    values: dict[str, Callable[[int], object]] = {
        "long": lambda row: seed * 1000 + row,
        "double": lambda row: round(dice.uniform(1, 900), 2),
        "string": lambda row: dice.choice(_WORDS),
    }
    types = {"long": pa.int64(), "double": pa.float64(), "string": pa.string()}
    stored = [(name, kind) for name, kind in shape.fields if name not in shape.partition_by]
    table = {name: pa.array([values[kind](row) for row in range(rows)], types[kind]) for name, kind in stored}
    out = io.BytesIO()
    pq.write_table(pa.table(table), out, compression="snappy")
    days = {name: f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}" for name in shape.partition_by}
    folder = "".join(f"{name}={day}/" for name, day in days.items())
    name = f"part-00000-{uuid.UUID(int=dice.getrandbits(128), version=4)}-c000.snappy.parquet"
    return DataFile(folder + name, out.getvalue(), rows, days)


def creation(shape: Shape, name: str, at: float) -> list[Action]:
    """Actions of version 0: who made the table, its protocol and its schema."""
    meta = {
        "id": str(uuid.uuid4()),
        "name": name,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": shape.schema_string(),
        "partitionColumns": list(shape.partition_by),
        "configuration": shape.properties,
        "createdTime": int(at * 1000),
    }
    return [
        commit_info("CREATE TABLE", at, {"partitionBy": json.dumps(list(shape.partition_by)), "properties": "{}"}),
        {"protocol": shape.protocol},
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
        "isBlindAppend": True,
        "operationMetrics": metrics or {},
        "engineInfo": ENGINE,
        "txnId": str(uuid.uuid4()),
    }
    if read_version is not None:
        info["readVersion"] = read_version
    return {"commitInfo": info}


def add(file: DataFile, at: float) -> Action:
    return {
        "add": {
            "path": quote(file.path),
            "partitionValues": file.partition_values,
            "size": len(file.data),
            "modificationTime": int(at * 1000),
            "dataChange": True,
            "stats": json.dumps({"numRecords": file.rows}),
        }
    }


def commit_bytes(actions: Iterable[Action]) -> bytes:
    """Write a commit as Delta does: one JSON object a line."""
    return "".join(f"{json.dumps(action, separators=(',', ':'))}\n" for action in actions).encode()
