"""Put a table under a DynamoDB commit coordinator: one commit, through whatever the table commits through now."""

from collections.abc import Mapping
from typing import Any

from lake.delta.coordinator_properties import coordinator_table_id
from lake.spark.jobs.parameters import coordinator_properties, quoted_location
from lake.spark.jobs.properties import table_properties
from lake.spark.jobs.report import Report
from lake.spark.messages import SparkJob
from lake.spark.sql import property_list

KIND = "enable_coordinated_commits"
STEPS = ("Make the conversion commit", "Read the table's properties")


def job(table: str, store: str, endpoint: str) -> SparkJob:
    """Ask for it; SparkRefused for a location that cannot be one."""
    quoted_location(table)
    return SparkJob(KIND, {"table": table, "store": store, "endpoint": endpoint}, STEPS)


def run(spark: Any, params: Mapping[str, Any], report: Report) -> dict[str, object]:
    """Return the registration's `table_id` and all of the table's properties as they are now."""
    table = quoted_location(params["table"])
    properties = coordinator_properties(params["store"], params["endpoint"])
    report.step(STEPS[0], "Delta registers the table in DynamoDB, then writes one commit.")
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES {property_list(properties)}")
    report.step(STEPS[1])
    now = table_properties(spark, table)
    return {"table_id": coordinator_table_id(now), "properties": now}
