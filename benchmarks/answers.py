"""What the server of the benchmarks answers: reads of S3 and DynamoDB, files of this machine, and copies of nothing."""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from hashlib import md5
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote_plus, unquote

import orjson

from benchmarks.server import Answer, Reply, Request, respond

PAGE_BYTES = 1_048_576
MODIFIED_XML = "2026-11-20T10:00:00.000Z"
MODIFIED_HTTP = "Last-Modified: Fri, 20 Nov 2026 10:00:00 GMT\r\n"
NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
JSON = "application/x-amz-json-1.0"
RANGE = re.compile(r"bytes=(\d*)-(\d*)")
Key = tuple[str, str]


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

    def __len__(self) -> int:
        return len(self.starts) - 1

    def item(self, position: int) -> bytes:
        return self.block[self.starts[position] : self.starts[position + 1] - 1]

    def slice(self, start: int, end: int) -> bytes:
        """The JSON of neighbouring items, commas between them."""
        return self.block[self.starts[start] : self.starts[end] - 1] if end > start else b""

    def key_at(self, position: int) -> Key:
        return self.key_of(orjson.loads(self.item(position)))

    def key_json(self, position: int) -> bytes:
        hash_value, range_value = self.key_at(position)
        return orjson.dumps({self.hash_name: {"S": hash_value}, self.range_name: {"S": range_value}})

    def position(self, key: Key) -> int:
        """Where that key is or would be."""
        return bisect_left(range(len(self)), key, key=self.key_at)

    def fit(self, start: int, end: int) -> int:
        """The end of the page that begins at `start`: at most one megabyte, at least one item."""
        by_bytes = bisect_right(self.starts, self.starts[start] + PAGE_BYTES) - 1
        return max(min(end, by_bytes), min(start + 1, end))

    def key_of(self, item: Mapping[str, Any]) -> Key:
        return item[self.hash_name]["S"], item[self.range_name]["S"]


def reading(buckets: Mapping[str, Bucket], tables: Mapping[str, StoredTable]) -> Answer:
    """list-type=2, GET (with Range), HEAD, Query, Scan and DescribeTable."""

    def answer(request: Request) -> Reply:
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
        return _listing(bucket, asked) if "list-type" in asked else _xml_error(501, "NotImplemented", request.method)

    return answer


def filing(home: Path) -> Answer:
    """GET, HEAD and PUT of objects that are files below `home`, by bucket and key; no digest of what is written."""

    def answer(request: Request) -> Reply:
        file = home / unquote(request.target).lstrip("/")
        if request.method == "PUT":
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(request.body)
            return respond(200, more=f'ETag: "{ETAG}"\r\n', at_once=True)
        if not file.is_file():
            return respond(404, at_once=True)
        size = file.stat().st_size
        more = f'ETag: "{ETAG}"\r\n{MODIFIED_HTTP}'
        if request.method == "HEAD":
            return respond(200, more=f"{more}Content-Length: {size}\r\n", at_once=True)
        first, end = _span(request.headers.get("range", ""), size)
        with file.open("rb") as opened:
            opened.seek(first)
            data = opened.read(end - first)
        status, more = _partial(request, first, end, size, more)
        return respond(status, data, more=more, at_once=True)

    return answer


ETAG = "d41d8cd98f00b204e9800998ecf8427e"
COPIED = (
    f"<CopyObjectResult {NAMESPACE}><LastModified>{MODIFIED_XML}</LastModified><ETag>{ETAG}</ETag></CopyObjectResult>"
)
LISTED = f"<ListBucketResult {NAMESPACE}><KeyCount>0</KeyCount><IsTruncated>false</IsTruncated></ListBucketResult>"


def copying(files: Answer, bucket: str, count: Any) -> Answer:
    """CopyObject, whose number the shared `count` holds, HEAD and an empty LIST; objects of `bucket` are files.

    It holds nothing: every object of the source is there with the ETag that is asked for.
    """
    copied, listed = respond(200, COPIED.encode()), respond(200, LISTED.encode())
    head = respond(200, more=f'Content-Length: 4096\r\nETag: "{ETAG}"\r\n{MODIFIED_HTTP}')

    def answer(request: Request) -> Reply:
        if request.target.startswith(f"/{bucket}/"):
            return files(request)
        if "x-amz-copy-source" in request.headers:
            with count.get_lock():
                count.value += 1
            return copied
        return head if request.method == "HEAD" else listed

    return answer


def _xml_error(status: int, code: str, method: str) -> Reply:
    body = b"" if method == "HEAD" else f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()
    return respond(status, body)


