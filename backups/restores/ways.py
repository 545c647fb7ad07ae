"""The lines by which people open a restored table."""

import json

from backups.contract import Ways
from lake.delta.uri import TableUri
from lake.spark.sql import delta_path


def ways_to_open(table: str, *, with_deltalake: bool) -> Ways:
    """A line for SQL of Spark, for PySpark and for deltalake; "" for what does not read this table."""
    try:
        sql = f"SELECT * FROM {delta_path(table)}"  # noqa: S608 - quoted
    except ValueError:
        sql = ""
    named, url = (json.dumps(one, ensure_ascii=False) for one in (table, TableUri.parse(table).url))
    query = json.dumps("SELECT * FROM t")
    imported = "from deltalake import DeltaTable, QueryBuilder"
    return {
        "sql": sql,
        "pyspark": f'spark.read.format("delta").load({named})',
        "deltalake": f'{imported}; QueryBuilder().register("t", DeltaTable({url})).execute({query})'
        if with_deltalake
        else "",
    }
