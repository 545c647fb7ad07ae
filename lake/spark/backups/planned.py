"""What a plan writes: its objects by lane as Parquet, and beside a file of many a manifest of the same objects.

The executors' Python writes whole objects of S3 itself, each under a name of its own; only those that a task that ended
well has told of count, so that a task that is tried again leaves nothing that could be counted twice.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet
from pyspark.sql import functions as sql

from lake.aws.access import Access
from lake.backup.objects import ARCHIVE_CLASSES, POINTS, BucketPrefix
from lake.spark.backups.manifests import (
    BESIDE,
    LANES,
    LEFT_OUT,
    MOST_BYTES,
    MOST_OBJECTS,
    ROW_GROUP,
    SUFFIX,
    PlannedFile,
    add_lines,
)
from lake.spark.backups.places import s3_of
from lake.spark.backups.tasks import Batches, BatchStep

ARCHIVE_TIERS = ("ARCHIVE", "DEEP_ARCHIVE", "ARCHIVE_ACCESS", "DEEP_ARCHIVE_ACCESS")
"""INTELLIGENT_TIERING's tiers that have to be restored first; ARCHIVE_INSTANT_ACCESS is read at once."""
HINT = r"(^|/)_delta_log/_last_checkpoint$"
"""A hint for readers that each checkpoint overwrites (Delta protocol, "Last Checkpoint File"). A copy that is newer
than the rest would point at what is not there, and without one readers list the log."""
LEAST_OBJECTS = 250_000
"""A file of fewer shares its manifest with others, as each manifest is a job of its own."""
PLANNED = (
    "key string, size bigint, etag string, modified_at timestamp, encryption_status string, table string, lane string"
)
"""An object with its innermost table, or null outside tables."""
WRITTEN = "lane string, file string, manifest_etag string, table string, objects bigint, bytes bigint"
"""How many objects of a table a file of planned objects holds, and the ETag of the manifest beside it, or ""."""


@dataclass(frozen=True, slots=True)
class Planning:
    """Where planned objects of the bucket `source` are written, at most `most` in a file."""

    access: Access
    source: str
    folder: BucketPrefix
    most: int = MOST_OBJECTS


def with_lanes(cut_off: datetime, limit: int) -> BatchStep:
    """Replace `storage_class` and `access_tier` by `lane`; archived goes before too_new, as it has to be restored.

    Hints at a table's last checkpoint are left out, and what would be copied over the restore points of the backup.
    """

    def add(batches: Batches) -> Batches:
        for rows in batches:
            lanes = _lanes(rows, cut_off, limit)
            yield rows.drop_columns(["storage_class", "access_tier"]).append_column("lane", lanes)

    return add


def _lanes(rows: Any, cut_off: datetime, limit: int) -> Any:
    is_archived = pc.or_(
        pc.is_in(rows["storage_class"], value_set=pa.array(ARCHIVE_CLASSES)),
        pc.is_in(rows["access_tier"], value_set=pa.array(ARCHIVE_TIERS)),
    )
    is_new = pc.greater(rows["modified_at"], pa.scalar(cut_off, pa.timestamp("us", tz="UTC")))
    is_hint = pc.and_(pc.match_substring_regex(rows["key"], HINT), pc.is_valid(rows["table"]))
    goes = pc.or_(is_hint, pc.starts_with(rows["key"], POINTS))
    lanes = (LEFT_OUT, "archived", "too_new", "multipart")
    cases = pa.StructArray.from_arrays([goes, is_archived, is_new, pc.greater(rows["size"], limit)], names=lanes)
    return pc.case_when(cases, *(pa.scalar(lane) for lane in (*lanes, "copy")))


def write_planned(planning: Planning) -> BatchStep:
    """The stage that writes rows of PLANNED, a file or more for each lane, and tells of them (WRITTEN)."""

    def write(batches: Batches) -> Batches:
        files: dict[str, _File] = {}
        for batch in batches:
            for lane in pc.unique(batch.column("lane")).to_pylist():
                rows = batch.filter(pc.equal(batch.column("lane"), lane))
                while rows.num_rows:
                    file = files.setdefault(lane, _File(planning, lane))
                    rows = file.take(rows)
                    if file.is_full:
                        yield files.pop(lane).put()
        for file in files.values():
            yield file.put()

    return write


