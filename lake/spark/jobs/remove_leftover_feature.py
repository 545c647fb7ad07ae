"""Remove a feature that coordinated commits brought along and that stays behind when they are dropped."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lake.spark.errors import SparkRefused
from lake.spark.jobs.history import reporting_commits
from lake.spark.jobs.parameters import quoted_location
from lake.spark.jobs.properties import table_features
from lake.spark.jobs.report import Report
from lake.spark.messages import SparkJob
from lake.spark.sql import quote_text

KIND = "remove_leftover_feature"
FEATURES = ("vacuumProtocolCheck", "inCommitTimestamp")
READ = "Read the table's features"


def job(table: str, feature: str) -> SparkJob:
    """Ask for it; SparkRefused for a location that cannot be one, and for another feature than these two."""
    quoted_location(table)
    if feature not in FEATURES:
        raise SparkRefused(
            f"{feature!r} is not a feature that coordinated commits leave behind: {', '.join(FEATURES)}."
        )
    return SparkJob(KIND, {"table": table, "feature": feature}, (f"Remove {feature}", READ))


def run(spark: Any, params: Mapping[str, Any], report: Report) -> dict[str, object]:
    """Return the `commits` made meanwhile, and all `features` that the protocol names now.

    Where Delta refuses, its condition and sentence are the job's error: history younger than the retention that needs
    the feature, or another feature that depends on it.
    """
    table, feature = quoted_location(params["table"]), params["feature"]
    report.step(f"Remove {feature}", "Delta takes the feature from the protocol, where nothing needs it any more.")
    statement = f"ALTER TABLE {table} DROP FEATURE {quote_text(feature)}"
    commits = reporting_commits(spark, table, lambda: spark.sql(statement), report)
    report.step(READ)
    features = table_features(spark, table)
    return {"commits": [asdict(commit) for commit in commits], "features": features}
