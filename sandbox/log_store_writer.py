"""A writer that follows S3DynamoDBLogStore's protocol step by step and can be stopped after any step.

The steps, the items and the requests are those of Delta's `BaseExternalLogStore` and `S3DynamoDBLogStore`
(delta-storage 2.2 to 4.4), down to the legacy `Expected` parameter and the unconditional completion.
"""

import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from sandbox.client import Body, Client, ClientError


class Step(StrEnum):
    """What has just been done when the generator of `LogStoreTable.write` pauses."""

    ABSENCE_CHECKED = "absence checked"
    PREVIOUS_SETTLED = "previous settled"
    TEMP_FILE_WRITTEN = "temp file written"
    ENTRY_PREPARED = "entry prepared"
    PUBLISHED = "published"
    COMPLETED = "completed"


class CommitExistsError(Exception):
    """The version is taken: a Delta conflict, after which a writer tries the next version."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An item of the log store; `expire_time` is epoch seconds and absent while incomplete."""

    file_name: str
    temp_path: str
    complete: bool
    expire_time: int | None = None

    @property
    def version(self) -> int:
        return int(self.file_name.removesuffix(".json"))


def file_name(version: int) -> str:
    return f"{version:020d}.json"


@dataclass(frozen=True, slots=True)
class LogStoreTable:
    """One Delta table as one log store sees it: `scheme` is part of its identity (its lock domain).

    `ttl` is `ddb.ttl` in seconds. `now` (epoch seconds) dates what is written back; None is the clock.
    """

    client: Client
    store: str
    bucket: str
    key: str
    scheme: str = "s3a"
    ttl: int = 86_400
    now: float | None = None

    @property
    def table_path(self) -> str:
        return f"{self.scheme}://{self.bucket}/{self.key}"

    def write(self, version: int, data: bytes) -> Iterator[Step]:
        """Commit `data` as `version`, pausing after each step; abandoning the generator is the writer's death.

        Raises CommitExistsError where upstream would; after ENTRY_PREPARED the commit is accepted and upstream swallows
        whatever goes wrong. Upstream also refuses what it finds lost, which is not played here.
        """
        if self._has(file_name(version)):
            raise CommitExistsError(f"{file_name(version)} exists in {self.table_path}")
        yield Step.ABSENCE_CHECKED
        self._settle_previous(version)
        yield Step.PREVIOUS_SETTLED
        entry = Entry(file_name(version), f".tmp/{file_name(version)}.{uuid.uuid4()}", complete=False)
        self._put(entry.temp_path, data)
        yield Step.TEMP_FILE_WRITTEN
        self._put_entry(entry, only_new=True)
        yield Step.ENTRY_PREPARED
        self._publish(entry)
        yield Step.PUBLISHED
        self._complete(entry)
        yield Step.COMPLETED

    def commit(self, version: int, data: bytes, *, stop_after: Step = Step.COMPLETED) -> None:
        """Commit, or die after a step."""
        for step in self.write(version, data):
            if step is stop_after:
                return

    def refresh(self) -> None:
        """Do what each reader's `listFrom` does: repair the newest entry where it is incomplete."""
        newest = self.newest_entry()
        if newest is not None and not newest.complete:
            self.repair(newest)

    def repair(self, entry: Entry) -> None:
        """Upstream's `fixDeltaLog`, without its second tries: publish from the temp file, then complete in any case."""
        if not self._has(entry.file_name):
            self._publish(entry)
        self._complete(entry)

    def entry(self, version: int) -> Entry | None:
        key = {"tablePath": {"S": self.table_path}, "fileName": {"S": file_name(version)}}
        answer = self.client.dynamodb("GetItem", TableName=self.store, Key=key, ConsistentRead=True)
        return _read(answer["Item"]) if "Item" in answer else None

    def newest_entry(self) -> Entry | None:
        answer = self.client.dynamodb(
            "Query",
            TableName=self.store,
            ConsistentRead=True,
            ScanIndexForward=False,
            Limit=1,
            KeyConditions={
                "tablePath": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": self.table_path}]},
            },
        )
        return next((_read(item) for item in answer["Items"]), None)

    def read(self, name: str) -> bytes:
        """Read an object under `_delta_log/`."""
        return self.client.get(self.bucket, self._key(name))

    def _settle_previous(self, version: int) -> None:
        previous = self.entry(version - 1)
        if previous is not None and not previous.complete:
            self.repair(previous)

    def _publish(self, entry: Entry) -> None:
        """Copy by GET and a plain PUT after a look, as S3A's create(overwrite=false) does: it is not atomic."""
        data = self.read(entry.temp_path)
        if self._has(entry.file_name):
            raise CommitExistsError(f"{entry.file_name} exists in {self.table_path}")
        self._put(entry.file_name, data)

    def _complete(self, entry: Entry) -> None:
        expires = int(self._time()) + self.ttl
        self._put_entry(Entry(entry.file_name, entry.temp_path, complete=True, expire_time=expires), only_new=False)

    def _put_entry(self, entry: Entry, *, only_new: bool) -> None:
        condition: Body = {"Expected": {"fileName": {"Exists": False}}} if only_new else {}
        try:
            self.client.dynamodb("PutItem", TableName=self.store, Item=item(self.table_path, entry), **condition)
        except ClientError as error:
            if error.code == "ConditionalCheckFailedException":
                raise CommitExistsError(f"{entry.file_name} of {self.table_path} is taken") from error
            raise

    def _has(self, name: str) -> bool:
        return self.client.exists(self.bucket, self._key(name))

    def _put(self, name: str, data: bytes) -> None:
        self.client.put(self.bucket, self._key(name), data, modified_at=self.now)

    def _key(self, name: str) -> str:
        return f"{self.key}/_delta_log/{name}"

    def _time(self) -> float:
        return time.time() if self.now is None else self.now


def item(table_path: str, entry: Entry) -> Body:
    """Write an entry as the log store stores it."""
    attributes: Body = {
        "tablePath": {"S": table_path},
        "fileName": {"S": entry.file_name},
        "tempPath": {"S": entry.temp_path},
        "complete": {"S": "true" if entry.complete else "false"},
    }
    if entry.expire_time is not None:
        attributes["expireTime"] = {"N": str(entry.expire_time)}
    return attributes


def _read(stored: Body) -> Entry:
    return Entry(
        file_name=stored["fileName"]["S"],
        temp_path=stored["tempPath"]["S"],
        complete=stored["complete"]["S"] == "true",
        expire_time=int(stored["expireTime"]["N"]) if "expireTime" in stored else None,
    )
