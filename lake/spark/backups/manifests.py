"""What a plan writes: its objects by lane as Parquet, and manifests in the CSV form of S3 Batch Operations.

The executors' Python writes whole objects of S3 itself, each under a name of its own; only those that a task that ended
well has told of count, so that a task that is tried again leaves nothing that could be counted twice.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from io import BytesIO
from typing import Any

from lake.aws.access import Access
from lake.spark.backups.keys import decoded, percent_encoded
from lake.spark.backups.places import Place, lake_at

MOST_OBJECTS = 1_000_000
MOST_BYTES = 256 * 1024**2
"""What a manifest may hold: it is in memory until it is written, as its ETag has to be known."""
ROW_GROUP = 100_000
SUFFIX, BESIDE = ".csv", ".parquet"

WRITTEN = "lane string, file string, table string, objects bigint, bytes bigint"
"""A row says how many objects of a table a file of planned objects holds."""
_MANIFEST = "key string, etag string, objects bigint, bytes bigint"
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


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A Parquet file of planned objects of one lane, at most as many as a manifest may hold."""

    lane: str
    key: str
    objects: int
    bytes: int


def write_planned(laned: Any, access: Access, folder: Place, told: Place, *, most: int = MOST_OBJECTS) -> Any:
    """Write all rows of `laned` below `folder`, a file or more for each `lane`; rows of WRITTEN, kept below `told`."""
    laned.mapInArrow(_planning(access, folder, most), WRITTEN).write.parquet(told.uri())
    return laned.sparkSession.read.schema(WRITTEN).parquet(told.uri())


def planned_files(written: Any) -> list[PlannedFile]:
    """The files that rows of `write_planned` tell of."""
    from pyspark.sql import functions as sql

    sums = [sql.sum(name).alias(name) for name in ("objects", "bytes")]
    rows = written.groupBy("lane", "file").agg(*sums).collect()
    files = (PlannedFile(row["lane"], row["file"], int(row["objects"]), int(row["bytes"])) for row in rows)
    return sorted(files, key=lambda file: (file.lane, -file.objects, file.key))


def write_manifests(
    spark: Any, access: Access, bucket: str, files: Iterable[PlannedFile], folder: Place, *, most: int = MOST_OBJECTS
) -> list[Manifest]:
    """Write manifests of the objects of `bucket` that `files` of one lane name; as few as whole files allow.

    Beside each manifest, under the same name with the suffix .parquet, lie the keys with size and ETag.
    """
    bins = _bins(files, most)
    if not bins:
        return []
    lane = bins[0][0].lane
    rows = [([file.key for file in held], sum(file.bytes for file in held)) for held in bins]
    work = spark.createDataFrame(rows, "files array<string>, bytes bigint").repartition(len(rows))
    written = work.mapInArrow(_listing(access, bucket, folder), _MANIFEST).collect()
    return sorted((Manifest(lane, folder.bucket, *row) for row in written), key=lambda manifest: manifest.key)


def write_manifest_of(rows: Any, access: Access, bucket: str, folder: Place, lane: str) -> Manifest | None:
    """Write the one manifest of all `rows`, which have `key` and `size`; None for no rows."""

    def write(batches: Batches) -> Batches:
        text, objects, size = BytesIO(), 0, 0
        for batch in batches:
            _add_lines(text, bucket, batch.column("key"))
            objects, size = objects + batch.num_rows, size + _sum(batch.column("size"))
        if objects:
            yield _put_manifest(access, folder, text, objects, size)

    written = rows.select("key", "size").coalesce(1).mapInArrow(write, _MANIFEST).collect()
    return Manifest(lane, folder.bucket, *written[0]) if written else None


def _bins(files: Iterable[PlannedFile], most: int) -> list[list[PlannedFile]]:
    """Whole files together, the largest first, each where there is still room."""
    bins: list[list[PlannedFile]] = []
    room: list[int] = []
    for file in files:
        found = next((number for number, left in enumerate(room) if left >= file.objects), None)
        if found is None:
            bins.append([file])
            room.append(most - file.objects)
        else:
            bins[found].append(file)
            room[found] -= file.objects
    return bins


def _planning(access: Access, folder: Place, most: int) -> Callable[[Batches], Batches]:
    def write(batches: Batches) -> Batches:
        import pyarrow.compute as pc

        files: dict[str, _File] = {}
        for batch in batches:
            for lane in pc.unique(batch.column("lane")).to_pylist():
                rows = batch.filter(pc.equal(batch.column("lane"), lane))
                while rows.num_rows:
                    file = files.setdefault(lane, _File(lane, folder))
                    rows = file.take(rows, most)
                    if file.is_full(most):
                        yield files.pop(lane).put(access)
        for file in files.values():
            yield file.put(access)

    return write


