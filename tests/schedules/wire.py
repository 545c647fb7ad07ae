"""The memory lake as Levee's transport meets it: HTTP requests of S3 and DynamoDB in, their answers out.

Requests that no schedule needs are refused as unknown, loudly: a new request of Levee's has to be played here first.
"""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.sax.saxutils import escape

from urllib3 import HTTPHeaderDict

from lake.aws.answers import AwsResponse
from tests.schedules.expressions import InvalidExpression, key_range, placeholders
from tests.schedules.lake import MemoryLake, Refused, Stored, Table

NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
CREATED = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
SETTINGS: Mapping[str, tuple[int, str]] = {
    "versioning": (200, f"<VersioningConfiguration {NAMESPACE}><Status>Enabled</Status></VersioningConfiguration>"),
    "lifecycle": (404, "NoSuchLifecycleConfiguration"),
    "replication": (404, "ReplicationConfigurationNotFoundError"),
    "encryption": (404, "ServerSideEncryptionConfigurationNotFoundError"),
    "intelligent-tiering": (
        200,
        f"<ListBucketIntelligentTieringConfigurationsOutput {NAMESPACE}><IsTruncated>false</IsTruncated>"
        "</ListBucketIntelligentTieringConfigurationsOutput>",
    ),
}
"""What a bucket of ordinary settings says of each sub-resource."""

Query = Mapping[str, str]


class UnknownRequestError(AssertionError):
    """Levee sent a request that is not played here."""


def operation_of(method: str, target: str, headers: Mapping[str, str]) -> str:
    """What a request asks of which service, such as "s3:Head" and "dynamodb:Query"."""
    named = _header(headers, "x-amz-target")
    if named:
        return f"dynamodb:{named.rpartition('.')[2]}"
    query = dict(parse_qsl(urlsplit(target).query, keep_blank_values=True))
    return "s3:List" if "list-type" in query else f"s3:{method.title()}"


def answer(lake: MemoryLake, method: str, target: str, headers: Mapping[str, str], body: bytes) -> AwsResponse:
    """Do what one request asks for."""
    named = _header(headers, "x-amz-target")
    try:
        if named:
            return _json(200, _items(lake, named.rpartition(".")[2], json.loads(body)))
        return _objects(lake, method, target, headers, body)
    except Refused as refused:
        if named:
            said = {"__type": f"com.amazonaws.dynamodb.v20120810#{refused.code}", "message": refused.message}
            return _json(refused.status, said)
        return _error(method, refused)


# S3


def _objects(lake: MemoryLake, method: str, target: str, headers: Mapping[str, str], body: bytes) -> AwsResponse:
    parts = urlsplit(target)
    _, bucket, *rest = parts.path.split("/", 2)
    bucket, key = unquote(bucket), unquote(rest[0]) if rest else ""
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    if not key:
        return _bucket(lake, method, bucket, query)
    match method:
        case "GET":
            return _read(lake.get(bucket, key), _header(headers, "range"))
        case "HEAD":
            found = lake.get(bucket, key)
            return _answer(200, b"", {**_headers(found), "Content-Length": str(len(found.data))})
        case "PUT":
            return _answer(200, b"", {"ETag": f'"{_put(lake, bucket, key, headers, body).etag}"'})
        case "DELETE":
            lake.delete(bucket, key, if_match=_header(headers, "if-match").strip('"'))
            return _answer(204, b"")
    raise UnknownRequestError(f"{method} {target}")


def _put(lake: MemoryLake, bucket: str, key: str, headers: Mapping[str, str], body: bytes) -> Stored:
    digest = base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()
    if _header(headers, "content-md5") not in ("", digest):
        raise Refused(400, "BadDigest")
    condition = _header(headers, "if-none-match")
    if condition not in ("", "*"):
        raise Refused(501, "NotImplemented")
    return lake.put(bucket, key, body, if_absent=condition == "*")


def _read(found: Stored, span: str) -> AwsResponse:
    if not span:
        return _answer(200, found.data, _headers(found))
    asked = re.fullmatch(r"bytes=(\d*)-(\d*)", span)
    if asked is None:
        raise UnknownRequestError(f"Range {span}")
    size = len(found.data)
    first = int(asked[1]) if asked[1] else max(0, size - int(asked[2]))
    last = min(size, int(asked[2]) + 1 if asked[1] and asked[2] else size)
    if first >= size:
        raise Refused(416, "InvalidRange")
    return _answer(
        206, found.data[first:last], {**_headers(found), "Content-Range": f"bytes {first}-{last - 1}/{size}"}
    )


def _headers(found: Stored) -> dict[str, str]:
    return {"ETag": f'"{found.etag}"', "Last-Modified": format_datetime(found.modified_at, usegmt=True)}


