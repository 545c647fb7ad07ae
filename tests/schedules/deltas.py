"""Commit files as the models of writers write them: the least that a Delta log needs (PROTOCOL.md of Delta 4.4)."""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

FEATURES = ("coordinatedCommits-preview", "inCommitTimestamp", "vacuumProtocolCheck")
COORDINATOR = "delta.coordinatedCommits.commitCoordinator-preview"
CONF = "delta.coordinatedCommits.commitCoordinatorConf-preview"
TABLE_CONF = "delta.coordinatedCommits.tableConf-preview"
TIMESTAMPS = "delta.enableInCommitTimestamps"


def append(part: str, timestamp: int | None = None, engine: str = "Apache-Spark/4.2.0 Delta-Lake/4.4.0") -> bytes:
    """An ordinary append; `timestamp` is its in-commit timestamp in milliseconds."""
    add = {"path": f"part-{part}.parquet", "partitionValues": {}, "size": 1, "modificationTime": 1, "dataChange": True}
    return _lines(_info("WRITE", timestamp, engine), {"add": add})


def conversion(operation: str, properties: Mapping[str, str], features: Sequence[str], timestamp: int | None) -> bytes:
    """A commit that states protocol and metadata anew; without features it is the oldest protocol."""
    named = {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": [one for one in features if one == "vacuumProtocolCheck"],
        "writerFeatures": list(features),
    }
    metadata = {
        "id": "b8f5f6f2-7f0e-4b51-9d8f-0123456789ab",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": '{"type":"struct","fields":[]}',
        "partitionColumns": [],
        "configuration": dict(properties),
        "createdTime": 1,
    }
    protocol = named if features else {"minReaderVersion": 1, "minWriterVersion": 2}
    return _lines(_info(operation, timestamp), {"protocol": protocol}, {"metaData": metadata})


def coordination(store: str, endpoint: str, table_id: str) -> dict[str, str]:
    """The properties of a coordinated table."""
    return {
        COORDINATOR: "dynamodb",
        CONF: json.dumps({"dynamoDBTableName": store, "dynamoDBEndpoint": endpoint}),
        TABLE_CONF: json.dumps({"tableId": table_id}),
        TIMESTAMPS: "true",
    }


def _info(operation: str, timestamp: int | None, engine: str = "Apache-Spark/4.2.0 Delta-Lake/4.4.0") -> dict[str, Any]:
    first = {} if timestamp is None else {"inCommitTimestamp": timestamp}
    return {
        "commitInfo": {**first, "timestamp": int(time.time() * 1_000), "operation": operation, "engineInfo": engine}
    }


def _lines(*actions: dict[str, Any]) -> bytes:
    return "\n".join(json.dumps(action) for action in actions).encode() + b"\n"
