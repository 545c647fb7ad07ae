"""Deliveries of S3 Inventory: noticed by their manifest.checksum, verified to the last byte, or refused with a reason.

Layout: S3 User Guide, "Locating your inventory list".
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.backup.inventory_manifest import InventoryManifest, InventoryPart, read_manifest, verify_part
from lake.backup.locations import BucketPrefix
from lake.backup.objects import FileUnreadable

_FOLDER = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\dZ")
_CHUNK = 16 * 1024 * 1024
NEWEST = 5
NEEDED = {"size": "Size", "last_modified_date": "LastModifiedDate", "e_tag": "ETag"}
"""Columns without which nothing can be planned, and what the inventory's configuration calls them."""


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


def deliveries(s3: S3, place: BucketPrefix) -> list[Delivery]:
    """What has arrived under an inventory's place, newest first, at most the newest few."""
    folders: list[str] = []
    for page in s3.list(place.bucket, place.prefix, delimiter="/"):
        folders += [prefix for prefix in page.prefixes if _FOLDER.fullmatch(_last(prefix))]
    newest = sorted(folders, key=_last, reverse=True)[:NEWEST]
    arrived = (folder for folder in newest if s3.head(place.bucket, f"{folder}manifest.checksum"))
    return [Delivery(_last(folder), place.bucket, f"{folder}manifest.json") for folder in arrived]


def verify(
    s3: S3, delivery: Delivery, source: BucketPrefix, progress: Callable[[int, int], None] = lambda done, total: None
) -> VerifiedInventory:
    """Check manifest and files by size and MD5; `progress` is told bytes. Raises InventoryRefused or AwsError."""
    try:
        return _verify(s3, delivery, source, progress)
    except FileUnreadable as error:
        raise InventoryRefused(f"Inventory {delivery.name} cannot be trusted: {error}") from error


def _verify(
    s3: S3, delivery: Delivery, source: BucketPrefix, progress: Callable[[int, int], None]
) -> VerifiedInventory:
    manifest = _manifest(s3, delivery, source)
    missing = [name for column, name in NEEDED.items() if column not in manifest.columns]
    if missing:
        raise FileUnreadable(f"it lacks {', '.join(missing)}: add them to the inventory's configuration.")
    total, done = sum(part.size for part in manifest.parts), 0
    for part in manifest.parts:
        done += verify_part(part, _pieces(s3, delivery.bucket, part))
        progress(done, total)
    return VerifiedInventory(manifest.created_at, manifest.format, len(manifest.parts), total)


def _last(prefix: str) -> str:
    return prefix.rstrip("/").rpartition("/")[2]


def _manifest(s3: S3, delivery: Delivery, source: BucketPrefix) -> InventoryManifest:
    checksum = s3.get(delivery.bucket, f"{delivery.manifest_key.removesuffix('json')}checksum").data
    try:
        body = s3.get(delivery.bucket, delivery.manifest_key).data
    except AwsError as error:
        if error.is_missing:
            raise FileUnreadable("it has a checksum and no manifest.json.") from error
        raise
    return read_manifest(body, checksum, source_bucket=source.bucket)


def _pieces(s3: S3, bucket: str, part: InventoryPart) -> Iterator[bytes]:
    """The bytes of a part, a range at a time, so that memory stays small however long the file is."""
    read = 0
    try:
        while read < part.size or read == 0:
            body = s3.get(bucket, part.key, first=read, last=read + _CHUNK - 1)
            if body.size != part.size:
                raise FileUnreadable(
                    f"{part.key} has {body.size:,} bytes, and the inventory's manifest says {part.size:,}."
                )
            yield body.data
            read += len(body.data)
            if not body.data:
                return
    except AwsError as error:
        if error.is_missing:
            raise FileUnreadable(f"{part.key} of the inventory is not there.") from error
        raise
