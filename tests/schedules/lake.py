"""One S3 and one DynamoDB in memory: what they hold at one moment, and what each request does to it.

Every request is atomic. Reads of S3 are consistent; those of DynamoDB only where they ask for it, others show what was
there before the newest write. The clock is the process's own, which tests travel with. Nothing is known of Delta here.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.schedules.expressions import InvalidExpression, Item, holds, placeholders, updated

__all__ = ["Item", "MemoryLake", "Refused", "Stored", "Table"]


class Refused(Exception):
    """What S3 or DynamoDB answers instead: an HTTP status and its error code."""

    def __init__(self, status: int, code: str, message: str = "") -> None:
        super().__init__(code)
        self.status = status
        self.code = code
        self.message = message or f"{code} it is."


@dataclass(frozen=True, slots=True)
class Stored:
    """One object; S3 tells its time in whole seconds."""

    data: bytes
    modified_at: datetime
    etag: str


@dataclass
class Table:
    """One DynamoDB table of text keys; `keys` are their names, the hash key first."""

    keys: tuple[str, ...]
    items: dict[tuple[str, ...], Item] = field(default_factory=dict)
    before: dict[tuple[str, ...], Item] = field(default_factory=dict)
    """What reads may still show that do not ask for consistency: the items before the newest write."""

    def put(self, key: tuple[str, ...], item: Item) -> None:
        self.before = dict(self.items)
        self.items[key] = item

    def remove(self, key: tuple[str, ...]) -> Item | None:
        self.before = dict(self.items)
        return self.items.pop(key, None)

    def key_of(self, item: Mapping[str, Any]) -> tuple[str, ...]:
        try:
            return tuple(item[name]["S"] for name in self.keys)
        except KeyError:
            raise Refused(400, "ValidationException", "The provided key element does not match the schema") from None


@dataclass
class MemoryLake:
    """Buckets by name, tables by name. Values are replaced and never changed."""

    buckets: dict[str, dict[str, Stored]] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)

    # S3

    def get(self, bucket: str, key: str) -> Stored:
        found = self._objects(bucket).get(key)
        if found is None:
            raise Refused(404, "NoSuchKey")
        return found

    def has(self, bucket: str, key: str) -> bool:
        return key in self._objects(bucket)

    def put(self, bucket: str, key: str, data: bytes, *, if_absent: bool = False) -> Stored:
        objects = self._objects(bucket)
        if if_absent and key in objects:
            raise Refused(412, "PreconditionFailed")
        digest = hashlib.md5(data, usedforsecurity=False).hexdigest()
        objects[key] = Stored(data, datetime.now(UTC).replace(microsecond=0), digest)
        return objects[key]

    def delete(self, bucket: str, key: str, *, if_match: str = "") -> None:
        """Deleting what is absent succeeds, except under a condition."""
        objects = self._objects(bucket)
        found = objects.get(key)
        if found is None and if_match:
            raise Refused(404, "NoSuchKey")
        if found is not None and if_match not in ("", found.etag):
            raise Refused(412, "PreconditionFailed")
        objects.pop(key, None)

    def keys(self, bucket: str, prefix: str = "") -> Iterator[str]:
        """Keys in S3's order, that of their UTF-8 bytes."""
        return iter(sorted((key for key in self._objects(bucket) if key.startswith(prefix)), key=str.encode))

    def _objects(self, bucket: str) -> dict[str, Stored]:
        if bucket not in self.buckets:
            raise Refused(404, "NoSuchBucket")
        return self.buckets[bucket]

    # DynamoDB

    def get_item(self, table: str, key: Mapping[str, Any], *, consistent: bool = True) -> Item | None:
        held = self.table(table)
        return (held.items if consistent else held.before).get(held.key_of(key))

    def put_item(self, table: str, item: Item, condition: str = "", names: Any = None, values: Any = None) -> None:
        held = self.table(table)
        key = held.key_of(item)
        _require(held.items.get(key, {}), condition, names or {}, values or {})
        held.put(key, dict(item))

    def update_item(
        self, table: str, key: Item, update: str, condition: str = "", names: Any = None, values: Any = None
    ) -> Item:
        """The item as it is afterwards; one that is absent is made where the condition allows it."""
        held = self.table(table)
        place = held.key_of(key)
        item = held.items.get(place, {})
        _require(item, condition, names or {}, values or {}, update)
        try:
            changed = updated(update, item or dict(key), names or {}, values or {})
        except InvalidExpression as error:
            raise Refused(400, "ValidationException", str(error)) from error
        if any(changed.get(name) != key[name] for name in held.keys):
            raise Refused(400, "ValidationException", "This attribute is part of the key")
        held.put(place, changed)
        return changed

    def delete_item(
        self, table: str, key: Item, condition: str = "", names: Any = None, values: Any = None
    ) -> Item | None:
        """The item as it was, None where there was none."""
        held = self.table(table)
        place = held.key_of(key)
        _require(held.items.get(place, {}), condition, names or {}, values or {})
        return held.remove(place)

    def items(self, table: str, *, consistent: bool = True) -> list[Item]:
        """All items, in the order of their keys."""
        held = self.table(table).items if consistent else self.table(table).before
        return [item for _, item in sorted(held.items(), key=lambda one: _utf8(one[0]))]

    def table(self, name: str) -> Table:
        if name not in self.tables:
            raise Refused(400, "ResourceNotFoundException", "Requested resource not found")
        return self.tables[name]


def _require(item: Item, condition: str, names: Mapping[str, str], values: Mapping[str, Any], update: str = "") -> None:
    """Refuse where a placeholder is given in vain, then where the condition does not hold."""
    if unused := (names.keys() | values.keys()) - placeholders(condition, update):
        raise Refused(400, "ValidationException", f"unused in expressions: {sorted(unused)}")
    try:
        result = not condition or holds(condition, item, names, values)
    except InvalidExpression as error:
        raise Refused(400, "ValidationException", str(error)) from error
    if not result:
        raise Refused(400, "ConditionalCheckFailedException", "The conditional request failed")


def _utf8(key: tuple[str, ...]) -> tuple[bytes, ...]:
    return tuple(part.encode() for part in key)
