"""Delta-shaped bytes, listings and DynamoDB items, as Spark and its coordinators write them.

Versions are ints, sizes bytes, timestamps epoch milliseconds unless a name says otherwise.
"""

import io
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from lake.aws.list_page import ObjectSummary
from lake.delta.coordinator_properties import COORDINATOR, COORDINATOR_CONF, TABLE_CONF
from lake.delta.facts import LogObject
from tests.lazily import lazily

pa = lazily("pyarrow")
pq = lazily("pyarrow.parquet")

EPOCH_MS = 1_767_225_600_000
UUID = "7426a6d4-0b3c-4f6e-9b9a-2f3d4c5b6a71"
WRITTEN_AT = datetime(2026, 1, 1, tzinfo=UTC)

Json = dict[str, Any]


def listed_object(key: str, size: int = 1_000, modified_at: datetime = WRITTEN_AT, etag: str = "etag") -> ObjectSummary:
    """An object as a listing of the bucket gives it: `key` is the whole key."""
    return ObjectSummary(key, size, modified_at, etag)


def listed(*keys: str, size: int = 1_000) -> tuple[ObjectSummary, ...]:
    """Listed objects of one size, in the order given."""
    return tuple(listed_object(key, size) for key in keys)


def log_object(name: str, size: int = 1_000, modified_at: datetime = WRITTEN_AT, etag: str = "etag") -> LogObject:
    """One object under `_delta_log/`."""
    return LogObject(name, size, modified_at, etag)


def protocol(reader: int = 1, writer: int = 2, **features: Sequence[str]) -> Json:
    """A `protocol` action; features by `readerFeatures=` and `writerFeatures=`."""
    return {"protocol": {"minReaderVersion": reader, "minWriterVersion": writer, **features}}


def metadata(table_id: str = UUID, *, properties: Mapping[str, str] | None = None, name: str | None = None) -> Json:
    """A `metaData` action of an unpartitioned table with one column."""
    schema = '{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}}]}'
    action = {
        "id": table_id,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": schema,
        "partitionColumns": [],
        "configuration": dict(properties or {}),
        "createdTime": EPOCH_MS,
    }
    return {"metaData": action | ({"name": name} if name is not None else {})}


def coordinator_properties(store: str, endpoint: str, table_id: str) -> dict[str, str]:
    """The properties by which a table names its DynamoDB commit coordinator and its registration there."""
    return {
        COORDINATOR: "dynamodb",
        COORDINATOR_CONF: json.dumps({"dynamoDBTableName": store, "dynamoDBEndpoint": endpoint}),
        TABLE_CONF: json.dumps({"tableId": table_id}),
    }


def commit_info(
    operation: str = "WRITE",
    in_commit_timestamp: int | None = None,
    *,
    timestamp: int | None = EPOCH_MS,
    engine: str = "Apache-Spark/4.2.0 Delta-Lake/4.4.0",
) -> Json:
    """A `commitInfo` action; with a `timestamp` of None it says no time."""
    clock = {"timestamp": timestamp} if timestamp is not None else {}
    info: Json = clock | {"operation": operation, "engineInfo": engine}
    return {
        "commitInfo": ({"inCommitTimestamp": in_commit_timestamp} if in_commit_timestamp is not None else {}) | info
    }


def add(path: str = "part-00000.snappy.parquet", size: int = 500) -> Json:
    """An `add` action with statistics."""
    stats = '{"numRecords":1,"minValues":{"id":1},"maxValues":{"id":1},"nullCount":{"id":0}}'
    action = {"path": path, "partitionValues": {}, "size": size, "modificationTime": EPOCH_MS, "dataChange": True}
    return {"add": action | {"stats": stats}}


def remove(path: str = "part-00000.snappy.parquet") -> Json:
    """A `remove` action."""
    return {"remove": {"path": path, "deletionTimestamp": EPOCH_MS, "dataChange": True}}


def commit_bytes(*actions: Json, newline: bool = True) -> bytes:
    """A commit file of these actions; without any, an ordinary append of one file."""
    lines = [json.dumps(action, separators=(",", ":")) for action in actions or (commit_info(), add())]
    return ("\n".join(lines) + ("\n" if newline else "")).encode()


def first_commit_bytes(properties: Mapping[str, str] | None = None, *, table_id: str = UUID) -> bytes:
    """The commit that creates a table."""
    return commit_bytes(commit_info("CREATE TABLE"), metadata(table_id, properties=properties), protocol())


