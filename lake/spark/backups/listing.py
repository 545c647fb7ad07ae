"""Listings of S3 and heads of objects as DataFrames, asked for by the executors' Python."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow.compute as pc

from lake.aws.access import Access
from lake.aws.list_page import ObjectSummary
from lake.backup.objects import BucketPrefix
from lake.delta.state import EPOCH
from lake.spark.backups.places import THREADS, s3_of
from lake.spark.backups.tasks import Batches, BatchStep, batches_of, then

SCHEMA = "prefix string, key string, size bigint, etag string, modified_at timestamp"
"""A row is an object, or, with a null `key`, a prefix whose objects are still to be listed."""
OBJECTS = "key string, size bigint, etag string, modified_at timestamp"
"""A stored object, its size in bytes."""
SPLITS = 2
"""How many folder levels are opened before whole prefixes are listed by a task each."""


def listed(
    spark: Any, access: Access, place: BucketPrefix, *stages: BatchStep, parallel: int, schema: str = OBJECTS
) -> Any:
    """All objects of a place (OBJECTS), none where it is empty; or the rows of `schema` that `stages` make of them.

    The stages run in the processes that list.
    """
    rows = spark.createDataFrame([(place.prefix, None, None, None, None)], SCHEMA)
    for _ in range(SPLITS):
        rows = rows.mapInArrow(_expanding(access, place.bucket, "/"), SCHEMA).repartition(parallel * 4)
    return rows.mapInArrow(then(_expanding(access, place.bucket, ""), _only_objects, *stages), schema)


def _only_objects(batches: Batches) -> Batches:
    for batch in batches:
        yield batch.drop_columns(["prefix"])


def _expanding(access: Access, bucket: str, delimiter: str) -> BatchStep:
    """Replace each prefix by what lies below it: all objects, or up to the delimiter, with further prefixes."""

    def below(prefix: str) -> Iterator[tuple[Any, ...]]:
        for page in s3_of(access).list(bucket, prefix, delimiter=delimiter):
            yield from ((None, *_row(found)) for found in page.objects)
            yield from ((child, None, None, None, None) for child in page.prefixes)

    def expand(batches: Batches) -> Batches:
        for batch in batches:
            is_prefix = pc.is_null(batch["key"])
            yield batch.filter(pc.invert(is_prefix))
            prefixes = batch["prefix"].filter(is_prefix).to_pylist()
            yield from batches_of((row for prefix in prefixes for row in below(prefix)), SCHEMA)

    return expand


def heads(access: Access, bucket: str) -> BatchStep:
    """Ask for each `key` anew (OBJECTS); one that is gone has size 0, an empty etag and the oldest time."""

    def head(key: str) -> tuple[Any, ...]:
        found = s3_of(access).head(bucket, key)
        return (key, 0, "", EPOCH) if found is None else _row(found)

    def ask(batches: Batches) -> Batches:
        for batch in batches:
            with ThreadPoolExecutor(THREADS) as pool:
                yield from batches_of(pool.map(head, batch["key"].to_pylist()), OBJECTS)

    return ask


def _row(found: ObjectSummary) -> tuple[Any, ...]:
    return found.key, found.size, found.etag, found.modified_at
