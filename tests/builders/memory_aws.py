"""S3 and DynamoDB in memory, behind the same clients as AWS: thousands of requests a second, one hook before each.

To arrange with, it answers the few methods of boto3 that builders call; to read from, it opens as a `Lake` whose own
clients ask it. Pages of listings and queries are as short as a test wants them.
"""

import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from lake.aws.access import Lake
from lake.aws.answers import AwsResponse
from lake.aws.dynamodb import DynamoDB
from lake.aws.endpoints import Endpoints
from lake.aws.s3 import S3
from lake.aws.services import Services
from lake.aws.wire import Request, RequestCount
from tests.builders.guard import Call

ENDPOINT = "http://memory.example"
BUCKET = "lake"
HTTP_TIME = "%a, %d %b %Y %H:%M:%S GMT"
Item = dict[str, Any]


@dataclass(frozen=True)
class Stored:
    """One object as it lies in the bucket."""

    data: bytes
    modified_at: datetime

    @property
    def etag(self) -> str:
        return hashlib.md5(self.data, usedforsecurity=False).hexdigest()


@dataclass
class MemoryAws:
    """One bucket and its DynamoDB tables. `page` bounds the objects or items of one answer, `late` shifts its clock."""

    page: int = 1_000
    late: timedelta = timedelta()
    objects: dict[str, Stored] = field(default_factory=dict)
    tables: dict[str, dict[tuple[str, ...], Item]] = field(default_factory=dict)
    before: Callable[[Call], object] = lambda call: None
    refused: Callable[[Call], bool] = lambda call: False
    calls: list[Call] = field(default_factory=list)
    _keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    def lake(self) -> Lake:
        """What reads it."""
        endpoints, requests, wire = Endpoints(ENDPOINT, ENDPOINT), RequestCount(), _Wire(self)
        dynamodb = DynamoDB(wire, ENDPOINT, "us-east-1", requests)
        services = Services(wire, endpoints, "us-east-1")
        return Lake(S3(wire, endpoints, "us-east-1"), dynamodb, services, requests, wire, wire)

    def count(self, operation: str) -> int:
        return sum(call.operation == operation for call in self.calls)

    # As boto3 has them

    def put_object(self, **given: Any) -> None:
        self.objects[given["Key"]] = Stored(given["Body"], datetime.now(UTC) + self.late)

    def delete_object(self, **given: Any) -> None:
        self.objects.pop(given["Key"], None)

    def create_table(self, **given: Any) -> None:
        self.tables[given["TableName"]] = {}
        self._keys[given["TableName"]] = tuple(key["AttributeName"] for key in given["KeySchema"])

    def put_item(self, **given: Any) -> None:
        item = json.loads(json.dumps(given["Item"]))
        self.tables[given["TableName"]][self._key(given["TableName"], item)] = item

    def delete_item(self, **given: Any) -> None:
        self.tables[given["TableName"]].pop(self._key(given["TableName"], given["Key"]), None)

    # What is asked of it

    def answer(self, request: Request) -> AwsResponse:
        """One request, after the hook; a scan asks from several threads."""
        with self._one_at_a_time:
            return self._answer(request)

    def _answer(self, request: Request) -> AwsResponse:
        operation = request.operation.partition(":")[2]
        call = Call(operation, request.body.decode() or request.target)
        self.calls.append(call)
        self.before(call)
        if self.refused(call):
            return AwsResponse(403, {}, b"<Error><Code>AccessDenied</Code><Message>no</Message></Error>")
        match operation:
            case "ListObjectsV2":
                return self._list(dict(request.query))
            case "GetObject" | "HeadObject":
                return self._object(request)
        return AwsResponse(200, {}, json.dumps(self._items(operation, json.loads(request.body))).encode())

    def _list(self, query: dict[str, str]) -> AwsResponse:
        prefix, after = query.get("prefix", ""), query.get("continuation-token") or query.get("start-after", "")
        found, folders = [], []
        for key in sorted(self.objects):
            if key.startswith(prefix) and key > after:
                folder = key[: key.find("/", len(prefix)) + 1] if query.get("delimiter") else ""
                if folder:
                    folders.append(folder)
                else:
                    found.append(key)
        listed, more = found[: self.page], len(found) > self.page
        body = "".join(self._contents(key) for key in listed)
        body += "".join(
            f"<CommonPrefixes><Prefix>{quote(one)}</Prefix></CommonPrefixes>" for one in dict.fromkeys(folders)
        )
        token = f"<NextContinuationToken>{listed[-1]}</NextContinuationToken>" if more else ""
        text = (
            f"<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>{str(more).lower()}</IsTruncated>"
            f"{token}{body}</ListBucketResult>"
        )
        return AwsResponse(200, {}, text.encode())

    def _contents(self, key: str) -> str:
        found = self.objects[key]
        moment = found.modified_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return (
            f"<Contents><Key>{quote(key)}</Key><LastModified>{moment}</LastModified>"
            f"<ETag>&quot;{found.etag}&quot;</ETag><Size>{len(found.data)}</Size></Contents>"
        )

    def _object(self, request: Request) -> AwsResponse:
        found = self.objects.get(request.target.removeprefix(f"s3://{BUCKET}/"))
        if found is None:
            return AwsResponse(404, {}, b"<Error><Code>NoSuchKey</Code><Message>absent</Message></Error>")
        headers = {"etag": f'"{found.etag}"', "last-modified": found.modified_at.strftime(HTTP_TIME)}
        if request.method == "HEAD":
            return AwsResponse(200, {**headers, "content-length": str(len(found.data))}, b"")
        wanted = request.headers.get("Range", "").removeprefix("bytes=")
        if not wanted:
            return AwsResponse(200, headers, found.data)
        first, _, last = wanted.rpartition("-")
        data = found.data[int(first) : int(last) + 1] if first else found.data[-int(last) :]
        return AwsResponse(206, {**headers, "content-range": f"bytes 0-0/{len(found.data)}"}, data)

    def _items(self, operation: str, body: Item) -> Item:
        if operation == "BatchGetItem":
            [(name, wanted)] = body["RequestItems"].items()
            found = [self.tables[name].get(self._key(name, key)) for key in wanted["Keys"]]
            return {"Responses": {name: [item for item in found if item]}}
        name = body["TableName"]
        if operation == "GetItem":
            item = self.tables[name].get(self._key(name, body["Key"]))
            return {"Item": item} if item else {}
        items = [item for key, item in sorted(self.tables[name].items()) if self._is_asked(body, key)]
        listed = items[: min(self.page, body.get("Limit", self.page))]
        if len(items) <= len(listed):
            return {"Items": listed}
        return {"Items": listed, "LastEvaluatedKey": {n: listed[-1][n] for n in self._keys[name]}}

    def _is_asked(self, body: Item, key: tuple[str, ...]) -> bool:
        values = body.get("ExpressionAttributeValues", {})
        after = body.get("ExclusiveStartKey")
        return (
            body.get("Segment", 0) == 0
            and (not values or key[0] == values[":h"]["S"])
            and (":r" not in values or key[1] >= values[":r"]["S"])
            and (after is None or key > self._key(body["TableName"], after))
        )

    def _key(self, table: str, item: Item) -> tuple[str, ...]:
        return tuple(item[name]["S"] for name in self._keys[table])


class _Wire:
    """What the lake's clients take for the way to AWS."""

    def __init__(self, aws: MemoryAws) -> None:
        self._aws = aws

    def send(self, request: Request) -> AwsResponse:
        return self._aws.answer(request)

    def close(self) -> None: ...
