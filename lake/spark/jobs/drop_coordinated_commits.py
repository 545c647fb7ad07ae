"""Take a table from its commit coordinator: Delta makes one commit through the coordinator and one without it."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lake.spark.jobs.history import reporting_commits
from lake.spark.jobs.parameters import FEATURE, quoted_location
from lake.spark.jobs.properties import table_features
from lake.spark.jobs.remove_leftover_feature import FEATURES
from lake.spark.jobs.report import Report
from lake.spark.messages import SparkJob
from lake.spark.sql import quote_text

KIND = "drop_coordinated_commits"
FIRST = "First commit, through the coordinator"
SECOND = "Second commit, without the coordinator"
STEPS = (FIRST, SECOND, "Read what stays behind")
FIRST_STEP = (FIRST, "Delta unsets the coordinator's properties, backfills, and closes the registration.")
SECOND_STEP = (SECOND, "Delta takes the feature from the protocol.")


def job(table: str, *, finishing: bool = False) -> SparkJob:
    """Ask for it; `finishing` where an earlier drop made its first commit. SparkRefused for a wrong location."""
    quoted_location(table)
    return SparkJob(KIND, {"table": table, "finishing": finishing}, STEPS[1:] if finishing else STEPS)


def run(spark: Any, params: Mapping[str, Any], report: Report) -> dict[str, object]:
    """Return the `commits` made meanwhile, oldest first, and the features that are `left_behind`.

    Each commit is a step, and a note tells of it as it happens. TRUNCATE HISTORY is not offered, since Delta refuses it
    for a feature that only writers have to know (DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED).
    """
    table = quoted_location(params["table"])
    finishing = params["finishing"]
    report.step(*(SECOND_STEP if finishing else FIRST_STEP))
    statement = f"ALTER TABLE {table} DROP FEATURE {quote_text(FEATURE)}"
    then = None if finishing else SECOND_STEP
    commits = reporting_commits(spark, table, lambda: spark.sql(statement), report, then)
    report.step(STEPS[2])
    features = table_features(spark, table)
    left = [feature for feature in FEATURES if feature in features]
    return {"commits": [asdict(commit) for commit in commits], "left_behind": left}
