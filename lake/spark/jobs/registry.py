"""All jobs by their kinds, for the Spark worker alone: those of backups load pyarrow, which the console needs not."""

from collections.abc import Callable, Mapping
from typing import Any

from lake.spark.jobs import (
    append_probe,
    backup_copy,
    backup_plan,
    backup_reconcile,
    create_table,
    describe_table,
    drop_coordinated_commits,
    enable_coordinated_commits,
    rehearse,
    remove_leftover_feature,
)
from lake.spark.jobs.report import Report

SparkJobFunction = Callable[[Any, Mapping[str, Any], Report], dict[str, object]]

JOBS: dict[str, SparkJobFunction] = {
    append_probe.KIND: append_probe.run,
    backup_copy.KIND: backup_copy.run,
    backup_plan.KIND: backup_plan.run,
    backup_reconcile.KIND: backup_reconcile.run,
    create_table.KIND: create_table.run,
    describe_table.KIND: describe_table.run,
    drop_coordinated_commits.KIND: drop_coordinated_commits.run,
    enable_coordinated_commits.KIND: enable_coordinated_commits.run,
    rehearse.KIND: rehearse.run,
    remove_leftover_feature.KIND: remove_leftover_feature.run,
}
