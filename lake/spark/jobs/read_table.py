"""Open a table as any user of Spark does, and tell what is in it."""

from collections.abc import Iterator, Mapping
from typing import Any

from lake.delta.columns import columns_of
from lake.delta.fingerprint import FileMark, LiveFile, fingerprint, mark
from lake.spark.jobs.history import newest_commits
from lake.spark.jobs.parameters import quoted_location
from lake.spark.jobs.report import Report

KIND = "read_table"
MOST_WITH_VECTORS = 10
"""Files that are read through their deletion vectors: counting a table's rows reads neither."""


def run(spark: Any, params: Mapping[str, Any], report: Report) -> dict[str, object]:
    """Return `version`, `files`, `bytes`, `rows`, `columns` (as `columns_of` has them), `partition_columns`,
    `properties`, `features` and the `Fingerprint` of `table`. A row is read from its files, which counting may go
    without; of some with deletion vectors all rows are, `undeleted`, and `undeleted_said` are those in the log."""
    table = quoted_location(params["table"])
    report.step("Open the table")
    logs = spark._jvm.org.apache.spark.sql.delta.DeltaLog
    logs.clearCache()  # it may have read another table at this path
    [detail] = spark.sql(f"DESCRIBE DETAIL {table}").collect()
    newest = newest_commits(spark, table, 1)[0]
    rows = int(spark.sql(f"SELECT count(*) FROM {table}").collect()[0][0])  # noqa: S608 - quoted
    log = logs.forTable(spark._jsparkSession, params["table"])
    snapshot = log.unsafeVolatileSnapshot()
    report.step("Read a row")
    spark.table(table).limit(1).collect()
    return {
        **fingerprint(_marks(spark, snapshot)),
        **_through_vectors(spark, log, snapshot),
        "version": newest.version,
        "files": int(detail["numFiles"]),
        "bytes": int(detail["sizeInBytes"]),
        "rows": rows,
        "columns": columns_of(spark.table(table).schema.jsonValue()),
        "partition_columns": list(detail["partitionColumns"]),
        "properties": dict(detail["properties"]),
        "features": list(detail["tableFeatures"] or ()),
    }


def _marks(spark: Any, snapshot: Any) -> Iterator[FileMark]:
    from pyspark.sql import DataFrame

    files = DataFrame(snapshot.allFiles().toDF(), spark)
    for path, size, values, vector in files.select("path", "size", "partitionValues", "deletionVector").collect():
        yield mark(LiveFile(path, size, values, vector and vector.asDict()))


def _through_vectors(spark: Any, log: Any, snapshot: Any) -> dict[str, int | None]:
    """The rows that are read of files with deletion vectors, and those that the log says, None where it does not."""
    from pyspark.sql import DataFrame

    jvm = spark._jvm
    files = snapshot.allFiles().filter("deletionVector IS NOT NULL").limit(MOST_WITH_VECTORS).collectAsList()
    said = [one.numLogicalRecords() for one in files]
    some = jvm.scala.jdk.javaapi.CollectionConverters.asScala(files).toSeq()
    read = DataFrame(log.createDataFrame(snapshot, some, False, jvm.scala.Option.empty()), spark).count()
    is_said = all(one.isDefined() for one in said)
    return {"undeleted": read, "undeleted_said": sum(int(one.get()) for one in said) if is_said else None}
