"""Commit files as the models of writers write them: the least that a Delta log needs (PROTOCOL.md of Delta 4.4)."""

import time
from collections.abc import Mapping, Sequence

from tests.builders.delta import add, commit_bytes, commit_info, coordinator_properties, metadata, protocol

FEATURES = ("coordinatedCommits-preview", "inCommitTimestamp", "vacuumProtocolCheck")
TIMESTAMPS = "delta.enableInCommitTimestamps"
SPARK = "Apache-Spark/4.2.0 Delta-Lake/4.4.0"


def append(part: str, timestamp: int | None = None, engine: str = SPARK) -> bytes:
    """An ordinary append; `timestamp` is its in-commit timestamp in milliseconds."""
    info = commit_info("WRITE", timestamp, timestamp=_now(), engine=engine)
    return commit_bytes(info, add(f"part-{part}.parquet"))


def conversion(operation: str, properties: Mapping[str, str], features: Sequence[str], timestamp: int | None) -> bytes:
    """A commit that states protocol and metadata anew; without features it is the oldest protocol."""
    read = [one for one in features if one == "vacuumProtocolCheck"]
    named = protocol(3, 7, readerFeatures=read, writerFeatures=features) if features else protocol()
    return commit_bytes(commit_info(operation, timestamp, timestamp=_now()), named, metadata(properties=properties))


def coordination(store: str, endpoint: str, table_id: str) -> dict[str, str]:
    """The properties of a coordinated table."""
    return {**coordinator_properties(store, endpoint, table_id), TIMESTAMPS: "true"}


def _now() -> int:
    return int(time.time() * 1_000)
