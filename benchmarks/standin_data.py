"""What the stand-in holds and how it answers from it: pure functions from a request to bytes."""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import md5
from typing import Any
from urllib.parse import parse_qsl, quote_plus, unquote

import orjson

PAGE_BYTES = 1_048_576
MODIFIED_XML = "2026-11-20T10:00:00.000Z"
MODIFIED_HTTP = "Fri, 20 Nov 2026 10:00:00 GMT"
EQUAL = re.compile(r"([#\w]+)\s*=\s*(:\w+)")
BOUND = re.compile(r"([#\w]+)\s*(>=|>|<=|<)\s*(:\w+)")
RANGE = re.compile(r"bytes=(\d*)-(\d*)")
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request; header names in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


class Bucket:
    """Objects by key, and the XML of each made beforehand."""

    def __init__(self, objects: Mapping[str, bytes]) -> None:
        self.keys = sorted(objects, key=str.encode)
        self.bodies = dict(objects)
        self.etags = {key: md5(body, usedforsecurity=False).hexdigest() for key, body in objects.items()}
        self.entries = [self._entry(key) for key in self.keys]

    def position(self, key: str) -> int:
        """Where that key is or would be."""
        return bisect_left(self.keys, key.encode(), key=str.encode)

    def position_after(self, key: str) -> int:
        return bisect_right(self.keys, key.encode(), key=str.encode)

    def position_behind(self, folder: str) -> int:
        """Where the first key behind all keys of that folder is or would be."""
        return bisect_left(self.keys, folder.encode() + b"\xff", key=str.encode)

    def _entry(self, key: str) -> str:
        return (
            f"<Contents><Key>{quote_plus(key, safe='/')}</Key><LastModified>{MODIFIED_XML}</LastModified>"
            f"<ETag>&quot;{self.etags[key]}&quot;</ETag><Size>{len(self.bodies[key])}</Size>"
            f"<StorageClass>STANDARD</StorageClass></Contents>"
        )


