"""An inventory of S3 as Arrow batches: its CSV, ORC and Parquet files by the names in their manifest."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lake.aws.access import Access
from lake.backup.inventory_manifest import read_schema
from lake.backup.objects import FileUnreadable
from lake.spark.backups.encoding import percent_decoded
from lake.spark.backups.places import s3_of
from lake.spark.backups.stored import csv_batches, orc_batches, parquet_batches, whole
from lake.spark.backups.tasks import Batches, Share, shares_of
from lake.spark.errors import SparkRefused

COLUMNS = (
    "key",
    "size",
    "etag",
    "modified_at",
    "storage_class",
    "access_tier",
    "encryption_status",
)
STORED = {
    "etag": "e_tag",
    "modified_at": "last_modified_date",
    "access_tier": "intelligent_tiering_access_tier",
}
"""Columns whose name in inventories is another."""
NEEDED = {"key": "Key", "size": "Size", "e_tag": "ETag", "last_modified_date": "LastModifiedDate"}
"""What a backup cannot do without, and the names that an inventory's configuration has for it."""
VERSIONS = ("is_latest", "is_delete_marker")


@dataclass(frozen=True, slots=True)
class InventoryFiles:
    """The files of one delivery, or of a listing in the same form; `names` are the columns of CSV in their order."""

    place: str
    kind: str
    files: tuple[tuple[str, str, int], ...]
    prefix: str = ""
    names: tuple[str, ...] = ()

    @property
    def shares(self) -> list[Share]:
        """What tasks may read side by side: a compressed file of CSV is one share."""
        if self.kind == "CSV":
            return [Share(bucket, key, size) for bucket, key, size in self.files]
        return [share for bucket, key, size in self.files for share in shares_of(bucket, key, size)]


def read_inventory(access: Access, bucket: str, manifest_key: str, prefix: str) -> InventoryFiles:
    """The inventory of a manifest.json, of which objects below `prefix` are wanted; SparkRefused where it is none."""
    place = f"s3://{bucket}/{manifest_key}"
    with whole(bucket, manifest_key):
        body = s3_of(access).get(bucket, manifest_key).data
    manifest = _manifest(body, place)
    home = str(manifest["destinationBucket"]).rpartition(":")[2] or bucket
    files = tuple((home, str(file["key"]), int(file.get("size") or 0)) for file in manifest["files"])
    kind = str(manifest["fileFormat"]).upper()
    if kind not in {"CSV", "ORC", "PARQUET"}:
        raise SparkRefused(f"The format of the inventory {place} is {kind!r}: CSV, ORC and Parquet can be read.")
    names: tuple[str, ...] = ()
    if kind == "CSV":
        try:
            names = read_schema("CSV", str(manifest["fileSchema"]))
        except FileUnreadable as error:
            raise SparkRefused(f"{place} is no manifest of an inventory: {error}") from error
        _require_columns(NEEDED, names, place)
    return InventoryFiles(place, kind, files, prefix, names)


def _manifest(body: bytes, place: str) -> dict[str, Any]:
    try:
        manifest = json.loads(body)
        _ = manifest["destinationBucket"], manifest["fileFormat"], manifest["fileSchema"]
        if not manifest["files"]:
            raise ValueError("it names no file")
        _ = [(file["key"], int(file.get("size") or 0)) for file in manifest["files"]]
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise SparkRefused(f"{place} is no manifest of an inventory: {error}.") from error
    return dict(manifest)


def inventory_batches(
    access: Access, inventory: InventoryFiles, shares: Sequence[Share], columns: Sequence[str] = COLUMNS
) -> Batches:
    """The newest objects of `shares` below the prefix: `columns`, optional ones null where the inventory lacks them.

    Older versions and delete markers are left out. SparkRefused where a file is missing or not whole, lacks one of
    `columns` that a backup cannot do without, or has a row without such a value.
    """
    stored = [STORED.get(name, name) for name in columns]
    for share in shares:
        for rows in _stored(access, inventory, share, (*stored, *VERSIONS)):
            _require_columns(stored, rows.schema.names, inventory.place)
            yield _objects(rows, inventory, columns)


def _stored(access: Access, inventory: InventoryFiles, share: Share, columns: Sequence[str]) -> Batches:
    if inventory.kind == "CSV":
        return csv_batches(access, share, inventory.names)
    return (parquet_batches if inventory.kind == "PARQUET" else orc_batches)(access, share, columns)


def _require_columns(wanted: Iterable[str], held: Sequence[str], place: str) -> None:
    missing = [NEEDED[name] for name in wanted if name in NEEDED and name not in held]
    if missing:
        raise SparkRefused(
            f"The inventory {place} lacks the column {' and '.join(missing)}: add it to the inventory's "
            "configuration, and wait for the next one."
        )


def _objects(rows: Any, inventory: InventoryFiles, columns: Sequence[str]) -> Any:
    place = inventory.place
    if "is_latest" in rows.schema.names:
        rows = rows.filter(_known(_flags(rows["is_latest"], "IsLatest", place), "IsLatest", place))
    if "is_delete_marker" in rows.schema.names:
        is_marker = _flags(rows["is_delete_marker"], "IsDeleteMarker", place)
        rows = rows.filter(pc.invert(pc.fill_null(is_marker, False)))
    keys = _known(_keys(rows["key"], inventory), "Key", place)
    if inventory.prefix:
        is_below = pc.starts_with(keys, inventory.prefix)
        rows, keys = rows.filter(is_below), keys.filter(is_below)
    arrays = [keys if name == "key" else _column(rows, name, place) for name in columns]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def _keys(texts: Any, inventory: InventoryFiles) -> Any:
    if inventory.kind != "CSV":
        return _cast(texts, pa.string(), "Key", inventory.place)
    try:
        return percent_decoded(texts)
    except ValueError as error:
        raise _unreadable("Key", inventory.place) from error


def _column(rows: Any, name: str, place: str) -> Any:
    kind = {"size": pa.int64(), "modified_at": pa.timestamp("us", tz="UTC")}.get(name, pa.string())
    stored = STORED.get(name, name)
    if stored not in rows.schema.names:
        return pa.nulls(rows.num_rows, kind)
    field = NEEDED.get(stored, name)
    values = _cast(rows[stored], kind, field, place)
    return values if kind == pa.string() else _known(values, field, place)


def _flags(texts: Any, field: str, place: str) -> Any:
    """Booleans, also where they are written in letters; null for nothing."""
    if pa.types.is_string(texts.type):
        texts = pc.if_else(pc.equal(texts, ""), None, texts)
    return _cast(texts, pa.bool_(), field, place)


def _cast(values: Any, kind: Any, field: str, place: str) -> Any:
    try:
        # A time may be finer than is kept here.
        return values.cast(kind, safe=not pa.types.is_timestamp(values.type))
    except pa.ArrowException as error:
        raise _unreadable(field, place) from error


def _known(values: Any, field: str, place: str) -> Any:
    """The values, and the end of the work where a row has none."""
    if values.null_count:
        raise _unreadable(field, place)
    return values


def _unreadable(field: str, place: str) -> SparkRefused:
    return SparkRefused(
        f"A row of the inventory {place} has no readable {field}: its files are not what its schema says."
    )
