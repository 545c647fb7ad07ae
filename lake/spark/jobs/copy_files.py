"""Copy objects to where each is to lie, on the executors: S3 copies them, each by the ETag that it was read with."""

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from lake.aws.access import Access
from lake.aws.copying import Copy, copied
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.spark.backups.places import THREADS, access_of, s3_of, slots
from lake.spark.backups.tasks import Batches, batches_of, run_tasks
from lake.spark.jobs.report import Report

KIND = "copy_files"
COPIED = "number bigint, etag string, error string"
Row = tuple[int, str | None, str | None]
"""A copy by its number with its new ETag, or what failed, as JSON."""


def run(spark: Any, params: Mapping[str, Any], report: Report) -> dict[str, object]:
    """Make each of `copies`, the fields of a `Copy`; `bucket_owners` are the accounts that have to own the buckets.

    Returns the `etags` of the new objects in the order of `copies`, or as `failed` the number of a copy that could not
    be made, with the fields of its AwsError; of the others some may have been made then.
    """
    access = replace(access_of(spark), bucket_owners=dict(params["bucket_owners"]))
    copies = [(number, Copy(*fields)) for number, fields in enumerate(params["copies"])]
    tasks = slots(spark)
    report.step("Copy")
    shares = [share for first in range(tasks) if (share := copies[first::tasks])]
    rows = run_tasks(spark, shares, _copying(access), COPIED).collect()
    for row in rows:
        if row["error"]:
            return {"etags": [], "failed": [row["number"], json.loads(row["error"])]}
    return {"etags": [row["etag"] for row in sorted(rows)], "failed": None}


def _copying(access: Access) -> Callable[[list[tuple[int, Copy]]], Batches]:
    """Make the copies of a share, up to one that fails (COPIED)."""
    return lambda share: batches_of(_rows(s3_of(access), share), COPIED)


def _rows(s3: S3, share: list[tuple[int, Copy]]) -> Iterator[Row]:
    pool = ThreadPoolExecutor(THREADS)
    try:
        for number, future in [(number, pool.submit(copied, s3, copy)) for number, copy in share]:
            yield number, future.result(), None
    except AwsError as error:
        yield number, None, json.dumps(error.args)
    finally:
        pool.shutdown(cancel_futures=True)
