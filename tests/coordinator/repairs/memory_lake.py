"""A lake in memory: objects with ETags and If-None-Match, items with conditional writes, and a clock.

Each request is one step: where it runs inside an actor, the actor pauses before it, so that anything can happen between
two requests.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from greenlet import getcurrent, greenlet

from lake.aws.dynamodb import Item, ItemWrite
from lake.aws.errors import AwsError
from lake.aws.list_page import ListPage, ObjectSummary
from lake.aws.s3 import ObjectBody, ObjectWrite

BUCKET = "lake"
KEYS = {"delta_log": ("tablePath", "fileName"), "commits": ("tableId",)}


def md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


@dataclass(frozen=True)
class Stored:
    """One object as it lies in the bucket."""

    data: bytes
    modified_at: datetime


@dataclass
class MemoryLake:
    """One bucket and two DynamoDB tables; `s3` and `dynamodb` are as repairs ask them, the rest as writers do."""

    now: datetime = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
    objects: dict[str, Stored] = field(default_factory=dict)
    items: dict[str, dict[tuple[str, ...], Item]] = field(default_factory=lambda: {name: {} for name in KEYS})
    on_item_deleted: Callable[[Item], None] = lambda item: None
    encrypted: bool = False
    """Whether S3 encrypts with a key of its own for each object: then no ETag tells of the bytes."""

    @property
    def s3(self) -> "MemoryS3":
        return MemoryS3(self)

    @property
    def dynamodb(self) -> "MemoryLake":
        return self

    def get(self, bucket: str, key: str, *, first: int | None = None, last: int | None = None) -> ObjectBody:
        self._step()
        found = self.objects.get(key)
        if found is None:
            raise AwsError("NoSuchKey", "it is absent", "R", "s3:GetObject", "", key)
        data = found.data[first or 0 : None if last is None else last + 1]
        return ObjectBody(data, len(found.data), self.etag(key), found.modified_at)

    def head(self, bucket: str, key: str) -> ObjectSummary | None:
        self._step()
        return self._summary(key) if key in self.objects else None

    def list_objects(self, prefix: str) -> tuple[ObjectSummary, ...]:
        self._step()
        return tuple(self._summary(key) for key in sorted(self.objects) if key.startswith(prefix))

    def put_if_absent(self, bucket: str, key: str, data: bytes) -> ObjectWrite:
        self._step()
        if key in self.objects:
            raise AwsError("PreconditionFailed", "it exists", "R", "s3:PutObject", "", key)
        self._store(key, data)
        return ObjectWrite("R", self.etag(key))

    def put(self, key: str, data: bytes) -> None:
        """As S3A writes: whatever is there goes."""
        self._step()
        self._store(key, data)

    def delete_object(self, bucket: str, key: str, etag: str) -> ObjectWrite:
        self._step()
        found = self.objects.get(key)
        if found is not None and self.etag(key) != etag:
            raise AwsError("PreconditionFailed", "it changed", "R", "s3:DeleteObject", "", key)
        self.objects.pop(key, None)
        return ObjectWrite("R")

    def get_item(self, table: str, key: Item) -> Item | None:
        self._step()
        return self.items[table].get(self._key(table, key))

    def query(self, table: str) -> tuple[Item, ...]:
        """Every item of one table in the order of its keys."""
        self._step()
        return tuple(item for _, item in sorted(self.items[table].items()))

    def put_item(
        self,
        table: str,
        item: Item,
        *,
        condition: str = "",
        names: Mapping[str, str] | None = None,
        values: Item | None = None,
    ) -> ItemWrite:
        self._step()
        self._require(table, item, condition, names or {}, values or {})
        self.items[table][self._key(table, item)] = dict(item)
        return ItemWrite("R")

    def update_item(
        self, table: str, key: Item, *, update: str, condition: str, names: Mapping[str, str], values: Item
    ) -> ItemWrite:
        self._step()
        self._require(table, key, condition, names, values)
        item = dict(self.items[table].get(self._key(table, key), key))
        for name, appended, value in re.findall(r"(#\w+) = (list_append\(#\w+, )?(:\w+)", update):
            held = item[names[name]]["L"] if appended else []
            item[names[name]] = {"L": [*held, *values[value]["L"]]} if appended else values[value]
        self.items[table][self._key(table, key)] = item
        return ItemWrite("R", item)

    def delete_item(
        self, table: str, key: Item, *, condition: str, names: Mapping[str, str], values: Item
    ) -> ItemWrite:
        self._step()
        self._require(table, key, condition, names, values)
        gone = self.items[table].pop(self._key(table, key), None)
        if gone is not None:
            self.on_item_deleted(gone)
        return ItemWrite("R", gone)

    def etag(self, key: str) -> str:
        data = self.objects[key].data
        return md5(key.encode() + data) if self.encrypted else md5(data)

    def pass_hours(self, hours: int) -> None:
        self.now += timedelta(hours=hours)

    def _require(self, table: str, key: Item, condition: str, names: Mapping[str, str], values: Item) -> None:
        item = self.items[table].get(self._key(table, key), {})
        if condition and not all(holds(part, item, names, values) for part in condition.split(" AND ")):
            raise AwsError("ConditionalCheckFailedException", "the condition does not hold", "R", "dynamodb:Write")

    def _key(self, table: str, item: Item) -> tuple[str, ...]:
        return tuple(item[name]["S"] for name in KEYS[table])

    def _store(self, key: str, data: bytes) -> None:
        self.objects[key] = Stored(data, self.now)

    def _summary(self, key: str) -> ObjectSummary:
        found = self.objects[key]
        return ObjectSummary(key, len(found.data), found.modified_at, self.etag(key))

    def _step(self) -> None:
        self.now += timedelta(milliseconds=1)
        if (parent := getcurrent().parent) is not None:
            parent.switch()


@dataclass(frozen=True)
class MemoryS3:
    """The conditional requests of a lake in memory."""

    lake: MemoryLake

    def get(self, bucket: str, key: str, **span: int | None) -> ObjectBody:
        return self.lake.get(bucket, key, **span)

    def head(self, bucket: str, key: str) -> ObjectSummary | None:
        return self.lake.head(bucket, key)

    def put(self, bucket: str, key: str, data: bytes) -> ObjectWrite:
        return self.lake.put_if_absent(bucket, key, data)

    def delete(self, bucket: str, key: str, *, etag: str) -> ObjectWrite:
        return self.lake.delete_object(bucket, key, etag)

    def list(self, bucket: str, prefix: str, *, delimiter: str = "", max_keys: int = 1000) -> Iterator[ListPage]:
        found = self.lake.list_objects(prefix)
        below = (one for one in found if not delimiter or delimiter not in one.key.removeprefix(prefix))
        yield ListPage(tuple(below), ())


def holds(part: str, item: Item, names: Mapping[str, str], values: Item) -> bool:
    """One part of a condition expression: an equality, a size or an absence, as repairs and writers use them."""
    if match := re.fullmatch(r"attribute_not_exists\((\S+)\)", part):
        return names.get(match[1], match[1]) not in item
    if match := re.fullmatch(r"size\((\S+)\) = (\S+)", part):
        [value] = item.get(names[match[1]], {"L": None}).values()
        return value is not None and len(value) == int(values[match[2]]["N"])
    name, value = part.split(" = ")
    return item.get(names[name]) == values[value]


class Actor:
    """Something that acts request by request, and may stop for ever before any of them."""

    def __init__(self, name: str, run: Callable[[], Any]) -> None:
        self.name = name
        self._greenlet = greenlet(lambda: self._run(run))

    @property
    def is_done(self) -> bool:
        return self._greenlet.dead

    def step(self) -> None:
        """Make one request, and come to the next one or to the end."""
        if not self.is_done:
            self._greenlet.switch()

    def kill(self) -> None:
        if not self.is_done:
            self._greenlet.throw()

    @staticmethod
    def _run(run: Callable[[], Any]) -> None:
        try:
            run()
        except AwsError:
            return  # what a writer or reader would report; nothing more comes of it
