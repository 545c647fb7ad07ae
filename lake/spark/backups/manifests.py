"""Manifests in the CSV form of S3 Batch Operations, written by the executors as whole objects."""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from io import BytesIO
from typing import Any

from lake.aws.access import Access
from lake.spark.backups.keys import decoded, encoded
from lake.spark.backups.places import Place, lake_at

MOST_OBJECTS = 1_000_000
MOST_BYTES = 256 * 1024**2
"""A manifest is held in memory until it is written, as its ETag has to be known; what is larger becomes several."""
SUFFIX, BESIDE = ".csv", ".parquet"

_WRITTEN = "key string, etag string, objects bigint, bytes bigint"
Batches = Iterator[Any]


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object that names what to copy: bucket and key, URL-encoded, a line each (S3BatchOperations_CSV_20180820)."""

    lane: str
    bucket: str
    key: str
    etag: str
    objects: int
    bytes: int

    def document(self) -> dict[str, Any]:
        return asdict(self)


def write_manifests(
    objects: Any, access: Access, source_bucket: str, folder: Place, lane: str, count: int, *, most: int = MOST_OBJECTS
) -> list[Manifest]:
    """Write the `count` rows of `objects` to new objects below `folder`; none for no rows.

    Beside each manifest, under the same name with the suffix .parquet, lie the keys with size and ETag.
    """
    if not count:
        return []
    from pyspark.sql import functions as sql

    rows = objects.select("key", "size", "etag", encoded(sql.col("key")).alias("encoded")).coalesce(-(-count // most))
    written = rows.mapInArrow(_writing(access, source_bucket, folder, most), _WRITTEN).collect()
    return sorted(
        (Manifest(lane, folder.bucket, row["key"], row["etag"], row["objects"], row["bytes"]) for row in written),
        key=lambda manifest: manifest.key,
    )


def _writing(access: Access, source_bucket: str, folder: Place, most: int) -> Callable[[Batches], Batches]:
    def write(batches: Batches) -> Batches:
        page = _Page(source_bucket, most)
        for batch in batches:
            for part in (batch.slice(first, most) for first in range(0, batch.num_rows, most)):
                if not page.takes(part.num_rows):
                    yield page.put(access, folder)
                    page = _Page(source_bucket, most)
                page.add(part)
        if page.objects:
            yield page.put(access, folder)

    return write


class _Page:
    """The manifest that is being filled."""

    def __init__(self, source_bucket: str, most: int) -> None:
        self._bucket = source_bucket
        self._most = most
        self._text = BytesIO()
        self._batches: list[Any] = []
        self.objects = 0
        self._bytes = 0

    def takes(self, rows: int) -> bool:
        return not self.objects or (self.objects + rows <= self._most and self._text.tell() < MOST_BYTES)

    def add(self, batch: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyarrow import csv

        table = pa.table({"bucket": pa.repeat(self._bucket, batch.num_rows), "key": batch.column("encoded")})
        # Neither bucket names nor encoded keys hold a comma, a quote or a line break.
        csv.write_csv(table, self._text, csv.WriteOptions(include_header=False, quoting_style="none"))
        self._batches.append(batch.select(["key", "size", "etag"]))
        self.objects += batch.num_rows
        self._bytes += pc.sum(batch.column("size")).as_py() or 0

    def put(self, access: Access, folder: Place) -> Any:
        import pyarrow as pa
        from pyarrow import parquet

        name = f"{folder.prefix}{uuid.uuid4().hex}"
        beside = BytesIO()
        parquet.write_table(pa.Table.from_batches(self._batches), beside)
        s3 = lake_at(access.region, access.endpoint_url).s3
        s3.put(folder.bucket, f"{name}{BESIDE}", beside.getvalue())
        etag = s3.put(folder.bucket, f"{name}{SUFFIX}", self._text.getvalue()).etag
        arrays = [pa.array([f"{name}{SUFFIX}"]), pa.array([etag]), pa.array([self.objects]), pa.array([self._bytes])]
        return pa.RecordBatch.from_arrays(arrays, names=["key", "etag", "objects", "bytes"])


def read_manifest(spark: Any, bucket: str, key: str) -> Any:
    """The rows of a manifest: `key`, decoded."""
    rows = spark.read.csv(f"s3a://{bucket}/{key}", schema="bucket string, key string", mode="FAILFAST")
    return rows.select(decoded(rows["key"]).alias("key"))


def read_planned(spark: Any, bucket: str, key: str) -> Any:
    """The rows of a manifest as they were planned: `key`, `size` and `etag`."""
    return spark.read.parquet(f"s3a://{bucket}/{key.removesuffix(SUFFIX)}{BESIDE}")
