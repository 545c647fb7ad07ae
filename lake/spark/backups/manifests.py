"""Manifests in the CSV form of S3 Batch Operations, each with the Parquet file of the same objects beside it."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any

import pyarrow as pa
from pyarrow import csv, parquet

from lake.aws.access import Access
from lake.backup.batch_manifest import Manifest
from lake.backup.objects import BucketPrefix
from lake.spark.backups.encoding import percent_encoded
from lake.spark.backups.places import s3_of
from lake.spark.backups.tasks import Batches, Share, run_tasks

LEFT_OUT = "left_out"
LANES = ("copy", "multipart")
"""The lanes that have manifests; others are archived, too_new and already_there."""
MOST_OBJECTS = 1_000_000
MOST_BYTES = 256 * 1024**2
"""What a manifest may hold: it is in memory until it is written, as its ETag has to be known."""
ROW_GROUP = 100_000
SUFFIX, BESIDE = ".csv", ".parquet"

_MANIFEST = "lane string, key string, etag string, objects bigint, bytes bigint"


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A Parquet file of planned objects of one lane, at most as many as a manifest may hold.

    `manifest_etag` is that of the manifest beside it, or "" where it is to share one with others.
    """

    lane: str
    key: str
    manifest_etag: str
    objects: int
    bytes: int


def write_manifests(
    spark: Any,
    access: Access,
    bucket: str,
    files: Sequence[PlannedFile],
    folder: BucketPrefix,
    *,
    most: int = MOST_OBJECTS,
) -> list[Manifest]:
    """The manifests of the objects of `bucket` that `files` in the bucket of `folder` name, by lane and key.

    What has none yet is written, as few as whole files of one lane allow. Beside each manifest, under the same name
    with the suffix .parquet, lie the keys with size and ETag.
    """
    own = [
        Manifest(file.lane, folder.bucket, _sibling(file.key), file.manifest_etag, file.objects, file.bytes)
        for file in files
        if file.manifest_etag
    ]
    others = [file for file in files if not file.manifest_etag]
    bins = [held for lane in LANES for held in _bins((file for file in others if file.lane == lane), most)]
    if bins:
        work = run_tasks(spark, bins, partial(_write_manifest, access, bucket, folder), _MANIFEST)
        own += [Manifest(row["lane"], folder.bucket, *row[1:]) for row in work.collect()]
    return sorted(own, key=lambda manifest: (manifest.lane, manifest.key))


def _sibling(key: str) -> str:
    return f"{key.removesuffix(BESIDE)}{SUFFIX}"


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


def _write_manifest(access: Access, bucket: str, folder: BucketPrefix, files: Sequence[PlannedFile]) -> Batches:
    """Write one manifest of what S3 holds of some planned files of one lane."""
    s3 = s3_of(access)
    text, beside = BytesIO(), BytesIO()
    schema = pa.schema([("key", pa.string()), ("size", pa.int64()), ("etag", pa.string())])
    with parquet.ParquetWriter(beside, schema, use_dictionary=False, compression="zstd") as rows:
        for file in files:
            stored = parquet.ParquetFile(BytesIO(s3.get(folder.bucket, file.key).data))
            for part in stored.iter_batches(ROW_GROUP, columns=rows.schema.names, use_threads=False):
                add_lines(text, bucket, part.column("key"))
                rows.write_batch(part.cast(rows.schema))
    lane, name = files[0].lane, f"{folder.prefix}{files[0].lane}-{uuid.uuid4().hex}"
    # The rows go first: who reads them requires that they are no younger than the manifest.
    s3.put(folder.bucket, f"{name}{BESIDE}", beside.getvalue())
    etag = s3.put(folder.bucket, f"{name}{SUFFIX}", text.getvalue()).etag
    objects, size = sum(file.objects for file in files), sum(file.bytes for file in files)
    arrays = [pa.array([value]) for value in (lane, f"{name}{SUFFIX}", etag, objects, size)]
    yield pa.RecordBatch.from_arrays(arrays, names=["lane", "key", "etag", "objects", "bytes"])


def add_lines(text: BytesIO, bucket: str, keys: Any) -> None:
    """Add a line for each key; neither bucket names nor encoded keys hold a comma, a quote or a line break."""
    table = pa.table({"bucket": pa.repeat(bucket, len(keys)), "key": percent_encoded(keys)})
    csv.write_csv(table, text, csv.WriteOptions(include_header=False, quoting_style="none", batch_size=ROW_GROUP))


def planned_beside(bucket: str, key: str) -> Share:
    """The file of a manifest's objects as they were planned: `key`, `size` and `etag`."""
    return Share(bucket, f"{key.removesuffix(SUFFIX)}{BESIDE}", 0)