class StoredTable:
    """One DynamoDB table: its items, ordered by hash and range key, in one block of JSON.

    A page of neighbours is one slice of that block. `items` may be a generator: only its JSON is kept.
    """

    def __init__(self, name: str, hash_name: str, range_name: str, items: Iterable[dict[str, Any]]) -> None:
        self.name = name
        self.hash_name = hash_name
        self.range_name = range_name
        texts = sorted((self.key_of(item), orjson.dumps(item)) for item in items)
        self.block = b",".join(text for _, text in texts)
        self.starts = array("Q", [0])
        for _, text in texts:
            self.starts.append(self.starts[-1] + len(text) + 1)
        self._hashes = sorted({key[0] for key, _ in texts})
        self._first_of = self._positions(texts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def item(self, position: int) -> bytes:
        return self.block[self.starts[position] : self.starts[position + 1] - 1]

    def slice(self, start: int, end: int) -> bytes:
        """The JSON of neighbouring items, commas between them."""
        return self.block[self.starts[start] : self.starts[end] - 1] if end > start else b""

    def partition(self, value: str) -> tuple[int, int]:
        """First and end position of the items of one hash key."""
        return self._first_of.get(value, (0, 0))

    def key_at(self, position: int) -> Key:
        return self.key_of(orjson.loads(self.item(position)))

    def key_json(self, position: int) -> bytes:
        hash_value, range_value = self.key_at(position)
        return orjson.dumps({self.hash_name: {"S": hash_value}, self.range_name: {"S": range_value}})

    def position(self, key: Key) -> int:
        """Where that key is or would be."""
        return bisect_left(range(len(self)), key, key=self.key_at)

    def fit(self, start: int, end: int, most: int) -> int:
        """The end of the page that begins at `start`: at most `most` items and one megabyte, at least one item."""
        by_bytes = bisect_right(self.starts, self.starts[start] + PAGE_BYTES) - 1
        return max(min(end, start + most, by_bytes), min(start + 1, end))

    def key_of(self, item: Mapping[str, Any]) -> Key:
        return item[self.hash_name]["S"], item[self.range_name]["S"]

    @staticmethod
    def _positions(texts: list[tuple[Key, bytes]]) -> dict[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        for position, ((hash_value, _), _) in enumerate(texts):
            first, _ = found.get(hash_value, (position, 0))
            found[hash_value] = (first, position + 1)
        return found


def answer(request: Request, buckets: Mapping[str, Bucket], tables: Mapping[str, StoredTable]) -> tuple[bytes, ...]:
    """The answer's bytes, head first."""
    if "x-amz-target" in request.headers:
        return _answer_dynamodb(request, tables)
    path, _, query = request.target.partition("?")
    bucket_name, _, key = unquote(path).lstrip("/").partition("/")
    bucket = buckets.get(bucket_name)
    if bucket is None:
        return _xml_error(404, "NoSuchBucket", request.method)
    if key:
        return _object(request, bucket, key)
    asked = dict(parse_qsl(query, keep_blank_values=True))
    if "list-type" not in asked:
        return _xml_error(501, "NotImplemented", request.method)
    return _listing(bucket, asked)


def _respond(status: int, content_type: str, *body: bytes, more: str = "") -> tuple[bytes, ...]:
    length = sum(map(len, body))
    head = (
        f"HTTP/1.1 {status} OK\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n"
        f"x-amz-request-id: STANDIN\r\n{more}\r\n"
    )
    return head.encode(), *body


def _xml_error(status: int, code: str, method: str) -> tuple[bytes, ...]:
    body = b"" if method == "HEAD" else f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()
    return _respond(status, "application/xml", body)


def _object(request: Request, bucket: Bucket, key: str) -> tuple[bytes, ...]:
    body = bucket.bodies.get(key)
    if body is None:
        return _xml_error(404, "NoSuchKey", request.method)
    facts = f'ETag: "{bucket.etags[key]}"\r\nLast-Modified: {MODIFIED_HTTP}\r\nAccept-Ranges: bytes\r\n'
    if request.method == "HEAD":
        head, _ = _respond(200, "application/octet-stream", body, more=facts)
        return (head,)
    asked = RANGE.fullmatch(request.headers.get("range", ""))
    if not asked:
        return _respond(200, "application/octet-stream", body, more=facts)
    first, end = _span(asked.group(1), asked.group(2), len(body))
    if first >= end:
        return _xml_error(416, "InvalidRange", request.method)
    facts += f"Content-Range: bytes {first}-{end - 1}/{len(body)}\r\n"
    return _respond(206, "application/octet-stream", body[first:end], more=facts)


def _span(first: str, last: str, size: int) -> tuple[int, int]:
    if not first:
        return max(0, size - int(last)), size
    return int(first), min(int(last) + 1, size) if last else size


def _listing(bucket: Bucket, query: Mapping[str, str]) -> tuple[bytes, ...]:
    prefix, most = query.get("prefix", ""), int(query.get("max-keys", 1000))
    after = query.get("continuation-token") or query.get("start-after", "")
    parts, last = _list_entries(bucket, prefix, query.get("delimiter", ""), after, most)
    following = bucket.position_after(last) if last else len(bucket.keys)
    truncated = following < len(bucket.keys) and bucket.keys[following].startswith(prefix)
    token = f"<NextContinuationToken>{_escape(last)}</NextContinuationToken>" if truncated else ""
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<EncodingType>url</EncodingType><KeyCount>{len(parts)}</KeyCount><MaxKeys>{most}</MaxKeys>"
        f"<IsTruncated>{str(truncated).lower()}</IsTruncated>{token}{''.join(parts)}</ListBucketResult>"
    )
    return _respond(200, "application/xml", text.encode())


def _list_entries(bucket: Bucket, prefix: str, delimiter: str, after: str, most: int) -> tuple[list[str], str]:
    """XML of up to `most` keys and folders behind `after`, and the last key that they cover."""
    parts: list[str] = []
    last = ""
    position = max(bucket.position(prefix), bucket.position_after(after) if after else 0)
    while len(parts) < most and position < len(bucket.keys) and bucket.keys[position].startswith(prefix):
        key = bucket.keys[position]
        cut = key.find(delimiter, len(prefix)) if delimiter else -1
        if cut < 0:
            parts.append(bucket.entries[position])
            position += 1
        else:
            folder = key[: cut + len(delimiter)]
            parts.append(f"<CommonPrefixes><Prefix>{quote_plus(folder, safe='/')}</Prefix></CommonPrefixes>")
            position = bucket.position_behind(folder)
        # The last key of a folder, not the folder: the next page must not name the folder again.
        last = bucket.keys[position - 1]
    return parts, last


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _answer_dynamodb(request: Request, tables: Mapping[str, StoredTable]) -> tuple[bytes, ...]:
    operation = request.headers["x-amz-target"].rpartition(".")[2]
    asked = orjson.loads(request.body)
    table = tables.get(asked.get("TableName", ""))
    if table is None:
        return _json_error("ResourceNotFoundException")
    match operation:
        case "Scan":
            return _scan(table, asked)
        case "Query":
            return _query(table, asked)
        case "GetItem":
            return _get_item(table, asked)
        case "DescribeTable":
            return _description(table)
    return _json_error("UnknownOperationException")


def _json_error(code: str) -> tuple[bytes, ...]:
    return _respond(400, "application/x-amz-json-1.0", orjson.dumps({"__type": code, "message": code}))


def _scan(table: StoredTable, asked: Mapping[str, Any]) -> tuple[bytes, ...]:
    segments, segment = asked.get("TotalSegments", 1), asked.get("Segment", 0)
    start, end = len(table) * segment // segments, len(table) * (segment + 1) // segments
    if "ExclusiveStartKey" in asked:
        start = table.position(table.key_of(asked["ExclusiveStartKey"])) + 1
    stop = table.fit(start, end, asked.get("Limit", len(table))) if start < end else start
    return _page(table, asked, table.slice(start, stop), stop - start, stop - 1 if stop < end else None)


def _query(table: StoredTable, asked: Mapping[str, Any]) -> tuple[bytes, ...]:
    hash_value, low, high = _condition(asked)
    start, end = table.partition(hash_value)
    start = max(start, table.position((hash_value, low))) if low else start
    end = min(end, table.position((hash_value, high))) if high else end
    forward = asked.get("ScanIndexForward", True)
    if "ExclusiveStartKey" in asked:
        position = table.position(table.key_of(asked["ExclusiveStartKey"]))
        start, end = (position + 1, end) if forward else (start, position)
    most = asked.get("Limit", len(table))
    if forward:
        stop = table.fit(start, end, most) if start < end else start
        return _page(table, asked, table.slice(start, stop), stop - start, stop - 1 if stop < end else None)
    stop = max(start, end - most)
    items = b",".join(table.item(position) for position in range(end - 1, stop - 1, -1))
    return _page(table, asked, items, end - stop, stop if stop > start else None)


def _condition(asked: Mapping[str, Any]) -> tuple[str, str, str]:
    """Hash value, lowest range key and the first one no longer wanted; "" for no bound."""
    text, values = asked["KeyConditionExpression"], asked["ExpressionAttributeValues"]
    equal = EQUAL.search(BOUND.sub("", text))
    assert equal, f"no equality in {text!r}"
    low = high = ""
    for _, comparison, name in BOUND.findall(text):
        value = values[name]["S"]
        behind = value + "\0"
        match comparison:
            case ">=":
                low = value
            case ">":
                low = behind
            case "<":
                high = value
            case "<=":
                high = behind
    return values[equal.group(2)]["S"], low, high


def _get_item(table: StoredTable, asked: Mapping[str, Any]) -> tuple[bytes, ...]:
    key = table.key_of(asked["Key"])
    position = table.position(key)
    found = position < len(table) and table.key_at(position) == key
    parts = [b'"Item":' + table.item(position)] if found else []
    if asked.get("ReturnConsumedCapacity", "NONE") != "NONE":
        parts.append(_consumed(table, 1.0 if asked.get("ConsistentRead") else 0.5))
    return _respond(200, "application/x-amz-json-1.0", b"{" + b",".join(parts) + b"}")


def _description(table: StoredTable) -> tuple[bytes, ...]:
    keys = ((table.hash_name, "HASH"), (table.range_name, "RANGE"))
    described = {
        "TableName": table.name,
        "TableStatus": "ACTIVE",
        "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in keys],
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name, _ in keys],
        "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
        "ItemCount": len(table),
        "TableSizeBytes": len(table.block),
    }
    return _respond(200, "application/x-amz-json-1.0", orjson.dumps({"Table": described}))


def _consumed(table: StoredTable, units: float) -> bytes:
    return b'"ConsumedCapacity":' + orjson.dumps({"TableName": table.name, "CapacityUnits": units})


def _page(
    table: StoredTable, asked: Mapping[str, Any], items: bytes, count: int, last: int | None
) -> tuple[bytes, ...]:
    units = -(-len(items) // 4096) / (1 if asked.get("ConsistentRead") else 2)
    tail = f'],"Count":{count},"ScannedCount":{count}'.encode()
    if asked.get("ReturnConsumedCapacity", "NONE") != "NONE":
        tail += b"," + _consumed(table, units)
    if last is not None:
        tail += b',"LastEvaluatedKey":' + table.key_json(last)
    return _respond(200, "application/x-amz-json-1.0", b'{"Items":[', items, tail + b"}")
