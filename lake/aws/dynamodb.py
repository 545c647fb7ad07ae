"""DynamoDB in its wire form: items by key, in order or by segments of a whole table, and writes on conditions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from lake.aws.answers import AwsResponse, malformed, read_error, request_id
from lake.aws.endpoints import RequestUrl
from lake.aws.errors import AwsError
from lake.aws.parallel import merge
from lake.aws.store_description import StoreDescription, describe_store
from lake.aws.wire import Request, RequestCount, Wire

__all__ = ["DynamoDB", "Item", "ItemWrite", "StoreDescription"]

Item = dict[str, dict[str, Any]]
API_VERSION = "DynamoDB_20120810"
_ATTRIBUTES = re.compile(r"#(\w+)")


@dataclass(frozen=True, slots=True)
class ItemWrite:
    """What DynamoDB said of a write: `item` as it is after an update, as it was before a delete, None after a put."""

    request_id: str
    item: Item | None = None


class DynamoDB:
    """DynamoDB of one connection, at `origin` in `region`. Items are as on the wire: {"complete": {"S": "true"}}."""

    def __init__(self, wire: Wire, origin: str, region: str, requests: RequestCount) -> None:
        self._wire = wire
        self.origin = origin
        self.region = region
        self._place = RequestUrl(origin, "/")
        self._requests = requests

    def get_item(self, table: str, key: Item) -> Item | None:
        """The item of that key, read strongly consistent, or None. Raises AwsError."""
        body = {"TableName": table, "Key": key, "ConsistentRead": True, "ReturnConsumedCapacity": "TOTAL"}
        said = self.ask("GetItem", body)
        self._count(said)
        item: Item | None = said.get("Item")
        return item

    def query(
        self,
        table: str,
        hash_name: str,
        hash_value: str,
        *,
        range_name: str = "",
        at_least: str = "",
        limit: int | None = None,
    ) -> Iterator[tuple[Item, ...]]:
        """Pages of the items under one hash key, ordered by range key, read strongly consistent.

        With `range_name` and `at_least`, only range keys from `at_least` on; `limit` bounds the items in all. Raises
        AwsError.
        """
        condition, names, values = "#h = :h", {"#h": hash_name}, {":h": {"S": hash_value}}
        if range_name and at_least:
            condition += " AND #r >= :r"
            names["#r"] = range_name
            values[":r"] = {"S": at_least}
        body: dict[str, Any] = {
            "TableName": table,
            "ConsistentRead": True,
            "KeyConditionExpression": condition,
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": values,
        }
        yield from self._pages("Query", body, limit)

    def scan(self, table: str, *, segments: int = 4) -> Iterator[tuple[Item, ...]]:
        """Pages of the whole table as they arrive from `segments` threads, in no order.

        A segment that fails ends the scan with its AwsError; closing the iterator early stops the threads.
        """
        return merge([self._segment(table, number, segments) for number in range(segments)])

    def describe(self, name: str) -> StoreDescription:
        """The table's settings. Raises AwsError where DescribeTable itself fails; the rest may stay unknown."""
        return describe_store(self.ask, name)

    def update_item(self, table: str, key: Item, *, update: str, condition: str, values: Item) -> ItemWrite:
        """Change an item by the expression `update` if `condition` holds; both write an attribute as `#name`.

        Raises AwsError: is_condition_failed where it does not, which may be the work of this very write, sent again
        because its first answer was lost.
        """
        body = {"Key": key, "UpdateExpression": update, "ReturnValues": "ALL_NEW"}
        return self._write("UpdateItem", table, body, condition, values)

    def put_item(self, table: str, item: Item, *, condition: str, values: Item | None = None) -> ItemWrite:
        """Put a whole item if `condition` holds. Raises AwsError as `update_item`."""
        return self._write("PutItem", table, {"Item": item}, condition, values or {})

    def delete_item(self, table: str, key: Item, *, condition: str, values: Item) -> ItemWrite:
        """Delete an item if `condition` holds; of an absent item none that names a value does. Raises AwsError as
        `update_item`.
        """
        return self._write("DeleteItem", table, {"Key": key, "ReturnValues": "ALL_OLD"}, condition, values)

    def _write(self, operation: str, table: str, body: dict[str, Any], condition: str, values: Item) -> ItemWrite:
        names = _ATTRIBUTES.findall(f"{condition} {body.get('UpdateExpression', '')}")
        body = {"TableName": table, "ConditionExpression": condition, **body}
        # DynamoDB refuses either map where it is empty.
        if names:
            body["ExpressionAttributeNames"] = {f"#{name}": name for name in names}
        if values:
            body["ExpressionAttributeValues"] = values
        said, request = self._exchange(operation, body)
        return ItemWrite(request, said.get("Attributes"))

    def ask(self, operation: str, body: dict[str, Any]) -> dict[str, Any]:
        """One DynamoDB operation as a JSON object each way. Raises AwsError for every answer but a JSON object."""
        return self._exchange(operation, body)[0]

    def change(self, operation: str, body: dict[str, Any]) -> str:
        """One change of a table's settings, such as UpdateTable; returns the request's id. Raises AwsError.

        An answer may be lost after the change was made: whoever is refused describes the table again.
        """
        return self._exchange(operation, body)[1]

    def _exchange(self, operation: str, body: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """The answer, and the request's id."""
        name = f"dynamodb:{operation}"
        target = f"DynamoDB table {body['TableName']}" if "TableName" in body else str(body.get("ResourceArn", ""))
        try:
            text = orjson.dumps(body)
        except orjson.JSONEncodeError as error:
            raise AwsError("InvalidName", f"it cannot be asked for: {error}", operation=name, target=target) from error
        answer = self._wire.send(
            Request(
                operation=name,
                target=target,
                place=self._place,
                region=self.region,
                method="POST",
                headers={"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": f"{API_VERSION}.{operation}"},
                body=text,
            )
        )
        if answer.status != 200:
            raise read_error(answer, name, target)
        return _json_object(answer, name, target), request_id(answer)

    def _segment(self, table: str, number: int, segments: int) -> Iterator[tuple[Item, ...]]:
        body: dict[str, Any] = {"TableName": table, "ConsistentRead": True}
        if segments > 1:
            body |= {"Segment": number, "TotalSegments": segments}
        yield from self._pages("Scan", body)

    def _pages(self, operation: str, body: dict[str, Any], limit: int | None = None) -> Iterator[tuple[Item, ...]]:
        left = limit
        while left is None or left > 0:
            if left is not None:
                body["Limit"] = left
            items, following = self._page(operation, body)
            yield items
            if not following:
                return
            if following == body.get("ExclusiveStartKey"):
                raise _unreadable(operation, body, "the answer repeats the key at which the page before it ended")
            body["ExclusiveStartKey"] = following
            left = None if left is None else left - len(items)

    def _page(self, operation: str, body: dict[str, Any]) -> tuple[tuple[Item, ...], Item | None]:
        said = self.ask(operation, {**body, "ReturnConsumedCapacity": "TOTAL"})
        self._count(said)
        items = said.get("Items")
        if not isinstance(items, list):
            raise _unreadable(operation, body, "the answer has no list of items")
        return tuple(items), said.get("LastEvaluatedKey")

    def _count(self, said: dict[str, Any]) -> None:
        consumed = said.get("ConsumedCapacity")
        if isinstance(consumed, dict):
            self._requests.add_read_units(float(consumed.get("CapacityUnits", 0)))


def _json_object(answer: AwsResponse, operation: str, target: str) -> dict[str, Any]:
    try:
        said = orjson.loads(answer.body)
    except orjson.JSONDecodeError as error:
        raise malformed(answer, f"the answer is not JSON: {error}", operation, target) from error
    if not isinstance(said, dict):
        raise malformed(answer, "the answer is not a JSON object", operation, target)
    return said


def _unreadable(operation: str, body: dict[str, Any], reason: str) -> AwsError:
    return AwsError(
        "MalformedAnswer", reason, operation=f"dynamodb:{operation}", target=f"DynamoDB table {body['TableName']}"
    )
