"""A table's properties as Spark shows them, among them its protocol and features."""

from typing import Any

FEATURE_PREFIX = "delta.feature."


def table_properties(spark: Any, table: str) -> dict[str, str]:
    """Read all of them; `table` is quoted already."""
    return {str(row[0]): str(row[1]) for row in spark.sql(f"SHOW TBLPROPERTIES {table}").collect()}


def table_features(spark: Any, table: str) -> list[str]:
    """Name the features of the table's protocol, sorted; `table` is quoted already."""
    names = table_properties(spark, table)
    return sorted(name.removeprefix(FEATURE_PREFIX) for name in names if name.startswith(FEATURE_PREFIX))
