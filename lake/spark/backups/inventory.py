"""An inventory of S3 as Arrow batches: its CSV, ORC and Parquet files by the names in their manifest.

A listing is kept in the form of an inventory, so that it is asked for once and read as often as is wanted.
"""

import io
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from lake.aws.access import Access
from lake.backup.inventory_manifest import parse_manifest
from lake.backup.objects import BucketPrefix, FileUnreadable
from lake.spark.backups.encoding import percent_decoded
from lake.spark.backups.places import s3_of
from lake.spark.backups.stored import csv_batches, orc_batches, parquet_batches, whole
from lake.spark.backups.tasks import Batches, BatchStep, Share, shares_of
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
FILES = "key string, bytes bigint"
MOST_OBJECTS = 500_000
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
    try:
        manifest = parse_manifest(body)
    except FileUnreadable as error:
        raise SparkRefused(f"{place} is no manifest of an inventory: {error}") from error
    _require_columns(NEEDED, manifest.columns, place)
    files = tuple((manifest.destination_bucket or bucket, part.key, part.size) for part in manifest.parts)
    return InventoryFiles(place, manifest.format, files, prefix, manifest.columns)


def keep_listing(access: Access, folder: BucketPrefix) -> BatchStep:
    """The stage that writes rows of OBJECTS below `folder`, and tells of the files (FILES), each of many objects."""

    def write(batches: Batches) -> Batches:
        held: list[Any] = []
        for batch in batches:
            held.append(batch)
            if sum(one.num_rows for one in held) >= MOST_OBJECTS:
                yield _put(access, folder, held)
                held = []
        if held:
            yield _put(access, folder, held)

    return write


def kept_inventory(files: Any, folder: BucketPrefix) -> InventoryFiles:
    """The inventory that those FILES are; only those count that a task which ended well has told of."""
    told = files.collect()
    return InventoryFiles(folder.uri, "Parquet", tuple((folder.bucket, row["key"], row["bytes"]) for row in told))


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
    return (parquet_batches if inventory.kind == "Parquet" else orc_batches)(access, share, columns)


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


def _put(access: Access, folder: BucketPrefix, batches: list[Any]) -> Any:
    rows = pa.Table.from_batches(batches)
    body, key = io.BytesIO(), f"{folder.prefix}{uuid.uuid4().hex}.parquet"
    names = [STORED.get(name, name) for name in rows.schema.names]
    parquet.write_table(rows.rename_columns(names), body, row_group_size=100_000, compression="zstd")
    s3_of(access).put(folder.bucket, key, body.getvalue())
    return pa.RecordBatch.from_arrays([pa.array([key]), pa.array([body.tell()])], names=["key", "bytes"])
