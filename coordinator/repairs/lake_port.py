"""What the execution of a plan needs of a lake: strongly consistent reads and conditional writes, nothing else."""

from collections.abc import Mapping
from itertools import islice
from typing import Protocol

from lake.aws.access import Lake
from lake.aws.dynamodb import Item, ItemWrite
from lake.aws.s3 import ObjectBody, ObjectSummary, ObjectWrite

__all__ = ["AwsRepairLake", "Item", "ItemWrite", "ObjectBody", "ObjectSummary", "ObjectWrite", "RepairLake"]


class RepairLake(Protocol):
    """Objects and items of one connection. Every method raises AwsError, and a write is refused with one whose
    `is_condition_failed` is true where its condition does not hold.
    """

    def get(self, bucket: str, key: str, *, first: int | None = None, last: int | None = None) -> ObjectBody:
        """The object, or its bytes `first` to `last` (both included); an absent one raises AwsError NoSuchKey."""

    def head(self, bucket: str, key: str) -> ObjectSummary | None:
        """The object's summary, None where it is absent."""

    def put_if_absent(self, bucket: str, key: str, data: bytes) -> ObjectWrite:
        """Write an object where none is."""

    def delete_object(self, bucket: str, key: str, etag: str) -> ObjectWrite:
        """Delete an object of that ETag; an absent one counts as deleted."""

    def list_keys(self, bucket: str, prefix: str, limit: int) -> tuple[str, ...]:
        """The first `limit` keys under a prefix."""

    def get_item(self, table: str, key: Item) -> Item | None:
        """The item of that key, strongly consistent, None where it is absent."""

    def update_item(
        self, table: str, key: Item, *, update: str, condition: str, names: Mapping[str, str], values: Item
    ) -> ItemWrite:
        """Change an item by an expression if the condition holds."""

    def put_item(
        self,
        table: str,
        item: Item,
        *,
        condition: str,
        names: Mapping[str, str] | None = None,
        values: Item | None = None,
    ) -> ItemWrite:
        """Put a whole item if the condition holds."""

    def delete_item(
        self, table: str, key: Item, *, condition: str, names: Mapping[str, str], values: Item
    ) -> ItemWrite:
        """Delete an item if the condition holds."""


class AwsRepairLake:
    """The RepairLake of an open connection."""

    def __init__(self, lake: Lake) -> None:
        self._s3 = lake.s3
        self.get = lake.s3.get
        self.head = lake.s3.head
        self.put_if_absent = lake.s3.put
        self.get_item = lake.dynamodb.get_item
        self.update_item = lake.dynamodb.update_item
        self.put_item = lake.dynamodb.put_item
        self.delete_item = lake.dynamodb.delete_item

    def delete_object(self, bucket: str, key: str, etag: str) -> ObjectWrite:
        return self._s3.delete(bucket, key, etag=etag)

    def list_keys(self, bucket: str, prefix: str, limit: int) -> tuple[str, ...]:
        pages = self._s3.list(bucket, prefix, max_keys=min(limit, 1000))
        return tuple(islice((summary.key for page in pages for summary in page.objects), limit))