def _bucket(lake: MemoryLake, method: str, bucket: str, query: Query) -> AwsResponse:
    next(lake.keys(bucket), "")
    if method != "GET":
        raise UnknownRequestError(f"{method} of a bucket")
    if query.get("list-type") == "2":
        return _answer(200, _listing(lake, bucket, query).encode(), {"Content-Type": "application/xml"})
    if "versions" in query:
        return _answer(200, _versions(lake, bucket, query).encode(), {"Content-Type": "application/xml"})
    setting = next((name for name in query if name in SETTINGS), "")
    if not setting:
        raise UnknownRequestError(f"GET {bucket}?{query}")
    status, said = SETTINGS[setting]
    if status != 200:
        raise Refused(status, said)
    return _answer(200, said.encode(), {"Content-Type": "application/xml"})


def _listing(lake: MemoryLake, bucket: str, query: Query) -> str:
    """A page of ListObjectsV2; its continuation token is the last key or prefix of the page before."""
    prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
    after, token = query.get("start-after", ""), query.get("continuation-token", "")
    most = int(query.get("max-keys", "1000"))
    rows: list[str] = []
    prefixes: list[str] = []
    last, truncated = "", False
    for key in lake.keys(bucket, prefix):
        folder, found, _ = key[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
        common = prefix + folder + delimiter if found else ""
        if key <= after or (token and (common or key) <= token) or (common and common in prefixes):
            continue
        if len(rows) + len(prefixes) == most:
            truncated = True
            break
        last = common or key
        if common:
            prefixes.append(common)
        else:
            rows.append(_row(key, lake.get(bucket, key)))
    ends = f"<NextContinuationToken>{escape(last)}</NextContinuationToken>" if truncated else ""
    folders = "".join(f"<CommonPrefixes><Prefix>{quote(one)}</Prefix></CommonPrefixes>" for one in prefixes)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><ListBucketResult {NAMESPACE}><Name>{bucket}</Name>'
        f"<Prefix>{quote(prefix)}</Prefix><KeyCount>{len(rows) + len(prefixes)}</KeyCount><MaxKeys>{most}</MaxKeys>"
        f"<EncodingType>url</EncodingType><IsTruncated>{str(truncated).lower()}</IsTruncated>{ends}"
        f"{''.join(rows)}{folders}</ListBucketResult>"
    )


def _versions(lake: MemoryLake, bucket: str, query: Query) -> str:
    """ListObjectVersions of a bucket without versioning: each object is its own only version."""
    rows = "".join(
        _row(key, lake.get(bucket, key))
        .replace("<Contents>", "<Version><VersionId>null</VersionId><IsLatest>true</IsLatest>")
        .replace("</Contents>", "</Version>")
        for key in lake.keys(bucket, query.get("prefix", ""))
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><ListVersionsResult {NAMESPACE}><Name>{bucket}</Name>'
        f"<EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>{rows}</ListVersionsResult>"
    )


def _row(key: str, found: Stored) -> str:
    return (
        f"<Contents><Key>{quote(key)}</Key><LastModified>{found.modified_at:%Y-%m-%dT%H:%M:%S.000Z}</LastModified>"
        f"<ETag>&quot;{found.etag}&quot;</ETag><Size>{len(found.data)}</Size><StorageClass>STANDARD</StorageClass>"
        "</Contents>"
    )


def _error(method: str, refused: Refused) -> AwsResponse:
    text = f"<Error><Code>{refused.code}</Code><Message>{escape(refused.message)}</Message></Error>"
    return _answer(refused.status, b"" if method == "HEAD" else text.encode())


# DynamoDB


def _items(lake: MemoryLake, operation: str, asked: dict[str, Any]) -> dict[str, Any]:
    played = OPERATIONS.get(operation)
    if played is None:
        raise UnknownRequestError(f"DynamoDB's {operation}")
    return played(lake, asked)


def _get_item(lake: MemoryLake, asked: dict[str, Any]) -> dict[str, Any]:
    item = lake.get_item(asked["TableName"], asked["Key"], consistent=_is_consistent(asked))
    return {} if item is None else {"Item": item}


def _batch_get(lake: MemoryLake, asked: dict[str, Any]) -> dict[str, Any]:
    answers = {
        table: [
            item
            for key in wanted["Keys"]
            if (item := lake.get_item(table, key, consistent=_is_consistent(wanted))) is not None
        ]
        for table, wanted in asked["RequestItems"].items()
    }
    return {"Responses": answers, "UnprocessedKeys": {}}


def _put_item(lake: MemoryLake, asked: dict[str, Any]) -> dict[str, Any]:
    lake.put_item(asked["TableName"], asked["Item"], *_condition(asked))
    return {}


def _update_item(lake: MemoryLake, asked: dict[str, Any]) -> dict[str, Any]:
    changed = lake.update_item(asked["TableName"], asked["Key"], asked["UpdateExpression"], *_condition(asked))
    return {"Attributes": changed} if asked.get("ReturnValues") == "ALL_NEW" else {}


def _delete_item(lake: MemoryLake, asked: dict[str, Any]) -> dict[str, Any]:
    gone = lake.delete_item(asked["TableName"], asked["Key"], *_condition(asked))
    return {"Attributes": gone} if gone is not None and asked.get("ReturnValues") == "ALL_OLD" else {}


