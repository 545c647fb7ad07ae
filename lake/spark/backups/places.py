"""Places of a job's parameters, and how Python on driver and executors reaches the S3 of this session."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from lake.aws.access import Access, open_lake
from lake.aws.s3 import S3
from lake.aws.wire import RetryPolicy
from lake.backup.objects import BucketPrefix

THREADS = 64
"""Requests that one Python worker has in the air at once."""
RETRY_POLICY = RetryPolicy(read=300.0)
"""A copy of several GiB answers only when it is done."""

_S3A = "spark.hadoop.fs.s3a.endpoint"


def place(params: Mapping[str, Any], name: str) -> BucketPrefix:
    """A parameter {"bucket", "prefix"}."""
    return BucketPrefix(params[name]["bucket"], params[name]["prefix"])


def access_of(spark: Any) -> Access:
    """How the session itself reaches S3; the credentials are those of the environment, as for S3A."""
    region = str(spark.conf.get(f"{_S3A}.region", "us-east-1"))
    origin = str(spark.conf.get(_S3A, ""))
    return Access(region, endpoint_url=origin)


@cache
def s3_of(access: Access) -> S3:
    """The S3 of this Python process, kept open for the tasks to come; its credentials are the process's own."""
    return open_lake(access, parallel=THREADS, retry_policy=RETRY_POLICY).s3


def slots(spark: Any) -> int:
    """How many tasks run at once, as far as Spark knows."""
    return int(spark.sparkContext.defaultParallelism)
