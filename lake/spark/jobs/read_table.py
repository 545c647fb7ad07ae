"""Open a table as any user of Spark does, and tell what is in it."""

from collections.abc import Mapping
from typing import Any

from lake.delta.columns import columns_of
from lake.spark.jobs.history import newest_commits
from lake.spark.jobs.parameters import quoted_location
from lake.spark.jobs.report import Report

KIND = "read_table"


def run(spark: Any, params: Mapping[str, Any], report: Report) -> dict[str, object]:
    """Return `version`, `files`, `bytes`, `rows`, `columns` (as `columns_of` has them), `partition_columns`,
    `properties` and `features` of `table`. A row is read from its files, which counting may go without."""
    table = quoted_location(params["table"])
    report.step("Open the table")
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # it may have read another table at this path
    [detail] = spark.sql(f"DESCRIBE DETAIL {table}").collect()
    newest = newest_commits(spark, table, 1)[0]
    rows = int(spark.sql(f"SELECT count(*) FROM {table}").collect()[0][0])  # noqa: S608 - quoted
    report.step("Read a row")
    spark.table(table).limit(1).collect()
    return {
        "version": newest.version,
        "files": int(detail["numFiles"]),
        "bytes": int(detail["sizeInBytes"]),
        "rows": rows,
        "columns": columns_of(spark.table(table).schema.jsonValue()),
        "partition_columns": list(detail["partitionColumns"]),
        "properties": dict(detail["properties"]),
        "features": list(detail["tableFeatures"] or ()),
    }
