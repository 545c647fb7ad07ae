"""Writers that make one request after another, as upstream's classes do, so that a test can let them act between two
requests of a reader.

Each `step` is one request of the commit under way; `commit` brings it to its end.
"""

import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.builders.delta import (
    EPOCH_MS,
    checkpoint_bytes,
    commit_bytes,
    commit_info,
    coordinator_commit,
    coordinator_properties,
    first_commit_bytes,
    incomplete_item,
    metadata,
    protocol,
    registration_item,
)
from tests.builders.moto_lake import MotoLake

LIFE = 86_400
"""Seconds that a finished entry lives: `ddb.ttl`."""


@dataclass
class Writer:
    """The only writer of a table, which stands at `version`. `properties` are those of its metadata."""

    written: MotoLake
    root: str
    version: int
    properties: dict[str, str] = field(default_factory=dict)
    _under_way: Iterator[None] | None = None

    def step(self) -> None:
        """Make the next request; the first one of the next commit where none is under way."""
        if self._under_way is None:
            self._under_way = self._commit(self.version + 1)
        if next(self._under_way, self) is self:
            self.version += 1
            self._under_way = None
            self.step()

    def commit(self) -> None:
        """Bring the commit under way to its end, or make one."""
        for _ in self._under_way or self._commit(self.version + 1):
            pass
        self.version += 1
        self._under_way = None

    def clean(self) -> None:
        """Write a checkpoint of the newest version and delete all commit files before it, oldest first."""
        actions = (protocol(), metadata(properties=self.properties))
        self.written.put(self.log(f"{self.version:020d}.checkpoint.parquet"), checkpoint_bytes(*actions))
        for version in range(self.version):
            self.written.delete(self.file(version))

    def log(self, name: str) -> str:
        return f"{self.root}/_delta_log/{name}"

    def file(self, version: int) -> str:
        return self.log(f"{version:020d}.json")

    def _commit(self, version: int) -> Iterator[None]:
        raise NotImplementedError


class LogStoreWriter(Writer):
    """S3DynamoDBLogStore (delta-storage-s3-dynamodb 4.4, `BaseExternalLogStore.write`)."""

    def expire(self) -> None:
        """What TTL does after a day: every finished entry goes, but the newest."""
        for version in range(self.version):
            self.written.dynamodb.delete_item(TableName=self.written.log_store, Key=self._key(version))

    def _commit(self, version: int) -> Iterator[None]:
        body, temp = commit_bytes(commit_info()), f".tmp/{version:020d}.json.{uuid.uuid4()}"
        self.written.put(self.log(temp), body)
        yield
        item = incomplete_item(version, self.written.uri(self.root), tempPath={"S": temp})
        self._put(item)
        yield
        self.written.put(self.file(version), body)
        yield
        self._put({**item, "complete": {"S": "true"}, "expireTime": {"N": str(int(time.time()) + LIFE)}})
        yield

    def _key(self, version: int) -> dict[str, Any]:
        return {"tablePath": {"S": self.written.uri(self.root)}, "fileName": {"S": f"{version:020d}.json"}}

    def _put(self, item: dict[str, Any]) -> None:
        self.written.dynamodb.put_item(TableName=self.written.log_store, Item=item)


@dataclass
class CoordinatedWriter(Writer):
    """The DynamoDB commit coordinator (Delta 4.4): each commit is staged, accepted, backfilled and cleared."""

    item: dict[str, Any] = field(default_factory=dict)
    store: str = ""

    def _commit(self, version: int) -> Iterator[None]:
        at = EPOCH_MS + version
        body, name = commit_bytes(commit_info(in_commit_timestamp=at)), f"{version:020d}.{uuid.uuid4()}.json"
        self.written.put(self.log(f"_staged_commits/{name}"), body)
        yield
        element = coordinator_commit(version, fsName={"S": name}, fsLength={"N": str(len(body))})
        self._set(tableVersion=version, tableTimestamp=at, commits=[element])
        yield
        self.written.put(self.file(version), body)
        yield
        self._set(tableVersion=version, tableTimestamp=at, commits=[])
        yield

    def _set(self, *, commits: list[dict[str, Any]], **numbers: int) -> None:
        self.item |= {name: {"N": str(value)} for name, value in numbers.items()} | {"commits": {"L": commits}}
        self.written.dynamodb.put_item(TableName=self.store, Item=self.item)


def log_store_writer(written: MotoLake, root: str, commits: int = 3) -> LogStoreWriter:
    """A table of the log store with that many commits, and its writer."""
    written.commit(root, 0)
    writer = LogStoreWriter(written, root, 0)
    written.entry(root, 0, expireTime={"N": str(int(time.time()) + LIFE)})
    for _ in range(commits - 1):
        writer.commit()
    return writer


def coordinated_writer(written: MotoLake, root: str, store: str) -> CoordinatedWriter:
    """A table that was coordinated from its first commit, with three, and its writer."""
    table_id = str(uuid.uuid4())
    properties = coordinator_properties(store, written.endpoint, table_id)
    written.commit(root, 0, first_commit_bytes(properties))
    item = registration_item(0, tableId={"S": table_id}, path={"S": written.uri(root)})
    writer = CoordinatedWriter(written, root, 0, properties, item=item, store=store)
    writer.commit()
    writer.commit()
    return writer


def meanwhile(act: Callable[[], object], operation: str, *, within: str = "", times: int = 1) -> Callable[[Any], None]:
    """A hook for a gate: does something before the first requests of an operation, as often as told."""
    left = [times]

    def before(call: Any) -> None:
        if call.operation == operation and within in call.target and left[0]:
            left[0] -= 1
            act()

    return before
