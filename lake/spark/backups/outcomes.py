"""What became of each planned object: the manifest's row, the report's row and the destination's, side by side."""

from typing import Any

from lake.spark.backups.copying import ALREADY
from lake.spark.backups.keys import same

OUTCOMES = ("copied", "already_there", "changed", "vanished", "denied", "too_new", "archived", "failed")
WORTH_RETRY = ("changed", "denied", "failed")
CLOCKS_APART = "INTERVAL 60 SECONDS"
"""How far the clock of S3 may be behind the one that said when planning began."""


def joined(planned: Any, reported: Any, there: Any) -> Any:
    """Planned objects, each with `r_*` of its report row and `d_*` of the object at the destination, or nulls."""
    from pyspark.sql import functions as sql

    left = planned.withColumn("_hash", sql.xxhash64("key"))
    for rows, prefix in ((reported, "r_"), (there, "d_")):
        right = rows.select(*(sql.col(name).alias(f"{prefix}{name}") for name in rows.columns))
        right = right.withColumn(f"{prefix}hash", sql.xxhash64(f"{prefix}key"))
        matches = (sql.col("_hash") == sql.col(f"{prefix}hash")) & same(sql.col("key"), sql.col(f"{prefix}key"))
        left = left.join(right.hint("shuffle_hash"), matches, "left").drop(f"{prefix}hash")
    return left.drop("_hash")


def with_outcomes(rows: Any, *, began: str, encryption_key: str) -> Any:
    """Add `outcome`, one of OUTCOMES, and `code`, its cause; `rows` are those of `joined`, `proved_etag` among them.

    An object is safe, copied or already_there, only where the destination has it with its size and

    - its ETag; or
    - the ETag that an earlier reconciliation proved to be that of this size and source ETag; or
    - where the two ETags could not be the same (one is of parts, or a KMS key encrypts one of them: S3 User Guide,
      "Checking object integrity"): the ETag that the copy answered with, as the Spark engine reports it, which is as
      good as the endpoint's heed of the source's ETag; or, where the report of success names none, as that of S3 Batch
      Operations, which copies no source of one part into several, a time of writing since planning began.

    Whatever a report says, an object that the destination does not show so is never safe.
    """
    from pyspark.sql import functions as sql

    col = sql.col
    sized = col("d_size") == col("size")
    # Columns of their own, or Spark would work them out again wherever they are named.
    told_etag = sql.regexp_extract(sql.coalesce(col("r_message"), sql.lit("")), "^ETag=(.+)$", 1)
    rows = rows.withColumn("_told", sql.nullif(told_etag, sql.lit("")))
    told = col("_told")
    exact = sized & (col("d_etag") == col("etag"))
    as_told = sized & col("r_succeeded") & (col("d_etag") == told)
    proved = sized & (col("d_etag") == col("proved_etag"))
    unlike = (
        col("etag").contains("-")
        | col("encryption_status").isin("SSE-KMS", "DSSE-KMS", "SSE-C")
        | sql.lit(bool(encryption_key))
    )
    incomparable = unlike | col("d_etag").contains("-")
    since = sql.lit(began).cast("timestamp") - sql.expr(CLOCKS_APART)
    is_silent = told.isNull() & (sql.coalesce(col("r_message"), sql.lit("")) != ALREADY)
    written = sized & col("r_succeeded") & is_silent & unlike & (col("d_modified_at") >= since)
    rows = rows.withColumn("_safe", _true(exact) | _true(as_told & incomparable) | _true(proved) | _true(written))
    is_safe = col("_safe")
    is_lane = col("lane").isin("copy", "multipart")
    is_old = (col("lane") == "already_there") | (col("r_message") == ALREADY) | (col("d_modified_at") < since)
    outcome = (
        sql.when(col("lane").isin("too_new", "archived"), col("lane"))
        .when(is_safe & _true(is_old), sql.lit("already_there"))
        .when(is_safe & _true(is_lane & sql.coalesce(~col("r_succeeded"), sql.lit(False))), sql.lit("already_there"))
        .when(is_safe, sql.lit("copied"))
        .when(_true(col("r_succeeded")) & col("d_key").isNotNull(), sql.lit("changed"))
        .when(_true(~col("r_succeeded")), _of_failure())
        .otherwise(sql.lit("failed"))
    )
    code = (
        sql.when(col("outcome").isin("copied", "already_there", "too_new", "archived"), sql.lit(""))
        .when(_true(col("r_succeeded")) & col("d_key").isNull(), sql.lit("NotAtDestination"))
        .when(_true(col("r_succeeded")), sql.lit("OtherContent"))
        .when(col("r_key").isNotNull(), sql.coalesce(col("r_code"), col("r_http_status"), sql.lit("Unknown")))
        .when(col("lane") == "already_there", sql.lit("LostFromDestination"))
        .otherwise(sql.lit("NotReported"))
    )
    return rows.withColumn("outcome", outcome).withColumn("code", code).drop("_told", "_safe")


def _of_failure() -> Any:
    """The outcome of a failed row by its error code, or its HTTP status where the code says nothing."""
    from pyspark.sql import functions as sql

    code, status = sql.coalesce(sql.col("r_code"), sql.lit("")), sql.coalesce(sql.col("r_http_status"), sql.lit(""))
    return (
        sql.when(code.isin("NoSuchKey", "NoSuchVersion", "NotFound") | (status == "404"), sql.lit("vanished"))
        .when(code == "InvalidObjectState", sql.lit("archived"))
        .when(code.isin("PreconditionFailed") | (status == "412"), sql.lit("changed"))
        .when(code.isin("AccessDenied", "AllAccessDisabled") | (status == "403"), sql.lit("denied"))
        .otherwise(sql.lit("failed"))
    )


def _true(condition: Any) -> Any:
    """The condition with unknown as false."""
    from pyspark.sql import functions as sql

    return sql.coalesce(condition, sql.lit(False))