def _object(request: Request, bucket: Bucket, key: str) -> Reply:
    body = bucket.bodies.get(key)
    if body is None:
        return _xml_error(404, "NoSuchKey", request.method)
    facts = f'ETag: "{bucket.etags[key]}"\r\n{MODIFIED_HTTP}Accept-Ranges: bytes\r\n'
    if request.method == "HEAD":
        return respond(200, more=f"{facts}Content-Length: {len(body)}\r\n")
    first, end = _span(request.headers.get("range", ""), len(body))
    if first >= end and body:
        return _xml_error(416, "InvalidRange", request.method)
    status, facts = _partial(request, first, end, len(body), facts)
    return respond(status, body[first:end], more=facts)


def _span(header: str, size: int) -> tuple[int, int]:
    """First byte and end that a Range header asks for, of an object of that size; all without one."""
    asked = RANGE.fullmatch(header)
    if asked is None:
        return 0, size
    if not asked[1]:
        return max(0, size - int(asked[2])), size
    return int(asked[1]), min(int(asked[2]) + 1, size) if asked[2] else size


def _partial(request: Request, first: int, end: int, size: int, more: str) -> tuple[int, str]:
    """Status and head of the answer to a GET, with or without a Range."""
    if "range" not in request.headers:
        return 200, more
    return 206, f"{more}Content-Range: bytes {first}-{end - 1}/{size}\r\n"


def _listing(bucket: Bucket, query: Mapping[str, str]) -> Reply:
    prefix, most = query.get("prefix", ""), int(query.get("max-keys", 1000))
    after = query.get("continuation-token") or query.get("start-after", "")
    parts, last = _list_entries(bucket, prefix, query.get("delimiter", ""), after, most)
    following = bucket.position_after(last) if last else len(bucket.keys)
    truncated = following < len(bucket.keys) and bucket.keys[following].startswith(prefix)
    token = f"<NextContinuationToken>{_escape(last)}</NextContinuationToken>" if truncated else ""
    text = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult {NAMESPACE}>'
        f"<EncodingType>url</EncodingType><KeyCount>{len(parts)}</KeyCount><MaxKeys>{most}</MaxKeys>"
        f"<IsTruncated>{str(truncated).lower()}</IsTruncated>{token}{''.join(parts)}</ListBucketResult>"
    )
    return respond(200, text.encode())


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


def _answer_dynamodb(request: Request, tables: Mapping[str, StoredTable]) -> Reply:
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
        case "DescribeTable":
            return _description(table)
    return _json_error("UnknownOperationException")


def _json_error(code: str) -> Reply:
    return respond(400, orjson.dumps({"__type": code, "message": code}), kind=JSON)


def _scan(table: StoredTable, asked: Mapping[str, Any]) -> Reply:
    segments, segment = asked.get("TotalSegments", 1), asked.get("Segment", 0)
    start, end = len(table) * segment // segments, len(table) * (segment + 1) // segments
    if "ExclusiveStartKey" in asked:
        start = table.position(table.key_of(asked["ExclusiveStartKey"])) + 1
    stop = table.fit(start, end) if start < end else start
    return _page(table, table.slice(start, stop), stop - start, stop - 1 if stop < end else None)


def _query(table: StoredTable, asked: Mapping[str, Any]) -> Reply:
    """One hash key, and where a second value is given, range keys from that on; always one page."""
    (hash_value, *low) = (value["S"] for value in asked["ExpressionAttributeValues"].values())
    start, end = table.position((hash_value, "".join(low))), table.position((hash_value, "\U0010ffff"))
    most = min(asked.get("Limit", len(table)), end - start)
    if asked.get("ScanIndexForward", True):
        return _page(table, table.slice(start, start + most), most, None)
    items = b",".join(table.item(position) for position in range(end - 1, end - most - 1, -1))
    return _page(table, items, most, None)


def _description(table: StoredTable) -> Reply:
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
    return respond(200, orjson.dumps({"Table": described}), kind=JSON)


def _page(table: StoredTable, items: bytes, count: int, last: int | None) -> Reply:
    consumed = orjson.dumps({"TableName": table.name, "CapacityUnits": -(-len(items) // 4096)})
    tail = f'],"Count":{count},"ScannedCount":{count},"ConsumedCapacity":'.encode() + consumed
    if last is not None:
        tail += b',"LastEvaluatedKey":' + table.key_json(last)
    return respond(200, b'{"Items":[', items, tail + b"}", kind=JSON)