class _File:
    """The Parquet file of a lane that is being filled."""

    def __init__(self, lane: str, folder: Place) -> None:
        self._lane = lane
        self._folder = folder
        self._body = BytesIO()
        self._writer: Any = None
        self._waiting: list[Any] = []
        self._waits = 0
        self._tables: list[Any] = []
        self._objects = 0

    def take(self, rows: Any, most: int) -> Any:
        """Add as many rows as there is room for, and return the others."""
        taken = rows.slice(0, most - self._objects)
        self._waiting.append(taken)
        self._waits += taken.num_rows
        self._objects += taken.num_rows
        if self._waits >= ROW_GROUP:
            self._flush()
        return rows.slice(taken.num_rows)

    def is_full(self, most: int) -> bool:
        return self._objects >= most or self._body.tell() >= MOST_BYTES

    def put(self, access: Access) -> Any:
        """Write the file, and say what of each table it holds."""
        import pyarrow as pa

        self._flush()
        self._writer.close()
        key = f"{self._folder.prefix}{self._lane}-{uuid.uuid4().hex}.parquet"
        lake_at(access.region, access.endpoint_url).s3.put(self._folder.bucket, key, self._body.getvalue())
        held = pa.concat_tables(self._tables).group_by("table").aggregate([("objects", "sum"), ("bytes", "sum")])
        names = [pa.repeat(text, held.num_rows) for text in (self._lane, key)]
        columns = [*names, *(held.column(name).combine_chunks() for name in ("table", "objects_sum", "bytes_sum"))]
        return pa.RecordBatch.from_arrays(columns, names=["lane", "file", "table", "objects", "bytes"])

    def _flush(self) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        if not self._waiting:
            return
        rows = pa.Table.from_batches(self._waiting)
        if self._writer is None:
            # Keys and ETags hardly repeat: a dictionary of them would be made only to be given up.
            self._writer = parquet.ParquetWriter(
                self._body, rows.schema, use_dictionary=["table", "lane", "encryption_status"], compression="snappy"
            )
        self._writer.write_table(rows)
        sums = rows.group_by("table").aggregate([("key", "count"), ("size", "sum")])
        self._tables.append(
            sums.select(["table", "key_count", "size_sum"]).rename_columns(["table", "objects", "bytes"])
        )
        self._waiting, self._waits = [], 0


def _listing(access: Access, bucket: str, folder: Place) -> Callable[[Batches], Batches]:
    """Turn rows of files into a manifest each, which is read from what S3 holds of them."""

    def write(batches: Batches) -> Batches:
        from pyarrow import parquet

        s3 = lake_at(access.region, access.endpoint_url).s3
        for row in (row for batch in batches for row in batch.to_pylist()):
            text, beside, objects = BytesIO(), BytesIO(), 0
            with parquet.ParquetWriter(beside, _beside_schema(), use_dictionary=False, compression="snappy") as rows:
                for file in row["files"]:
                    stored = parquet.ParquetFile(BytesIO(s3.get(folder.bucket, file).data))
                    for part in stored.iter_batches(ROW_GROUP, columns=rows.schema.names):
                        _add_lines(text, bucket, part.column("key"))
                        rows.write_batch(part.cast(rows.schema))
                        objects += part.num_rows
            yield _put_manifest(access, folder, text, objects, row["bytes"], beside)

    return write


def _beside_schema() -> Any:
    import pyarrow as pa

    return pa.schema([("key", pa.string()), ("size", pa.int64()), ("etag", pa.string())])


def _add_lines(text: BytesIO, bucket: str, keys: Any) -> None:
    """Add a line for each key; neither bucket names nor encoded keys hold a comma, a quote or a line break."""
    import pyarrow as pa
    from pyarrow import csv

    table = pa.table({"bucket": pa.repeat(bucket, len(keys)), "key": percent_encoded(keys)})
    csv.write_csv(table, text, csv.WriteOptions(include_header=False, quoting_style="none", batch_size=ROW_GROUP))


def _put_manifest(
    access: Access, folder: Place, text: BytesIO, objects: int, size: int, beside: BytesIO | None = None
) -> Any:
    import pyarrow as pa

    name = f"{folder.prefix}{uuid.uuid4().hex}"
    s3 = lake_at(access.region, access.endpoint_url).s3
    # The rows go first: who reads them requires that they are no younger than the manifest.
    if beside is not None:
        s3.put(folder.bucket, f"{name}{BESIDE}", beside.getvalue())
    etag = s3.put(folder.bucket, f"{name}{SUFFIX}", text.getvalue()).etag
    arrays = [pa.array([value]) for value in (f"{name}{SUFFIX}", etag, objects, size)]
    return pa.RecordBatch.from_arrays(arrays, names=["key", "etag", "objects", "bytes"])


def _sum(column: Any) -> int:
    import pyarrow.compute as pc

    return pc.sum(column).as_py() or 0


def read_manifest(spark: Any, bucket: str, key: str) -> Any:
    """The rows of a manifest: `key`, decoded."""
    rows = spark.read.csv(f"s3a://{bucket}/{key}", schema="bucket string, key string", mode="FAILFAST")
    return rows.select(decoded(rows["key"]).alias("key"))


def read_planned(spark: Any, bucket: str, key: str) -> Any:
    """The rows of a manifest as they were planned: `key`, `size` and `etag`."""
    return spark.read.parquet(f"s3a://{bucket}/{key.removesuffix(SUFFIX)}{BESIDE}")
