"""An inventory of S3 as a DataFrame: its CSV, ORC and Parquet files by the names in their manifest."""

import json
from typing import Any

from lake.backup.inventory_manifest import read_schema
from lake.backup.objects import FileUnreadable
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
_STORED = {
    "etag": "e_tag",
    "modified_at": "last_modified_date",
    "access_tier": "intelligent_tiering_access_tier",
}
"""Columns whose name in inventories is another."""
_TYPES = {"size": "bigint", "modified_at": "timestamp"}
NEEDED = {"key": "Key", "size": "Size", "e_tag": "ETag", "last_modified_date": "LastModifiedDate"}
"""What a backup cannot do without, and the names that an inventory's configuration has for it."""


def read_inventory(spark: Any, bucket: str, manifest_key: str, prefix: str) -> Any:
    """The newest objects below `prefix`: COLUMNS, optional ones null where the inventory lacks them.

    Older versions and delete markers are left out. SparkRefused where the manifest is none, or lacks a column that a
    backup cannot do without.
    """
    from pyspark.sql import functions as sql

    place = f"s3://{bucket}/{manifest_key}"
    manifest = _manifest(spark, bucket, manifest_key)
    home = str(manifest["destinationBucket"]).rpartition(":")[2] or bucket
    paths = [f"s3a://{home}/{_escaped(file['key'])}" for file in manifest["files"]]
    kind = str(manifest["fileFormat"]).upper()
    rows = _rows(spark, kind, str(manifest["fileSchema"]), paths, place)
    held = set(rows.columns)
    _require_columns(held, place)
    if "is_latest" in held:
        rows = rows.where(_known(_cast(rows, "is_latest", "boolean"), "IsLatest", place))
    if "is_delete_marker" in held:
        is_marker = _cast(rows, "is_delete_marker", "boolean")
        rows = rows.where(~sql.coalesce(is_marker, sql.lit(False)))
    if prefix:
        rows = rows.where(_cast(rows, "key", "string").startswith(prefix))
    return rows.select(*(_column(rows, name, kind, place) for name in COLUMNS))


def _manifest(spark: Any, bucket: str, key: str) -> dict[str, Any]:
    text = spark.read.text(f"s3a://{bucket}/{_escaped(key)}", wholetext=True).first()
    try:
        manifest = json.loads(text[0])
        _ = manifest["destinationBucket"], manifest["fileFormat"], manifest["fileSchema"]
        if not manifest["files"]:
            raise ValueError("it names no file")
        _ = [file["key"] for file in manifest["files"]]
    except (TypeError, ValueError, KeyError) as error:
        raise SparkRefused(f"s3://{bucket}/{key} is no manifest of an inventory: {error}.") from error
    return dict(manifest)


def _rows(spark: Any, kind: str, schema: str, paths: list[str], place: str) -> Any:
    # A path's own name=value parts are no columns of the inventory.
    reader = spark.read.option("recursiveFileLookup", "true")
    if kind == "PARQUET":
        return reader.parquet(*paths)
    if kind == "ORC":
        return reader.orc(paths)
    if kind != "CSV":
        raise SparkRefused(f"The format of the inventory {place} is {kind!r}: CSV, ORC and Parquet can be read.")
    try:
        names = read_schema("CSV", schema)
    except FileUnreadable as error:
        raise SparkRefused(f"{place} is no manifest of an inventory: {error}") from error
    columns = ", ".join(f"`{name.replace('`', '``')}` string" for name in names)
    # Every field is quoted and the keys are encoded, so that no field holds a line break.
    rows = reader.csv(paths, schema=columns, header=False, quote='"', escape='"', mode="FAILFAST")
    return rows.withColumn("key", _known(_decoded(rows["key"]), "Key", place))


def _require_columns(held: set[str], place: str) -> None:
    missing = [field for name, field in NEEDED.items() if name not in held]
    if missing:
        raise SparkRefused(
            f"The inventory {place} lacks the column {' and '.join(missing)}: add it to the inventory's "
            "configuration, and wait for the next one."
        )


def _column(rows: Any, name: str, kind: str, place: str) -> Any:
    from pyspark.sql import functions as sql

    stored, wanted = _STORED.get(name, name), _TYPES.get(name, "string")
    if stored not in rows.columns:
        return sql.lit(None).cast(wanted).alias(name)
    value = _cast(rows, stored, wanted)
    if name == "modified_at" and kind == "ORC":
        # A time without a zone is UTC here, and Spark's reader of ORC takes it for one in the zone of its JVM.
        value = sql.from_utc_timestamp(value, sql.java_method(sql.lit("java.time.ZoneId"), sql.lit("systemDefault")))
    if name in _TYPES:
        value = _known(value, NEEDED[stored], place)
    return value.alias(name)


def _cast(rows: Any, name: str, kind: str) -> Any:
    """The column as that type; null where it is no such value."""
    return rows[name] if dict(rows.dtypes)[name] == kind else rows[name].try_cast(kind)


def _known(value: Any, field: str, place: str) -> Any:
    """The value, and the end of the work where a row has none."""
    from pyspark.sql import functions as sql

    said = f"A row of the inventory {place} has no readable {field}: its files are not what its schema says."
    return sql.coalesce(value, sql.raise_error(sql.lit(said)).cast(_type_of(field)))


def _type_of(field: str) -> str:
    return {"IsLatest": "boolean", "Size": "bigint", "LastModifiedDate": "timestamp"}.get(field, "string")


def _decoded(text: Any) -> Any:
    from pyspark.sql import functions as sql

    return sql.try_url_decode(text)


def _escaped(key: str) -> str:
    """A key whose glob characters Hadoop takes as they are."""
    return "".join(f"\\{character}" if character in "{}[]*?\\" else character for character in key)
