"""An inventory of S3 as a DataFrame: its CSV, ORC and Parquet files by the names in their manifest."""

import json
from typing import Any

from lake.spark.backups.keys import decoded
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
_NAMES = {
    "etag": "e_tag",
    "modified_at": "last_modified_date",
    "access_tier": "intelligent_tiering_access_tier",
}
_CSV_NAMES = {
    "Bucket": "bucket",
    "Key": "key",
    "IsLatest": "is_latest",
    "IsDeleteMarker": "is_delete_marker",
    "Size": "size",
    "LastModifiedDate": "last_modified_date",
    "ETag": "e_tag",
    "StorageClass": "storage_class",
    "IntelligentTieringAccessTier": "intelligent_tiering_access_tier",
    "EncryptionStatus": "encryption_status",
}
_TYPES = {"size": "bigint", "modified_at": "timestamp"}
NEEDED = ("Key", "Size", "ETag", "LastModifiedDate")


def read_inventory(spark: Any, bucket: str, manifest_key: str, prefix: str) -> Any:
    """The newest objects below `prefix`: COLUMNS, optional ones null where the inventory lacks them.

    Older versions and delete markers are left out. SparkRefused where the manifest is none, or lacks a column that a
    backup cannot do without.
    """
    from pyspark.sql import functions as sql

    manifest = _manifest(spark, bucket, manifest_key)
    home = str(manifest["destinationBucket"]).rpartition(":")[2] or bucket
    paths = [f"s3a://{home}/{_escaped(file['key'])}" for file in manifest["files"]]
    kind, schema = str(manifest["fileFormat"]).upper(), str(manifest["fileSchema"])
    rows = _rows(spark, kind, schema, paths)
    held = set(rows.columns)
    missing = [name for name in NEEDED if _CSV_NAMES[name] not in held]
    if missing:
        raise SparkRefused(
            f"The inventory s3://{bucket}/{manifest_key} lacks the column {missing[0]}: "
            "add it to the inventory's configuration, and wait for the next one."
        )
    if "is_latest" in held:
        unread = sql.raise_error(sql.lit("The inventory's files do not match their schema: IsLatest is no boolean."))
        rows = rows.where(sql.coalesce(sql.col("is_latest").cast("boolean"), unread.cast("boolean")))
    if "is_delete_marker" in held:
        rows = rows.where(~sql.coalesce(sql.col("is_delete_marker").cast("boolean"), sql.lit(False)))
    objects = rows.select(*(_column(name, held) for name in COLUMNS))
    return objects.where(sql.col("key").startswith(prefix)) if prefix else objects


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


def _rows(spark: Any, kind: str, schema: str, paths: list[str]) -> Any:
    # A path's own name=value parts are no columns of the inventory.
    reader = spark.read.option("recursiveFileLookup", "true")
    if kind == "PARQUET":
        return reader.parquet(*paths)
    if kind == "ORC":
        return reader.orc(paths)
    if kind != "CSV":
        raise SparkRefused(f"The inventory's format is {kind!r}: CSV, ORC and Parquet can be read.")
    names = [_CSV_NAMES.get(name, name) for name in (part.strip() for part in schema.split(","))]
    columns = ", ".join(f"`{name}` string" for name in names)
    # Every field is quoted and the keys are encoded, so that no field holds a line break.
    rows = reader.csv(paths, schema=columns, header=False, quote='"', escape='"', mode="FAILFAST")
    return rows.withColumn("key", decoded(rows["key"]))


def _column(name: str, held: set[str]) -> Any:
    from pyspark.sql import functions as sql

    kind = _TYPES.get(name, "string")
    stored = _NAMES.get(name, name)
    if stored not in held:
        return sql.lit(None).cast(kind).alias(name)
    text = sql.col(stored)
    return (sql.coalesce(text.cast(kind), sql.lit(0)) if name == "size" else text.cast(kind)).alias(name)


def _escaped(key: str) -> str:
    """A key whose glob characters Hadoop takes as they are."""
    return "".join(f"\\{character}" if character in "{}[]*?\\" else character for character in key)
