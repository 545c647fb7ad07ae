"""What of a source the destination has already: one join of millions of rows with millions."""

from collections.abc import Sequence
from typing import Any

from lake.spark.backups.keys import is_log, same


def without_pool(laned: Any, pool: Any, *, lanes: Sequence[str], keeps_logs: bool = True) -> Any:
    """Turn the lane of what `pool` has, by key, size and ETag, into already_there.

    `pool` has pool_key, pool_size and pool_etag. Rows of other lanes than `lanes` stay as they are, and, with
    `keeps_logs`, those of Delta logs. Both sides are shuffled by a hash of 64 bits and joined by a hash table, without
    a sort; equality of the columns themselves tells collisions apart.
    """
    from pyspark.sql import functions as sql

    left = laned.withColumn("_hash", sql.xxhash64("key", "size", "etag"))
    right = pool.withColumn("_pool_hash", sql.xxhash64("pool_key", "pool_size", "pool_etag"))
    matches = (
        (sql.col("_hash") == sql.col("_pool_hash"))
        & same(sql.col("key"), sql.col("pool_key"))
        & same(sql.col("size"), sql.col("pool_size"))
        & same(sql.col("etag"), sql.col("pool_etag"))
    )
    joined = left.join(right.hint("shuffle_hash"), matches, "left")
    there = sql.col("pool_key").isNotNull() & sql.col("lane").isin(*lanes)
    if keeps_logs:
        there &= ~is_log(sql.col("key"))
    lane = sql.when(there, sql.lit("already_there")).otherwise(sql.col("lane"))
    return joined.withColumn("lane", lane).drop("_hash", "_pool_hash", "pool_key", "pool_size", "pool_etag")
