"""Prove that a table takes commits: an append of no rows, which leaves its data as it is and takes one version."""

from collections.abc import Mapping
from typing import Any

from lake.spark.jobs.history import newest_commits
from lake.spark.jobs.parameters import quoted_location
from lake.spark.jobs.report import Report
from lake.spark.messages import SparkJob

KIND = "append_probe"
STEPS = ("Append no rows",)
# Delta makes no commit of an append without rows unless it is told to.
SKIP_EMPTY = "spark.databricks.delta.skipRecordingEmptyCommits"


def job(table: str) -> SparkJob:
    """Ask for it; SparkRefused for a location that cannot be one."""
    quoted_location(table)
    return SparkJob(KIND, {"table": table}, STEPS)


def run(spark: Any, params: Mapping[str, Any], report: Report) -> dict[str, object]:
    """Return the newest `version` and its `operation` after the append."""
    table = quoted_location(params["table"])
    report.step(*STEPS, "A commit without rows takes the next version.")
    spark.conf.set(SKIP_EMPTY, "false")
    try:
        spark.table(table).limit(0).writeTo(table).append()
    finally:
        spark.conf.unset(SKIP_EMPTY)
    newest = newest_commits(spark, table, 1)[0]
    return {"version": newest.version, "operation": newest.operation}
