"""Open a table as any user of Spark does, and tell what is in it."""

from collections.abc import Iterator, Mapping
from typing import Any

from lake.delta.columns import columns_of
from lake.delta.fingerprint import FileMark, LiveFile, fingerprint, mark
from lake.spark.jobs.history import newest_commits
from lake.spark.jobs.parameters import quoted_location
from lake.spark.jobs.report import Report

KIND = "read_table"
MOST_COUNTED = 50
"""How many files with a deletion vector, and how many without, are opened to count their rows. For a whole table Spark
only adds up the log's statistics."""
FILES_OF_A_PART = 20_000


def run(spark: Any, params: Mapping[str, Any], report: Report) -> dict[str, object]:
    """Return `version`, `files`, `bytes`, `rows`, `columns` (as `columns_of` has them), `partition_columns`,
    `properties`, `features` and `fingerprint` of `table`, and of some of its files the rows that were `counted`, with
    those that the log says."""
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
        "fingerprint": fingerprint(_marks(spark, snapshot))[0],
        "counted": _counted(spark, log, snapshot),
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

    files = DataFrame(snapshot.allFiles().toDF(), spark).select("path", "size", "partitionValues", "deletionVector")
    # One part after the other is held in memory.
    parts = files.repartition(1 + snapshot.numOfFiles() // FILES_OF_A_PART)
    for path, size, values, vector in parts.toLocalIterator():
        yield mark(LiveFile(path, size, values or {}, vector and vector.asDict()))


def _counted(spark: Any, log: Any, snapshot: Any) -> tuple[int, int]:
    """The rows found by opening some files, and the rows that the log gives for the same files."""
    from pyspark.sql import DataFrame

    jvm = spark._jvm
    mixed = spark._sc._gateway.new_array(jvm.org.apache.spark.sql.Column, 1)
    mixed[0] = jvm.org.apache.spark.sql.functions.expr("xxhash64(path)")
    with_vector, without = (
        snapshot.allFiles()
        .filter(f"deletionVector IS {what} AND get_json_object(stats, '$.numRecords') IS NOT NULL")
        .orderBy(mixed)
        .limit(MOST_COUNTED)
        for what in ("NOT NULL", "NULL")
    )
    files = with_vector.union(without).collectAsList()
    some = jvm.scala.jdk.javaapi.CollectionConverters.asScala(files).toSeq()
    counted = DataFrame(log.createDataFrame(snapshot, some, False, jvm.scala.Option.empty()), spark).count()
    return counted, sum(int(one.numLogicalRecords().get()) for one in files)
