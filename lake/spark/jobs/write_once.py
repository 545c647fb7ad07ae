"""Write to a table by a commit that changes no row, and open it anew."""

from collections.abc import Mapping
from typing import Any

from lake.spark.jobs import read_table
from lake.spark.jobs.parameters import quoted_location
from lake.spark.jobs.properties import table_properties
from lake.spark.jobs.report import Report
from lake.spark.sql import property_list

KIND = "write_once"


def run(spark: Any, params: Mapping[str, Any], report: Report) -> dict[str, object]:
    """Give `table` the `properties`, unless it has them already, and return what `read_table` does."""
    table, wanted = quoted_location(params["table"]), dict(params["properties"])
    report.step("Write to the table")
    if not wanted.items() <= table_properties(spark, table).items():
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES {property_list(wanted)}")
    return read_table.run(spark, params, report)
