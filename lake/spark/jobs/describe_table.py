"""What Spark itself says of a table: protocol, features, properties, size and the head of its history."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lake.spark.jobs.history import newest_commits
from lake.spark.jobs.parameters import quoted_location
from lake.spark.jobs.report import Report
from lake.spark.messages import SparkJob

KIND = "describe_table"
HISTORY = 10
_COLUMNS = ("id", "partitionColumns", "properties", "minReaderVersion", "minWriterVersion", "tableFeatures")
_SIZES = ("numFiles", "sizeInBytes")


def job(table: str) -> SparkJob:
    """Ask for it; SparkRefused for a location that cannot be one."""
    quoted_location(table)
    return SparkJob(KIND, {"table": table})


def run(spark: Any, params: Mapping[str, Any], report: Report) -> dict[str, object]:
    """Return DESCRIBE DETAIL's columns under their own names, and `history`, newest first."""
    table = quoted_location(params["table"])
    report.step("Read the table")
    row = spark.sql(f"DESCRIBE DETAIL {table}").select(*_COLUMNS, *_SIZES).collect()[0]
    detail = dict(zip((*_COLUMNS, *_SIZES), row, strict=True))
    report.step("Read its history")
    return detail | {"history": [asdict(entry) for entry in newest_commits(spark, table, HISTORY)]}
