"""Copies in the executors' Python: many requests in the air, what is already right left alone, a row for each."""

import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from lake.aws.access import Access
from lake.aws.copying import Copy, copy_in_parts, copy_object
from lake.aws.errors import ARCHIVED, AwsError
from lake.aws.list_page import ObjectSummary
from lake.aws.s3 import S3
from lake.backup.objects import BucketPrefix
from lake.spark.backups.encoding import percent_encoded
from lake.spark.backups.places import THREADS, s3_of
from lake.spark.backups.stored import parquet_batches
from lake.spark.backups.tasks import Batches, Share

SAMPLE = 20_000
"""About how many keys are looked at to find where ranges end."""
CHUNK = 2_000
MOST_PAGES = 5
ALREADY = "AlreadyThere"

COUNTED = "done bigint, failed bigint"
"""How many objects of a range are at the destination, copied or there before, and how many are not."""
_STATUS = {
    "NoSuchKey": "404",
    "NoSuchBucket": "404",
    "PreconditionFailed": "412",
    **dict.fromkeys(ARCHIVED, "403"),
    "SlowDown": "503",
    "InvalidRequest": "400",
}
Row = tuple[str, str, str, str]
"""task_status, http_status, code and message."""


@dataclass(frozen=True, slots=True)
class Orders:
    """How to copy: from where to where, and as what.

    `planned` is the file that has key, size and ETag of each object; reports go below `results`.
    """

    access: Access
    planned: Share
    source: str
    destination: BucketPrefix
    results: BucketPrefix
    storage_class: str = ""
    encryption_key: str = ""
    in_parts: bool = False
    part_bytes: int = 512 * 1024**2


@dataclass(frozen=True, slots=True)
class KeyRange:
    """Keys from `first` on, up to but without `end`, or all of them; in the order of their UTF-8, which is S3's."""

    first: str = ""
    end: str | None = None


def key_ranges(batches: Iterable[Any], rows: int, most: int) -> list[KeyRange]:
    """At most `most` ranges of about as many keys each, which together hold every key; `rows` is about their number."""
    # By chance, as keys that are so many rows apart may be alike; the same chance each time.
    chance, one_of = Random(0), max(1, rows // SAMPLE)  # noqa: S311
    sample: list[str] = []
    for batch in batches:
        places = chance.sample(range(batch.num_rows), -(-batch.num_rows // one_of))
        sample += batch.column("key").take(pa.array(places, pa.int64())).to_pylist()
    sample.sort()
    ends = sorted({sample[len(sample) * number // most] for number in range(1, most)} - {sample[0]}) if sample else []
    return [KeyRange(first, end) for first, end in zip(["", *ends], [*ends, None], strict=True)]


def rows_within(batches: Iterable[Any], keys: KeyRange) -> Any:
    """A table of the rows whose key is within the range, sorted by key; None where there is no row at all."""
    held = []
    for batch in batches:
        is_within = pc.greater_equal(batch.column("key"), keys.first)
        if keys.end is not None:
            is_within = pc.and_(is_within, pc.less(batch.column("key"), keys.end))
        held.append(batch.filter(is_within))
    return pa.Table.from_batches(held).sort_by("key") if held else None


def copying(orders: Orders) -> Callable[[KeyRange], Batches]:
    """Copy the planned objects of a range, write a report of each of them, and count them (COUNTED)."""

    def copy(keys: KeyRange) -> Batches:
        s3 = s3_of(orders.access)
        planned = rows_within(parquet_batches(orders.access, orders.planned, ["key", "size", "etag"]), keys)
        if planned is not None and planned.num_rows:
            told = list(_copied(s3, orders, planned))
            _put_report(s3, orders, planned.column("key").combine_chunks(), told)
            yield _counts(told)

    return copy


def _copied(s3: S3, orders: Orders, planned: Any) -> Iterator[Row]:
    """What became of each row, in their order."""
    with ThreadPoolExecutor(THREADS) as pool:
        for first in range(0, planned.num_rows, CHUNK):
            rows = planned.slice(first, CHUNK).to_pylist()
            there = right_ones(s3, orders.destination, rows)
            yield from pool.map(_one, [(orders, s3, row, row["key"] in there) for row in rows])


def right_ones(s3: S3, destination: BucketPrefix, rows: list[dict[str, Any]]) -> set[str]:
    """The keys, of rows sorted by key, that the destination has with size and ETag.

    One listing from the first key on tells of a thousand. Where the destination holds much in between, each object
    behind is copied anew, which is as right and costs one request as well.
    """
    wanted = {row["key"]: (row["size"], row["etag"]) for row in rows if row["etag"]}
    last = destination.prefix + rows[-1]["key"]
    # The key's beginning comes before it and, nearly always, after all keys that do.
    start = (destination.prefix + rows[0]["key"])[:-1]
    there: set[str] = set()
    try:
        pages = s3.list(destination.bucket, destination.prefix, start_after=start)
        for _, page in zip(range(MOST_PAGES), pages, strict=False):
            there.update(_matching(page.objects, destination.prefix, wanted))
            if not page.objects or page.objects[-1].key.encode() >= last.encode():
                break
    except AwsError:
        # Whatever keeps the listing from being read is told of by the copies themselves.
        return there
    return there


def _matching(objects: tuple[ObjectSummary, ...], prefix: str, wanted: dict[str, tuple[int, str]]) -> Iterator[str]:
    for found in objects:
        key = found.key[len(prefix) :]
        if wanted.get(key) == (found.size, found.etag):
            yield key


def _one(work: tuple[Orders, S3, dict[str, Any], bool]) -> Row:
    orders, s3, row, is_there = work
    if is_there:
        return "succeeded", "200", "", ALREADY
    copy = Copy(
        orders.source,
        row["key"],
        orders.destination.bucket,
        orders.destination.prefix + row["key"],
        int(row["size"]),
        row["etag"] or "",
        orders.storage_class,
        orders.encryption_key,
    )
    try:
        etag = copy_in_parts(s3, copy, part_bytes=orders.part_bytes) if orders.in_parts else copy_object(s3, copy)
    except AwsError as error:
        status = "403" if error.is_access_denied else _STATUS.get(error.code, "500")
        return "failed", status, error.code, " ".join(error.message.split())
    return "succeeded", "200", "", f"ETag={etag}"


def _put_report(s3: S3, orders: Orders, keys: Any, told: list[Row]) -> None:
    """Write a result file of the report: bucket, key, version, and what is told, each in quotation marks."""
    count = len(told)
    columns = [pa.repeat(orders.source, count), percent_encoded(keys), pa.repeat("", count)]
    columns += [pa.array(column, pa.string()) for column in zip(*told, strict=True)]
    text, names = BytesIO(), [str(number) for number in range(len(columns))]
    csv.write_csv(
        pa.table(columns, names=names), text, csv.WriteOptions(include_header=False, quoting_style="all_valid")
    )
    # A task that is tried again reports anew beside the first report: of a key that has two rows, success counts.
    s3.put(orders.results.bucket, f"{orders.results.prefix}{uuid.uuid4().hex}.csv", text.getvalue())


def _counts(told: list[Row]) -> Any:
    done = sum(status == "succeeded" for status, *_ in told)
    return pa.RecordBatch.from_arrays([pa.array([done]), pa.array([len(told) - done])], names=["done", "failed"])