def crc_bytes(files: int = 1, size: int = 500, *, in_commit_timestamp: int | None = None, **more: Any) -> bytes:
    """A `.crc` file; `protocol=` and `metadata=` replace its actions' contents, None leaves one out."""
    content: Json = {
        "tableSizeBytes": size,
        "numFiles": files,
        "numMetadata": 1,
        "numProtocol": 1,
        "metadata": metadata()["metaData"],
        "protocol": protocol()["protocol"],
        "inCommitTimestampOpt": in_commit_timestamp,
    } | more
    return json.dumps({key: value for key, value in content.items() if value is not None}).encode()


@cache
def checkpoint_schema() -> "pa.Schema":
    """The columns of a parquet checkpoint, as Spark writes them."""
    texts = pa.list_(pa.string())
    mapping = pa.map_(pa.string(), pa.string())
    return pa.schema(
        [
            ("txn", pa.struct([("appId", pa.string()), ("version", pa.int64())])),
            ("add", pa.struct([("path", pa.string()), ("partitionValues", mapping), ("size", pa.int64())])),
            ("remove", pa.struct([("path", pa.string()), ("deletionTimestamp", pa.int64())])),
            (
                "metaData",
                pa.struct(
                    [
                        ("id", pa.string()),
                        ("name", pa.string()),
                        ("format", pa.struct([("provider", pa.string()), ("options", mapping)])),
                        ("schemaString", pa.string()),
                        ("partitionColumns", texts),
                        ("configuration", mapping),
                        ("createdTime", pa.int64()),
                    ]
                ),
            ),
            (
                "protocol",
                pa.struct(
                    [
                        ("minReaderVersion", pa.int32()),
                        ("minWriterVersion", pa.int32()),
                        ("readerFeatures", texts),
                        ("writerFeatures", texts),
                    ]
                ),
            ),
        ]
    )


def checkpoint_bytes(*actions: Json, row_group_size: int | None = None) -> bytes:
    """A parquet checkpoint with Spark's columns, one row for each action; without any, a table of one file."""
    rows = [_checkpoint_row(action) for action in actions or (protocol(), metadata(), add())]
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, checkpoint_schema()), sink, row_group_size=row_group_size)
    return sink.getvalue()


def _checkpoint_row(action: Json) -> Json:
    row = json.loads(json.dumps(action))
    for content, key in ((row.get("metaData"), "configuration"), (row.get("add"), "partitionValues")):
        if content is not None:
            content[key] = list(content.get(key, {}).items())
    if "metaData" in row:
        row["metaData"]["format"]["options"] = []
    return row


def log_store_item(version: int, table_path: str = "s3a://lake/sales/orders", **changes: Any) -> Json:
    """A complete item of S3DynamoDBLogStore in wire form.

    A keyword replaces the attribute of that name by a wire value (`complete={"S": "false"}`); None leaves it out.
    """
    name = f"{version:020d}.json"
    item: Json = {
        "tablePath": {"S": table_path},
        "fileName": {"S": name},
        "tempPath": {"S": f".tmp/{name}.{UUID}"},
        "complete": {"S": "true"},
        "expireTime": {"N": str(EPOCH_MS // 1_000)},
    } | changes
    return {key: value for key, value in item.items() if value is not None}


def incomplete_item(version: int, table_path: str = "s3a://lake/sales/orders", **changes: Any) -> Json:
    """An item whose commit is accepted and not yet complete."""
    return log_store_item(version, table_path, **({"complete": {"S": "false"}, "expireTime": None} | changes))


def coordinator_commit(version: int, /, **changes: Any) -> Json:
    """One element of a registration's `commits` in wire form; keywords replace attributes, None leaves one out."""
    element: Json = {
        "version": {"N": str(version)},
        "timestamp": {"N": str(EPOCH_MS + version)},
        "fsName": {"S": f"{version:020d}.{UUID}.json"},
        "fsLength": {"N": "1000"},
        "fsTimestamp": {"N": str(EPOCH_MS + version)},
    } | changes
    return {"M": {key: value for key, value in element.items() if value is not None}}


def registration_item(table_version: int = 2, unbackfilled: Sequence[int] = (), **changes: Any) -> Json:
    """A coordinator's item in wire form that has accepted commits; keywords replace attributes, None leaves one out."""
    item: Json = {
        "tableId": {"S": UUID},
        "path": {"S": "s3a://lake/sales/orders"},
        "acceptingCommits": {"BOOL": True},
        "hasAcceptedCommits": {"BOOL": True},
        "tableVersion": {"N": str(table_version)},
        "tableTimestamp": {"N": str(EPOCH_MS + table_version)},
        "schemaVersion": {"N": "1"},
        "commits": {"L": [coordinator_commit(version) for version in unbackfilled]},
    } | changes
    return {key: value for key, value in item.items() if value is not None}
