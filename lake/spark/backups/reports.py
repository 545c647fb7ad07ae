"""Completion reports as S3 Batch Operations writes them: read as a DataFrame, and written by the Spark copy engine."""

from typing import Any

from lake.aws.access import Access
from lake.spark.backups.keys import decoded
from lake.spark.backups.listing import listed
from lake.spark.backups.places import Place

COLUMNS = "bucket string, key string, version_id string, task_status string, fifth string, sixth string, message string"
REPORTED = "key string, succeeded boolean, http_status string, code string, message string"
_RESULTS = r"/results/[^/]+\.csv$"


def read_reports(spark: Any, access: Access, places: list[Place], source_bucket: str) -> Any:
    """The rows of all reports below `places`, as `report_rows` gives them; none for no report."""
    paths = [path for place in places for path in _result_files(spark, access, place)]
    return report_rows(spark, paths, source_bucket) if paths else spark.createDataFrame([], REPORTED)


def report_rows(spark: Any, paths: list[str], source_bucket: str) -> Any:
    """The rows of the result files as they stand: REPORTED. A key has several where a copy was tried again.

    Rows carry the HTTP status before the error code, although their schema line says otherwise; of the two columns
    the one of digits alone is the status, so that either order is read right.
    """
    from pyspark.sql import functions as sql

    rows = spark.read.option("recursiveFileLookup", "true").csv(
        paths, schema=COLUMNS, header=False, quote='"', escape='"'
    )
    # A message with a line break leaves a rest that names no bucket.
    rows = rows.where(sql.col("bucket") == source_bucket)
    is_status = sql.coalesce(sql.col("fifth").rlike("^[0-9]+$"), sql.lit(False))
    return rows.select(
        decoded(sql.col("key")).alias("key"),
        (sql.lower("task_status") == "succeeded").alias("succeeded"),
        sql.when(is_status, sql.col("fifth")).otherwise(sql.col("sixth")).alias("http_status"),
        sql.when(is_status, sql.col("sixth")).otherwise(sql.col("fifth")).alias("code"),
        sql.col("message"),
    )


def once(reported: Any) -> Any:
    """One row for each key: an object that succeeded once counts as succeeded."""
    from pyspark.sql import functions as sql

    told = sql.struct("succeeded", "http_status", "code", "message")
    return reported.groupBy("key").agg(sql.max(told).alias("told")).select("key", "told.*")


def _result_files(spark: Any, access: Access, place: Place) -> list[str]:
    """The result files of a place: a job has few, whatever the number of its objects."""
    from pyspark.sql import functions as sql

    found = listed(spark, access, place, parallel=1).where(sql.col("key").rlike(_RESULTS)).select("key").collect()
    return [f"s3a://{place.bucket}/{row['key']}" for row in found]
