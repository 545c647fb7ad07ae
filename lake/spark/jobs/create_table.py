"""Create an empty table where there is none, under a commit coordinator from its first commit if that is wanted."""

from collections.abc import Mapping, Sequence
from typing import Any

from lake.delta.coordinator_properties import coordinator_table_id
from lake.spark.errors import SparkRefused
from lake.spark.jobs.parameters import coordinator_properties, quoted_location
from lake.spark.jobs.properties import table_properties
from lake.spark.jobs.report import Report
from lake.spark.messages import SparkJob
from lake.spark.sql import property_list, quote_name, quote_text

KIND = "create_table"
STEPS = ("Read the columns", "Create the table")


def job(table: str, columns: str, *, partition_by: Sequence[str] = (), store: str = "", endpoint: str = "") -> SparkJob:
    """Ask for it: `columns` as CREATE TABLE takes them between its brackets; with `store` it is coordinated.

    SparkRefused for a location that cannot be one.
    """
    quoted_location(table)
    params = {"table": table, "columns": columns, "partition_by": list(partition_by)}
    return SparkJob(KIND, {**params, "store": store, "endpoint": endpoint}, STEPS)


def column(name: str, data_type: str, *, nullable: bool = True, comment: str = "") -> str:
    """Write one column for `columns`; Spark's own parser reads the type later. ValueError for control characters."""
    clauses = ("" if nullable else " NOT NULL") + (f" COMMENT {quote_text(comment)}" if comment else "")
    return f"{quote_name(name)} {data_type.strip()}{clauses}"


def run(spark: Any, params: Mapping[str, Any], report: Report) -> dict[str, object]:
    """Return the registration's `table_id` ("" without a coordinator) and the new table's properties."""
    table = quoted_location(params["table"])
    report.step(STEPS[0])
    columns = _columns(params["columns"])
    names = [quote_name(name) for name in params["partition_by"]]
    partition = f" PARTITIONED BY ({', '.join(names)})" if names else ""
    properties = coordinator_properties(params["store"], params["endpoint"]) if params["store"] else {}
    listed = f" TBLPROPERTIES {property_list(properties)}" if properties else ""
    report.step(STEPS[1], "Delta registers the path in DynamoDB, then writes version 0.")
    spark.sql(f"CREATE TABLE {table} ({columns}) USING delta{partition}{listed}")
    now = table_properties(spark, table)
    return {"table_id": coordinator_table_id(now), "properties": now}


def _columns(ddl: str) -> str:
    """Have Spark's parser read the columns and write anew what it understood, so that nothing else gets into SQL."""
    from pyspark.sql.types import StructType

    schema = StructType.fromDDL(ddl)
    if not isinstance(schema, StructType) or not schema.fields:
        raise SparkRefused(f"{ddl!r} is no list of columns: write name TYPE, name TYPE.")
    return ", ".join(_field(field) for field in schema.fields)


def _field(field: Any, between: str = " ") -> str:
    unknown = sorted(set(field.metadata) - {"comment", "__CHAR_VARCHAR_TYPE_STRING"})
    if unknown:
        raise SparkRefused(f"The column {field.name!r} asks for more than type, NOT NULL and COMMENT: {unknown[0]}.")
    clauses = "" if field.nullable else " NOT NULL"
    if comment := field.metadata.get("comment"):
        clauses += f" COMMENT {quote_text(comment)}"
    return f"{quote_name(field.name)}{between}{_data_type(field.dataType)}{clauses}"


def _data_type(data_type: Any) -> str:
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(data_type, ArrayType):
        return f"ARRAY<{_data_type(data_type.elementType)}>"
    if isinstance(data_type, MapType):
        return f"MAP<{_data_type(data_type.keyType)}, {_data_type(data_type.valueType)}>"
    if isinstance(data_type, StructType):
        return f"STRUCT<{', '.join(_field(field, ': ') for field in data_type.fields)}>"
    return str(data_type.simpleString())
