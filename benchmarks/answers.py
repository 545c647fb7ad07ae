"""What the server of the benchmarks answers: objects that are files of this machine, items, and copies of nothing."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

import orjson

from benchmarks.server import Answer, Request, respond

ETAG = "d41d8cd98f00b204e9800998ecf8427e"
MODIFIED_XML = "2026-11-20T10:00:00.000Z"
FACTS = f'ETag: "{ETAG}"\r\nLast-Modified: Fri, 20 Nov 2026 10:00:00 GMT\r\n'
NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
COPIED = (
    f"<CopyObjectResult {NAMESPACE}><LastModified>{MODIFIED_XML}</LastModified><ETag>{ETAG}</ETag></CopyObjectResult>"
)
JSON = "application/x-amz-json-1.0"
RANGE = re.compile(r"bytes=(\d*)-(\d*)")
Item = Mapping[str, Any]
Items = Mapping[str, Sequence[Item]]
"""Those of each `tablePath`, in the order of their file names."""


def serving(home: Path, items: Items = MappingProxyType({})) -> Answer:
    """S3, whose objects are the files below `home` by bucket and key, and DynamoDB with one log store of these items.

    All objects have one ETag and one age. Listings and queries have one page, and a scan one for each segment.
    """

    def answer(request: Request) -> bytes:
        if target := request.headers.get("x-amz-target"):
            return _items(target.rpartition(".")[2], orjson.loads(request.body), items)
        path, _, query = request.target.partition("?")
        file, asked = home / unquote(path).lstrip("/"), dict(parse_qsl(query, keep_blank_values=True))
        if "list-type" in asked:
            return _listing(file, asked)
        if request.method == "PUT":
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(request.body)
            return respond(200, more=FACTS)
        return _object(request, file)

    return answer


def copying(files: Answer, bucket: str, count: Any) -> Answer:
    """CopyObject, whose number the shared `count` holds, HEAD and an empty LIST; objects of `bucket` are files.

    It holds nothing: every object of the source is there with the ETag that is asked for.
    """

    def answer(request: Request) -> bytes:
        if "x-amz-copy-source" in request.headers:
            with count.get_lock():
                count.value += 1
            return respond(200, COPIED.encode())
        if request.method == "HEAD" and not request.target.startswith(f"/{bucket}/"):
            return respond(200, more=f"{FACTS}Content-Length: 4096\r\n")
        return files(request)

    return answer


def stored(request: Request, body: bytes | None, etag: str = ETAG) -> bytes:
    """An object of that body, or the part of it that a Range asks for; None for one that is not there."""
    if body is None:
        return respond(404, b"<Error><Code>NoSuchKey</Code><Message>NoSuchKey</Message></Error>")
    return _read(request, len(body), lambda first, end: body[first:end], etag)


def _object(request: Request, file: Path) -> bytes:
    """An object, or the part of it that a Range asks for; of a bucket's settings nothing is known."""
    if not file.is_file():
        code = "NoSuchKey" if "?" not in request.target else "NotImplemented"
        text = f"<Error><Code>{code}</Code><Message>{code}</Message></Error>"
        return respond(404 if code == "NoSuchKey" else 501, b"" if request.method == "HEAD" else text.encode())

    def bytes_of(first: int, end: int) -> bytes:
        with file.open("rb") as opened:
            opened.seek(first)
            return opened.read(end - first)

    return _read(request, file.stat().st_size, bytes_of, ETAG)


def _read(request: Request, size: int, bytes_of: Callable[[int, int], bytes], etag: str) -> bytes:
    """An object of `size` bytes, or what a Range asks for; `bytes_of` are those from one place up to another."""
    facts = FACTS.replace(ETAG, etag)
    if request.method == "HEAD":
        return respond(200, more=f"{facts}Content-Length: {size}\r\n")
    asked = RANGE.fullmatch(request.headers.get("range", ""))
    if asked is None:
        return respond(200, bytes_of(0, size), more=facts)
    first = int(asked[1]) if asked[1] else max(0, size - int(asked[2]))
    end = min(int(asked[2]) + 1, size) if asked[1] and asked[2] else size
    return respond(206, bytes_of(first, end), more=f"{facts}Content-Range: bytes {first}-{end - 1}/{size}\r\n")


def _listing(bucket: Path, asked: Mapping[str, str]) -> bytes:
    """A whole prefix at once; with a delimiter its folders are named, and not gone into."""
    prefix, after = asked.get("prefix", ""), asked.get("start-after", "")
    folder = bucket / prefix.rpartition("/")[0]
    paths = folder.iterdir() if asked.get("delimiter") and folder.is_dir() else folder.rglob("*")
    found = {f"{path.relative_to(bucket).as_posix()}{'/' * path.is_dir()}": path for path in paths}
    keys = [key for key in sorted(found) if key.startswith(prefix) and key > after]
    rows = [
        f"<Contents><Key>{quote(key)}</Key><LastModified>{MODIFIED_XML}</LastModified><ETag>&quot;{ETAG}&quot;</ETag>"
        f"<Size>{found[key].stat().st_size}</Size><StorageClass>STANDARD</StorageClass></Contents>"
        for key in keys
        if not key.endswith("/")
    ]
    folders = [key for key in keys if key.endswith("/") and asked.get("delimiter")]
    rows += [f"<CommonPrefixes><Prefix>{quote(key)}</Prefix></CommonPrefixes>" for key in folders]
    text = (
        f"<ListBucketResult {NAMESPACE}><EncodingType>url</EncodingType><KeyCount>{len(rows)}</KeyCount>"
        f"<IsTruncated>false</IsTruncated>{''.join(rows)}</ListBucketResult>"
    )
    return respond(200, text.encode())


def _items(operation: str, asked: Mapping[str, Any], items: Items) -> bytes:
    """Scan, Query from a file name on, and DescribeTable."""
    match operation:
        case "Scan":
            count, segment = asked.get("TotalSegments", 1), asked.get("Segment", 0)
            held = [item for of_table in items.values() for item in of_table]
            return _page(held[len(held) * segment // count : len(held) * (segment + 1) // count])
        case "Query":
            path, *least = (value["S"] for value in asked["ExpressionAttributeValues"].values())
            held = [item for item in items.get(path, ()) if item["fileName"]["S"] >= "".join(least)]
            return _page(held[: asked.get("Limit")])
        case "DescribeTable":
            described = {
                "TableName": asked["TableName"],
                "TableStatus": "ACTIVE",
                "KeySchema": [
                    {"AttributeName": "tablePath", "KeyType": "HASH"},
                    {"AttributeName": "fileName", "KeyType": "RANGE"},
                ],
                "AttributeDefinitions": [
                    {"AttributeName": name, "AttributeType": "S"} for name in ("tablePath", "fileName")
                ],
                "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
            }
            return respond(200, orjson.dumps({"Table": described}), kind=JSON)
    return respond(400, orjson.dumps({"__type": "UnknownOperationException", "message": operation}), kind=JSON)


def _page(items: Sequence[Item]) -> bytes:
    return respond(200, orjson.dumps({"Items": items, "Count": len(items), "ScannedCount": len(items)}), kind=JSON)
