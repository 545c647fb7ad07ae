"""Manifests of S3 Inventory: manifest.json, its checksum, the columns of its files and the MD5s of their bytes.

Layout and fields: S3 User Guide, "Locating your inventory list" and "Amazon S3 Inventory list".
"""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from lake.backup.objects import FileUnreadable

FORMATS = ("CSV", "ORC", "Parquet")
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PARQUET_FIELD = re.compile(r"\b(?:required|optional|repeated)\s+\w+(?:\(\d+\))?\s+(\w+)")


@dataclass(frozen=True, slots=True)
class InventoryPart:
    """One file of the list; `size` in bytes and `md5`, hexadecimal, are of its bytes as they are stored."""

    key: str
    size: int
    md5: str


@dataclass(frozen=True, slots=True)
class InventoryManifest:
    """One delivery. `created_at` (UTC) is when S3 began the scan; `columns` are the files' in order, named as in ORC
    and Parquet (bucket, key, e_tag ...), also those of CSV.
    """

    source_bucket: str
    destination_bucket: str
    created_at: datetime
    format: str
    columns: tuple[str, ...]
    parts: tuple[InventoryPart, ...]

    @property
    def bytes(self) -> int:
        return sum(part.size for part in self.parts)


def read_manifest(body: bytes, checksum: bytes, *, source_bucket: str) -> InventoryManifest:
    """Read manifest.json beside its manifest.checksum. Raises FileUnreadable for an unsound or another bucket's."""
    _check_sum(body, checksum)
    manifest = parse_manifest(body)
    if manifest.source_bucket != source_bucket:
        raise FileUnreadable(
            f"The inventory is of the bucket {manifest.source_bucket!r}, and {source_bucket!r} was expected."
        )
    return manifest


def parse_manifest(body: bytes) -> InventoryManifest:
    """Read a manifest.json whose checksum was verified before. Raises FileUnreadable."""
    try:
        said = json.loads(body)
        file_format = said["fileFormat"]
        if file_format not in FORMATS:
            raise FileUnreadable(
                f"The inventory has the unknown format {file_format!r}; known are {', '.join(FORMATS)}."
            )
        return InventoryManifest(
            source_bucket=said["sourceBucket"],
            destination_bucket=said["destinationBucket"].rpartition(":")[2],
            created_at=datetime.fromtimestamp(int(said["creationTimestamp"]) / 1000, UTC),
            format=file_format,
            columns=read_schema(file_format, said["fileSchema"]),
            parts=tuple(
                InventoryPart(one["key"], int(one["size"]), one["MD5checksum"].lower()) for one in said["files"]
            ),
        )
    except FileUnreadable:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, OSError) as error:
        raise FileUnreadable(f"manifest.json of the inventory cannot be read: {error!r}.") from error


def read_schema(file_format: str, schema: str) -> tuple[str, ...]:
    """The columns of a fileSchema in their order, named as in ORC and Parquet.

    Parquet writes its types in more than one spelling, so only names are read. Raises FileUnreadable where the schema
    names no bucket or no key, or a column twice.
    """
    if file_format == "CSV":
        columns = tuple(_WORDS.sub("_", name.strip()).lower() for name in schema.split(","))
    elif file_format == "ORC":
        fields = schema.strip().removeprefix("struct<").removesuffix(">").split(",")
        columns = tuple(field.partition(":")[0].strip() for field in fields)
    else:
        columns = tuple(_PARQUET_FIELD.findall(schema))
    if not {"bucket", "key"} <= set(columns):
        raise FileUnreadable(f"The inventory's fileSchema names no bucket or no key: {schema[:200]!r}.")
    if len(set(columns)) != len(columns):
        raise FileUnreadable(f"The inventory's fileSchema names a column twice: {schema[:200]!r}.")
    return columns


def verify_part(part: InventoryPart, pieces: Iterable[bytes]) -> int:
    """The number of bytes read. Raises FileUnreadable where they are not those of the manifest."""
    digest, size = hashlib.md5(usedforsecurity=False), 0
    for piece in pieces:
        digest.update(piece)
        size += len(piece)
    if size != part.size:
        raise FileUnreadable(f"{part.key} has {size:,} bytes, and the inventory's manifest says {part.size:,}.")
    if digest.hexdigest() != part.md5:
        raise FileUnreadable(f"{part.key} has the MD5 {digest.hexdigest()}, and the inventory's manifest {part.md5}.")
    return size


def _check_sum(body: bytes, checksum: bytes) -> None:
    said = checksum.decode("ascii", "replace").strip().lower()
    found = hashlib.md5(body, usedforsecurity=False).hexdigest()
    if found != said:
        raise FileUnreadable(f"manifest.json has the MD5 {found}, and manifest.checksum says {said[:32]!r}.")
