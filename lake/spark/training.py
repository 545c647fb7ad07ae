"""What Spark does while its class-data archive is made: a little of everything that the worker's jobs do.

A table on local disk brings in Spark, Delta and Parquet; an S3 and a DynamoDB that nobody serves their two SDKs.
"""

import json
import sys
from contextlib import suppress
from typing import Any

from lake.spark.jobs import append_probe, create_table, enable_coordinated_commits
from lake.spark.jobs.report import Report
from lake.spark.session import start_session
from lake.spark.sql import delta_path

NOBODY = "http://127.0.0.1:9"


def main() -> int:
    """Read the settings from stdin as one line; the JVM ends with this process."""
    start = json.loads(sys.stdin.readline())
    conf = start["conf"] | {"spark.hadoop.fs.s3a.retry.limit": "0", "spark.hadoop.fs.s3a.attempts.maximum": "1"}
    _practise(start_session(conf), f"file://{start['folder']}/table")
    return 0


def _practise(spark: Any, table: str) -> None:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    report = Report(lambda **message: None)
    create_table.run(
        spark, create_table.job(table, "id BIGINT, name STRING, day STRING", partition_by=["day"]).params, report
    )
    for _ in range(2):
        spark.sql(f"INSERT INTO {delta_path(table)} SELECT id, 'name', 'day' FROM range(20)").collect()  # noqa: S608 - ours
    spark.table(delta_path(table)).groupBy("day").count().collect()
    append_probe.run(spark, {"table": table}, report)
    coordinator = {"store": "training", "endpoint": NOBODY}
    for params in ({"table": table}, {"table": "s3a://levee-training/table"}):
        with suppress(Py4JError, PySparkException):
            enable_coordinated_commits.run(spark, params | coordinator, report)


if __name__ == "__main__":
    sys.exit(main())