def _condition(asked: dict[str, Any]) -> tuple[str, Any, Any]:
    names, values = asked.get("ExpressionAttributeNames"), asked.get("ExpressionAttributeValues")
    if names == {} or values == {}:
        raise Refused(400, "ValidationException", "ExpressionAttributeNames must not be empty")
    return asked.get("ConditionExpression", ""), names, values


def _query(lake: MemoryLake, asked: dict[str, Any]) -> dict[str, Any]:
    table = lake.table(asked["TableName"])
    _, names, values = _condition(asked)
    try:
        hash_name, hash_text, *least = key_range(asked["KeyConditionExpression"], names or {}, values or {})
    except InvalidExpression as error:
        raise Refused(400, "ValidationException", str(error)) from error
    named = (hash_name, *least[:1])
    if named != table.keys[: len(named)] or (names.keys() | values.keys()) != placeholders(
        asked["KeyConditionExpression"]
    ):
        raise Refused(400, "ValidationException", "Query condition missed key schema element")
    held = lake.items(asked["TableName"], consistent=_is_consistent(asked))
    found = [item for item in held if item[hash_name]["S"] == hash_text]
    if least:
        found = [item for item in found if item[least[0]]["S"].encode() >= least[1].encode()]
    return _page(table, asked, found)


def _scan(lake: MemoryLake, asked: dict[str, Any]) -> dict[str, Any]:
    """A segment holds whole partitions, as on DynamoDB."""
    table, segments = lake.table(asked["TableName"]), asked.get("TotalSegments", 1)
    found = [
        item
        for item in lake.items(asked["TableName"], consistent=_is_consistent(asked))
        if sum(item[table.keys[0]]["S"].encode()) % segments == asked.get("Segment", 0)
    ]
    return _page(table, asked, found)


def _is_consistent(asked: Mapping[str, Any]) -> bool:
    return asked.get("ConsistentRead") is True


def _page(table: Table, asked: dict[str, Any], found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """DynamoDB says where a page ended whenever it ended at the limit, even where nothing follows."""
    if start := asked.get("ExclusiveStartKey"):
        places = [table.key_of(item) for item in found]
        found = found[places.index(table.key_of(start)) + 1 :] if table.key_of(start) in places else []
    most = asked.get("Limit", len(found) + 1)
    page = list(found[:most])
    said: dict[str, Any] = {"Items": page, "Count": len(page), "ScannedCount": len(page)}
    if len(page) == most:
        said["LastEvaluatedKey"] = {name: page[-1][name] for name in table.keys}
    return said | {"ConsumedCapacity": {"TableName": asked["TableName"], "CapacityUnits": 0.5}}


def _describe(lake: MemoryLake, asked: dict[str, Any]) -> dict[str, Any]:
    name = asked["TableName"]
    table = lake.table(name)
    kinds = zip(table.keys, ("HASH", "RANGE"), strict=False)
    return {
        "Table": {
            "TableName": name,
            "TableArn": f"arn:aws:dynamodb:us-east-1:111122223333:table/{name}",
            "TableStatus": "ACTIVE",
            "KeySchema": [{"AttributeName": key, "KeyType": kind} for key, kind in kinds],
            "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"} for key in table.keys],
            "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
            "ItemCount": len(table.items),
            "TableSizeBytes": 0,
            "CreationDateTime": CREATED,
            "DeletionProtectionEnabled": True,
        }
    }


def _describe_ttl(lake: MemoryLake, asked: dict[str, Any]) -> dict[str, Any]:
    if "fileName" not in lake.table(asked["TableName"]).keys:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    return {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "expireTime"}}


def _describe_backups(lake: MemoryLake, asked: dict[str, Any]) -> dict[str, Any]:
    lake.table(asked["TableName"])
    return {
        "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "ENABLED"},
        }
    }


OPERATIONS: Mapping[str, Callable[[MemoryLake, dict[str, Any]], dict[str, Any]]] = {
    "GetItem": _get_item,
    "BatchGetItem": _batch_get,
    "Query": _query,
    "Scan": _scan,
    "PutItem": _put_item,
    "UpdateItem": _update_item,
    "DeleteItem": _delete_item,
    "DescribeTable": _describe,
    "DescribeTimeToLive": _describe_ttl,
    "DescribeContinuousBackups": _describe_backups,
}


def _json(status: int, said: dict[str, Any]) -> AwsResponse:
    return _answer(status, json.dumps(said).encode(), {"Content-Type": "application/x-amz-json-1.0"})


def _answer(status: int, body: bytes, headers: Mapping[str, str] | None = None) -> AwsResponse:
    return AwsResponse(status, HTTPHeaderDict({"x-amz-request-id": "R0", **(headers or {})}), body)


def _header(headers: Mapping[str, str], name: str) -> str:
    return next((value for held, value in headers.items() if held.lower() == name), "")
