"""Listings of S3 and heads of objects as DataFrames, asked for by the executors' Python."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa

from lake.aws.access import Access
from lake.aws.list_page import ObjectSummary
from lake.backup.objects import BucketPrefix
from lake.delta.state import EPOCH
from lake.spark.backups.places import THREADS, s3_of
from lake.spark.backups.tasks import Batches, BatchStep, then

SCHEMA = "bucket string, prefix string, key string, size bigint, etag string, modified_at timestamp"
"""A row is an object, or, with a null `key`, a prefix whose objects are still to be listed."""
OBJECTS = "key string, size bigint, etag string, modified_at timestamp"
"""A stored object, its size in bytes."""
OBJECT_COLUMNS = ("key", "size", "etag", "modified_at")
ROWS = 10_000
SPLITS = 2
"""How many folder levels are opened before whole prefixes are listed by a task each."""


def listed(
    spark: Any, access: Access, place: BucketPrefix, *stages: BatchStep, parallel: int, schema: str = OBJECTS
) -> Any:
    """All objects of a place (OBJECTS), none where it is empty; or the rows of `schema` that `stages` make of them.

    The stages run in the processes that list.
    """
    rows = spark.createDataFrame([(place.bucket, place.prefix, None, None, None, None)], SCHEMA)
    for _ in range(SPLITS):
        rows = rows.mapInArrow(_opening(access), SCHEMA).repartition(parallel * 4)
    return rows.mapInArrow(then(_listing(access), _only_objects, *stages), schema)


def _only_objects(batches: Batches) -> Batches:
    for batch in batches:
        yield batch.select(list(OBJECT_COLUMNS))


def _opening(access: Access) -> Callable[[Batches], Batches]:
    def expand(batches: Batches) -> Batches:
        return _answered(batches, access, _children)

    return expand


def _listing(access: Access) -> Callable[[Batches], Batches]:
    def expand(batches: Batches) -> Batches:
        return _answered(batches, access, _objects)

    return expand


def heads(access: Access, bucket: str) -> BatchStep:
    """Ask for each `key` anew (OBJECTS); one that is gone has size 0, an empty etag and the oldest time."""

    def ask(batches: Batches) -> Batches:
        for batch in batches:
            keys = batch.column("key").to_pylist()
            with ThreadPoolExecutor(THREADS) as pool:
                yield _batch(bucket, list(pool.map(lambda key: _head(access, bucket, key), keys)))

    return then(ask, _only_objects)


def _head(access: Access, bucket: str, key: str) -> tuple[Any, ...]:
    found = s3_of(access).head(bucket, key)
    return (None, key, 0, "", EPOCH) if found is None else _row(found)


def _answered(batches: Batches, access: Access, ask: Callable[[Access, str, str], Iterator[Any]]) -> Batches:
    """Replace each prefix by what `ask` finds; objects pass."""
    for batch in batches:
        rows = batch.to_pylist()
        done = [row for row in rows if row["key"] is not None]
        if done:
            yield from _batches_of((row["bucket"], tuple(row.values())[1:]) for row in done)
        prefixes = [row for row in rows if row["key"] is None]
        yield from _batches_of(
            (row["bucket"], found) for row in prefixes for found in ask(access, row["bucket"], row["prefix"])
        )


def _children(access: Access, bucket: str, prefix: str) -> Iterator[tuple[Any, ...]]:
    for page in s3_of(access).list(bucket, prefix, delimiter="/"):
        yield from map(_row, page.objects)
        yield from ((child, None, None, None, None) for child in page.prefixes)


def _objects(access: Access, bucket: str, prefix: str) -> Iterator[tuple[Any, ...]]:
    for page in s3_of(access).list(bucket, prefix):
        yield from map(_row, page.objects)


def _row(found: ObjectSummary) -> tuple[Any, ...]:
    return (None, found.key, found.size, found.etag, found.modified_at)


def _batches_of(rows: Iterator[tuple[str, tuple[Any, ...]]]) -> Batches:
    bucket, waiting = "", []
    for bucket, row in rows:
        waiting.append(row)
        if len(waiting) >= ROWS:
            yield _batch(bucket, waiting)
            waiting = []
    if waiting:
        yield _batch(bucket, waiting)


def _batch(bucket: str, rows: list[tuple[Any, ...]]) -> Any:
    prefixes, keys, sizes, etags, times = zip(*rows, strict=True) if rows else ((), (), (), (), ())
    arrays = [
        pa.array([bucket] * len(rows), pa.string()),
        pa.array(prefixes, pa.string()),
        pa.array(keys, pa.string()),
        pa.array(sizes, pa.int64()),
        pa.array(etags, pa.string()),
        pa.array(times, pa.timestamp("us", tz="UTC")),
    ]
    return pa.RecordBatch.from_arrays(arrays, names=["bucket", "prefix", "key", "size", "etag", "modified_at"])
