"""Inventory configurations of a test's own bucket, deliveries asked for at once, and what was delivered."""

import csv
import gzip
import io
import json
from typing import Any

import urllib3

from lake.backup.inventory_manifest import InventoryManifest, read_manifest, verify_part
from lake.backup.objects import decoded_key
from tests.sandbox.control.ground import Ground

BASIC = ("Size", "LastModifiedDate", "ETag", "StorageClass")
Row = dict[str, Any]


def configuration(ground: Ground, name: str, **changed: Any) -> dict[str, Any]:
    """What boto3 sends: disabled, so that nothing comes unasked, unless it is changed."""
    bucket = {"Bucket": f"arn:aws:s3:::{ground.evidence}", "Format": "CSV", "Prefix": "inventory"}
    return {
        "Id": name,
        "IsEnabled": False,
        "IncludedObjectVersions": "Current",
        "Schedule": {"Frequency": "Daily"},
        "Destination": {"S3BucketDestination": bucket | changed.pop("destination", {})},
        "OptionalFields": list(BASIC),
    } | changed


def configure(ground: Ground, name: str = "nightly", **changed: Any) -> None:
    ground.s3.put_bucket_inventory_configuration(
        Bucket=ground.source, Id=name, InventoryConfiguration=configuration(ground, name, **changed)
    )


def ask(ground: Ground, name: str = "nightly", **how: Any) -> urllib3.BaseHTTPResponse:
    url = f"{ground.origin}/_sandbox/inventory?bucket={ground.source}&id={name}"
    return urllib3.request("POST", url, body=json.dumps(how).encode())


def delivered(ground: Ground, name: str = "nightly", **how: Any) -> str:
    """The key of the manifest of a delivery made at once."""
    answer = ask(ground, name, **how)
    assert answer.status == 200, answer.data
    return str(answer.json()["manifest"])


def manifest_of(ground: Ground, key: str) -> InventoryManifest:
    body = ground.client.get(ground.evidence, key)
    checksum = ground.client.get(ground.evidence, f"{key.removesuffix('json')}checksum")
    return read_manifest(body, checksum, source_bucket=ground.source)


def rows(ground: Ground, key: str) -> list[Row]:
    """The rows of all files, verified, by column name; values of CSV are text, its keys decoded."""
    manifest = manifest_of(ground, key)
    for part in manifest.parts:
        verify_part(part, [ground.client.get(ground.evidence, part.key)])
    found: list[Row] = []
    for part in manifest.parts:
        found += _rows(manifest, ground.client.get(ground.evidence, part.key))
    return sorted(found, key=lambda row: row["key"])


def _rows(manifest: InventoryManifest, data: bytes) -> list[Row]:
    from pyarrow import orc, parquet

    if manifest.format == "CSV":
        lines = csv.reader(io.StringIO(gzip.decompress(data).decode(), newline=""))
        read = (dict(zip(manifest.columns, line, strict=True)) for line in lines)
        return [row | {"key": decoded_key(row["key"])} for row in read]
    read_table = orc.read_table if manifest.format == "ORC" else parquet.read_table
    table = read_table(io.BytesIO(data))
    assert tuple(table.column_names) == manifest.columns
    return list(table.to_pylist())