def kept(rows: Any, folder: BucketPrefix) -> Any:
    """The rows of WRITTEN, worked out once and kept below `folder`."""
    rows.write.parquet(folder.uri)
    return rows.sparkSession.read.schema(WRITTEN).parquet(folder.uri)


def planned_files(written: Any) -> list[PlannedFile]:
    """The files that rows of WRITTEN tell of."""
    sums = [sql.sum(name).alias(name) for name in ("objects", "bytes")]
    rows = written.groupBy("lane", "file", "manifest_etag").agg(*sums).collect()
    files = (PlannedFile(row[0], row[1], row[2], int(row["objects"]), int(row["bytes"])) for row in rows)
    return sorted(files, key=lambda file: (file.lane, -file.objects, file.key))


class _File:
    """The Parquet file of a lane that is being filled, with the lines of its manifest where the lane has any."""

    def __init__(self, planning: Planning, lane: str) -> None:
        self._planning = planning
        self._lane = lane
        self._body, self._lines = BytesIO(), BytesIO()
        self._writer: Any = None
        self._waiting: list[Any] = []
        self._waits = 0
        self._tables: list[Any] = []
        self._objects = 0

    def take(self, rows: Any) -> Any:
        """Add as many rows as there is room for, and return the others."""
        taken = rows.slice(0, self._planning.most - self._objects)
        self._waiting.append(taken)
        self._waits += taken.num_rows
        self._objects += taken.num_rows
        if self._waits >= ROW_GROUP:
            self._flush()
        return rows.slice(taken.num_rows)

    @property
    def is_full(self) -> bool:
        return self._objects >= self._planning.most or self._body.tell() + self._lines.tell() >= MOST_BYTES

    def put(self) -> Any:
        """Write the file, and its manifest where it is worth one; say what of each table they hold."""
        self._flush()
        self._writer.close()
        folder, access = self._planning.folder, self._planning.access
        s3, name = s3_of(access), f"{folder.prefix}{self._lane}-{uuid.uuid4().hex}"
        # The rows go first: who reads them requires that they are no younger than the manifest.
        s3.put(folder.bucket, f"{name}{BESIDE}", self._body.getvalue())
        etag = s3.put(folder.bucket, f"{name}{SUFFIX}", self._lines.getvalue()).etag if self._has_manifest else ""
        held = pa.concat_tables(self._tables).group_by("table", use_threads=False)
        sums = held.aggregate([("objects", "sum"), ("bytes", "sum")])
        told = [pa.repeat(text, sums.num_rows) for text in (self._lane, f"{name}{BESIDE}", etag)]
        columns = [*told, *(sums.column(name).combine_chunks() for name in ("table", "objects_sum", "bytes_sum"))]
        return pa.RecordBatch.from_arrays(columns, names=["lane", "file", "manifest_etag", "table", "objects", "bytes"])

    @property
    def _has_manifest(self) -> bool:
        return self._lane in LANES and self._objects >= min(LEAST_OBJECTS, self._planning.most)

    def _flush(self) -> None:
        if not self._waiting:
            return
        rows = pa.Table.from_batches(self._waiting)
        if self._writer is None:
            # Keys and ETags hardly repeat: a dictionary of them would be made only to be given up.
            self._writer = parquet.ParquetWriter(
                self._body, rows.schema, use_dictionary=["table", "lane", "encryption_status"], compression="zstd"
            )
        self._writer.write_table(rows)
        if self._lane in LANES:
            add_lines(self._lines, self._planning.source, rows.column("key").combine_chunks())
        sums = rows.group_by("table", use_threads=False).aggregate([("key", "count"), ("size", "sum")])
        self._tables.append(
            sums.select(["table", "key_count", "size_sum"]).rename_columns(["table", "objects", "bytes"])
        )
        self._waiting, self._waits = [], 0
