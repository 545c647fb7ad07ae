"""Outcomes of all planned objects, from file to file: tasks read, the parts are put together, and each is written.

What Spark carries is the rows of planned objects, reports, destination and earlier proofs in pieces of thousands (see
lake.spark.backups.exchange), and at the end a few rows that count.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from itertools import groupby
from operator import attrgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet
from pyspark.sql import functions as sql

from lake.aws.access import Access
from lake.aws.errors import AwsError
from lake.backup.objects import BucketPrefix
from lake.spark.backups.exchange import BLOBS, conformed, divided, together
from lake.spark.backups.outcomes import SAFE, side_by_side, with_outcomes
from lake.spark.backups.places import THREADS, s3_of
from lake.spark.backups.reports import REPORTED, report_batches, reported_schema
from lake.spark.backups.stored import parquet_batches, whole
from lake.spark.backups.tasks import Batches, BatchStep, Share, balanced, keep_modules, run_tasks, shares_of
from lake.spark.backups.tuning import ROWS_PER_PARTITION
from lake.spark.errors import SparkRefused

PLANNED, THERE, PROVED = "planned", "there", "proved"
KEPT = ("key", "size", "etag", "modified_at", "table", "lane", "outcome", "code")
EXAMPLES = 5
MOST_PARTS = 4_096
"""With more, the pieces that are exchanged would be so small that they cost by the piece, not by the row."""
_SAFE_CAUSES = frozenset((outcome, "") for outcome in SAFE)
COUNTED = "outcome string, code string, table string, objects bigint, bytes bigint, examples array<string>"
"""How many objects of a table, and bytes, have an outcome and code in one part, with up to EXAMPLES keys."""


@dataclass(frozen=True, slots=True)
class Settling:
    """One reconciliation: `parts` it is divided into, and the place, empty at first, that its outcomes go to."""

    access: Access
    source_bucket: str
    kept: BucketPrefix
    began: datetime
    encryption_key: str
    parts: int
    copied_until: datetime | None = None
    reports_whole: bool = True


def schemas() -> dict[str, Any]:
    """The columns of each kind."""
    text, moment = pa.string(), pa.timestamp("us", tz="UTC")
    stored = [("key", text), ("size", pa.int64()), ("etag", text)]
    dated = [*stored, ("modified_at", moment)]
    return {
        PLANNED: pa.schema([*dated, ("encryption_status", text), ("table", text), ("lane", text)]),
        REPORTED: reported_schema(),
        THERE: pa.schema(dated),
        PROVED: pa.schema([*stored, ("destination_etag", text)]),
    }


def parts_for(objects: int, slots: int) -> int:
    """How many parts: of about ROWS_PER_PARTITION objects, as far as MOST_PARTS allows, and whole rounds of slots."""
    wanted = min(MOST_PARTS, objects / ROWS_PER_PARTITION)
    return max(1, round(wanted / slots)) * slots


def sizes_of(access: Access, bucket: str, keys: Sequence[str]) -> list[int]:
    """The bytes of each of these objects. SparkRefused where one is not there."""
    s3 = s3_of(access)

    def size(key: str) -> int:
        with whole(bucket, key):
            return s3.get(bucket, key, first=-1).size

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(size, keys))


def reads_of(access: Access, kind: str, bucket: str, keys: Sequence[str]) -> list[Share]:
    """What is to be read of Parquet files that hold rows of that kind."""
    sized = zip(keys, sizes_of(access, bucket, keys), strict=True)
    return [share for key, size in sized for share in shares_of(bucket, key, size, kind=kind)]


def keys_below(access: Access, place: BucketPrefix) -> list[str]:
    """The keys of the Parquet files below a place. SparkRefused where there is none."""
    pages = s3_of(access).list(place.bucket, place.prefix)
    keys = [found.key for page in pages for found in page.objects if found.key.endswith(".parquet")]
    if not keys:
        raise SparkRefused(f"s3://{place.bucket}/{place.prefix} is not there: restore it, or start anew without it.")
    return keys


def reading(settling: Settling) -> Callable[[Sequence[Share]], Batches]:
    """Read what is to be read, as rows of BLOBS; those of one kind in common pieces."""

    def read(works: Sequence[Share]) -> Batches:
        for kind, same in groupby(sorted(works, key=attrgetter("kind")), key=attrgetter("kind")):
            yield from divided(kind, (rows for work in same for rows in _rows(settling, work)), settling.parts)

    return read


def listing(settling: Settling, destination: BucketPrefix) -> BatchStep:
    """From objects of the destination, as a listing gives them, to rows of BLOBS by the keys of the source."""

    def divide(batches: Batches) -> Batches:
        return divided(THERE, _by_source_keys(batches, destination), settling.parts)

    return divide


def _by_source_keys(batches: Batches, destination: BucketPrefix) -> Batches:
    schema = schemas()[THERE]
    for batch in batches:
        keys = pc.utf8_slice_codeunits(batch.column("key"), len(destination.prefix))
        yield conformed(batch.set_column(batch.schema.get_field_index("key"), "key", keys), schema)


def _rows(settling: Settling, work: Share) -> Batches:
    if work.kind == REPORTED:
        yield from report_batches(settling.access, work, settling.source_bucket)
        return
    schema = schemas()[work.kind]
    names = [*schema.names, "outcome"] if work.kind == PROVED else schema.names
    for batch in parquet_batches(settling.access, work, names):
        yield conformed(_proofs(batch) if work.kind == PROVED else batch, schema)


def _proofs(batch: Any) -> Any:
    """Safe objects whose ETag is another at the destination: that of the others proves itself."""
    is_safe = pc.is_in(batch.column("outcome"), value_set=pa.array(SAFE))
    is_other = pc.fill_null(pc.not_equal(batch.column("etag"), batch.column("destination_etag")), False)
    return batch.filter(pc.and_(is_safe, is_other))


def settle(spark: Any, settling: Settling, reads: Sequence[Share], others: Any | None = None) -> Any:
    """Write one outcome for each planned object, and count them: a row for each outcome and code. Best with EXCHANGE.

    `reads` are files, and `others`, if given, rows of BLOBS besides. Outcomes are a Parquet file for each part below
    `kept`: KEPT and `destination_etag`. The rows returned have `objects`, `bytes`, about how many `tables`, and up to
    EXAMPLES keys as `examples` of what is not safe.
    """
    tasks = balanced(reads, settling.parts)
    found = run_tasks(spark, tasks, reading(settling), BLOBS)
    if others is not None:
        found = found.union(others)
    counted = found.repartitionById(settling.parts, sql.col("part")).mapInArrow(settled_parts(settling), COUNTED)
    # Of the parts that have most examples there are enough, and of no more than these are they held.
    most = sql.max_by("examples", sql.size("examples"), EXAMPLES)
    return counted.groupBy("outcome", "code").agg(
        sql.sum("objects").alias("objects"),
        sql.sum("bytes").alias("bytes"),
        sql.approx_count_distinct("table").alias("tables"),
        sql.slice(sql.flatten(most), 1, EXAMPLES).alias("examples"),
    )


def settled_parts(settling: Settling) -> BatchStep:
    """From the rows of BLOBS of one part to rows of COUNTED, once its outcomes are written; nothing of no objects."""

    def settle_part(batches: Batches) -> Batches:
        held = list(batches)
        if held:
            number = held[0].column("part")[0].as_py()
            outcomes = settled(together(held, schemas()), settling)
            if outcomes.num_rows:
                yield counts_of(put_once(settling.access, settling.kept, number, outcomes))
        keep_modules()

    return settle_part


def settled(rows: Mapping[str, Any], settling: Settling) -> Any:
    """KEPT and `destination_etag` of each planned row, of what all kinds hold of one part.

    `destination_etag` is null where it is the same as `etag`, as it nearly always is: the files are a third smaller.
    """
    beside = side_by_side(rows[PLANNED], rows[REPORTED], rows[THERE], rows[PROVED])
    told = with_outcomes(
        beside,
        began=settling.began,
        encryption_key=settling.encryption_key,
        copied_until=settling.copied_until,
        reports_whole=settling.reports_whole,
    )
    is_same = pc.fill_null(pc.equal(told["d_etag"], told["etag"]), False)
    other = pc.if_else(is_same, pa.scalar(None, pa.string()), told["d_etag"])
    return told.select(list(KEPT)).append_column("destination_etag", other)


def put_once(access: Access, kept: BucketPrefix, part: int, outcomes: Any) -> Any:
    """Write the outcomes of a part, and return what its file holds.

    A part that is done again, as its first answer was lost, is written already: what is there counts, and nothing
    counts twice.
    """
    body, key = BytesIO(), f"{kept.prefix}part-{part:05}.parquet"
    table = pa.Table.from_batches([outcomes])
    # Keys and ETags hardly repeat: a dictionary of them would be made only to be given up. Nothing but keys becomes
    # smaller by what it costs to compress it.
    compression = {name: "zstd" if name == "key" else "none" for name in table.column_names}
    parquet.write_table(
        table,
        body,
        use_dictionary=["table", "lane", "outcome", "code"],
        compression=compression,
        write_statistics=False,
    )
    try:
        s3_of(access).put(kept.bucket, key, body.getvalue())
    except AwsError as error:
        if not error.is_condition_failed:
            raise
        written = parquet_batches(access, Share(kept.bucket, key, 0))
        return pa.concat_batches(list(written))
    return outcomes


def write_none(settling: Settling) -> None:
    """Write the outcomes of no object at all."""
    nothing = together([], schemas())
    put_once(settling.access, settling.kept, 0, settled(nothing, settling))


def counts_of(outcomes: Any) -> Any:
    """A record batch of COUNTED; the examples of an outcome and code are at one of its tables."""
    table = pa.Table.from_batches([outcomes.select(["outcome", "code", "table", "size"])])
    by = ["outcome", "code", "table"]
    sums = table.group_by(by, use_threads=False).aggregate([([], "count_all"), ("size", "sum")])
    examples: list[list[str]] = []
    told: set[tuple[str, str]] = set(_SAFE_CAUSES)
    for cause in zip(sums["outcome"].to_pylist(), sums["code"].to_pylist(), strict=True):
        examples.append([] if cause in told else _examples(outcomes, *cause))
        told.add(cause)
    columns = [*(sums[name].combine_chunks() for name in (*by, "count_all", "size_sum"))]
    columns.append(pa.array(examples, pa.list_(pa.string())))
    return pa.RecordBatch.from_arrays(columns, names=[*by, "objects", "bytes", "examples"])


def _examples(outcomes: Any, outcome: str, code: str) -> list[str]:
    is_one = pc.and_(pc.equal(outcomes["outcome"], outcome), pc.equal(outcomes["code"], code))
    return [str(key) for key in outcomes["key"].filter(is_one)[:EXAMPLES].to_pylist()]
