"""Deliveries of S3 Inventory: noticed by their manifest.checksum, verified to the last byte, or refused with a reason.

Layout and fields: S3 User Guide, "Locating your inventory list" and "Inventory manifest".
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from backups.runs.ports import Place
from lake.aws.errors import AwsError
from lake.aws.s3 import S3

_FOLDER = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\dZ")
_MD5 = re.compile(r"[0-9a-f]{32}")
_FORMATS = frozenset({"CSV", "ORC", "Parquet"})
_CHUNK = 16 * 1024 * 1024
NEWEST = 5


class InventoryRefused(Exception):
    """A delivery that cannot be trusted; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One dated folder with a checksum in it: it has arrived."""

    name: str
    bucket: str
    manifest_key: str


@dataclass(frozen=True, slots=True)
class VerifiedInventory:
    """A delivery whose manifest and files are whole; `created_at` (UTC) is when S3 began the scan."""

    created_at: datetime
    format: str
    files: int
    bytes: int


def deliveries(s3: S3, place: Place) -> list[Delivery]:
    """What has arrived under an inventory's place, newest first, at most the newest few."""
    folders: list[str] = []
    for page in s3.list(place.bucket, place.prefix, delimiter="/"):
        folders += [prefix for prefix in page.prefixes if _FOLDER.fullmatch(_last(prefix))]
    newest = sorted(folders, key=_last, reverse=True)[:NEWEST]
    arrived = (folder for folder in newest if s3.head(place.bucket, f"{folder}manifest.checksum"))
    return [Delivery(_last(folder), place.bucket, f"{folder}manifest.json") for folder in arrived]


def verify(
    s3: S3, delivery: Delivery, source: Place, progress: Callable[[int, int], None] = lambda done, total: None
) -> VerifiedInventory:
    """Check manifest and files by size and MD5; `progress` is told bytes. Raises InventoryRefused or AwsError."""
    manifest = _read_manifest(s3, delivery)
    if manifest.get("sourceBucket") != source.bucket:
        raise InventoryRefused(
            f"Inventory {delivery.name} is of the bucket {manifest.get('sourceBucket')!r}, "
            f"and the plan backs up {source.bucket!r}: correct the plan's inventory."
        )
    created_at, file_format = _created_at(delivery, manifest), manifest.get("fileFormat")
    if file_format not in _FORMATS:
        raise InventoryRefused(f"Inventory {delivery.name} has the unknown format {file_format!r}.")
    files = list(_files(delivery, manifest))
    total, done = sum(size for _, size, _ in files), 0
    for key, size, md5 in files:
        _check_file(s3, delivery, key, size, md5)
        done += size
        progress(done, total)
    return VerifiedInventory(created_at, str(file_format), len(files), total)


def _last(prefix: str) -> str:
    return prefix.rstrip("/").rpartition("/")[2]


def _read_manifest(s3: S3, delivery: Delivery) -> dict[str, Any]:
    checksum_key = delivery.manifest_key.removesuffix("manifest.json") + "manifest.checksum"
    said = s3.get(delivery.bucket, checksum_key).data.decode("ascii", "replace").strip().lower()
    try:
        body = s3.get(delivery.bucket, delivery.manifest_key).data
    except AwsError as error:
        if error.is_missing:
            raise InventoryRefused(f"Inventory {delivery.name} has a checksum and no manifest.json.") from error
        raise
    found = hashlib.md5(body, usedforsecurity=False).hexdigest()
    if found != said:
        raise InventoryRefused(
            f"manifest.json of inventory {delivery.name} has the MD5 {found}, and its checksum says {said[:32]!r}."
        )
    try:
        manifest = json.loads(body)
    except ValueError as error:
        raise InventoryRefused(f"manifest.json of inventory {delivery.name} is not JSON: {error}.") from error
    if not isinstance(manifest, dict):
        raise InventoryRefused(f"manifest.json of inventory {delivery.name} is no JSON object.")
    return manifest


def _created_at(delivery: Delivery, manifest: dict[str, Any]) -> datetime:
    text = manifest.get("creationTimestamp")
    try:
        return datetime.fromtimestamp(int(str(text)) / 1000, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InventoryRefused(
            f"manifest.json of inventory {delivery.name} does not say when the scan began: {text!r}."
        ) from error


def _files(delivery: Delivery, manifest: dict[str, Any]) -> Iterator[tuple[str, int, str]]:
    listed = manifest.get("files")
    if not isinstance(listed, list):
        raise InventoryRefused(f"manifest.json of inventory {delivery.name} lists no files.")
    for file in listed:
        entry = file if isinstance(file, dict) else {}
        key, size, md5 = entry.get("key"), entry.get("size"), entry.get("MD5checksum")
        if not (isinstance(key, str) and isinstance(size, int) and isinstance(md5, str) and _MD5.fullmatch(md5)):
            raise InventoryRefused(f"manifest.json of inventory {delivery.name} lists a file without key, size or MD5.")
        yield key, size, md5


def _check_file(s3: S3, delivery: Delivery, key: str, size: int, md5: str) -> None:
    digest, read = hashlib.md5(usedforsecurity=False), 0
    try:
        while read < size or read == 0:
            body = s3.get(delivery.bucket, key, first=read, last=read + _CHUNK - 1)
            if body.size != size:
                raise InventoryRefused(
                    f"{key} of inventory {delivery.name} has {body.size:,} bytes, and its manifest says {size:,}."
                )
            digest.update(body.data)
            read += len(body.data)
            if not body.data:
                break
    except AwsError as error:
        if error.is_missing:
            raise InventoryRefused(f"{key} of inventory {delivery.name} is not there.") from error
        raise
    if digest.hexdigest() != md5:
        raise InventoryRefused(
            f"{key} of inventory {delivery.name} has the MD5 {digest.hexdigest()}, and its manifest says {md5}."
        )
