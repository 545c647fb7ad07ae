"""Which objects are copied: not what the destination has already, and of live files alone not what no table needs.

Each is one join of millions of rows with millions. Both sides are shuffled by a hash of 64 bits and joined by a hash
table, without a sort; equality of the columns themselves tells collisions apart.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pyspark.sql import functions as sql

from lake.backup.objects import BucketPrefix
from lake.spark.backups.live import ACTIONS, Logs, file_actions
from lake.spark.backups.manifests import LEFT_OUT

MOST_EXAMPLES = 20
# VACUUM takes what begins so for another's, but for change data, and a partition's folder is none of that.
_HIDDEN = r"(^|/)[._][^/=]*(/|$)"
_CHANGE_DATA = "_change_data/"
_ICEBERG = "metadata/"


def without_pool(laned: Any, pool: Any, *, lanes: Sequence[str]) -> Any:
    """Turn the lane of what `pool` has, by key, size and ETag, into already_there.

    `pool` has pool_key, pool_size and pool_etag. Rows of other lanes than `lanes` stay as they are, and so
    do those of Delta logs.
    """
    left = laned.withColumn("_hash", sql.xxhash64("key", "size", "etag"))
    right = pool.withColumn("_pool_hash", sql.xxhash64("pool_key", "pool_size", "pool_etag"))
    matches = (
        (sql.col("_hash") == sql.col("_pool_hash"))
        & same(sql.col("key"), sql.col("pool_key"))
        & same(sql.col("size"), sql.col("pool_size"))
        & same(sql.col("etag"), sql.col("pool_etag"))
    )
    # The hash table is of the source's objects, whose number is known: a pool may hold many times as many.
    joined = left.hint("shuffle_hash").join(right, matches, "left")
    there = sql.col("pool_key").isNotNull() & sql.col("lane").isin(*lanes) & ~is_log(sql.col("key"))
    lane = sql.when(there, sql.lit("already_there")).otherwise(sql.col("lane"))
    return joined.withColumn("lane", lane).drop("_hash", "_pool_hash", "pool_key", "pool_size", "pool_etag")


def leave_out(objects: Any, actions: Any, unread: Any, *, since: datetime) -> Any:
    """Turn the `lane` of what no table needs into LEFT_OUT; `objects` have key, table, modified_at and lane.

    Outside tables, in tables of `unread` and in logs nothing is left out. Of other tables remains, beside the log, what
    was live at some moment after `since`, with its deletion vectors, change data written after `since`, and what
    VACUUM does not take for the table's own: hidden files and folders, and the metadata of Iceberg.
    """
    col, table = sql.col, sql.col("table")
    needed = _needed(actions, since).withColumn("_needed_hash", sql.xxhash64("_needed"))
    matches = (col("_hash") == col("_needed_hash")) & same(col("key"), col("_needed"))
    rows = objects.withColumn("_hash", sql.xxhash64("key")).join(needed.hint("shuffle_hash"), matches, "left")
    told = unread.select(col("table").alias("_unread"))
    rows = rows.join(sql.broadcast(told), table == col("_unread"), "left")
    start = sql.when(table == "", sql.lit(1)).otherwise(sql.length(table) + 2)
    path = sql.substring(col("key"), start, sql.length("key"))
    is_change = path.startswith(_CHANGE_DATA)
    is_beside = path.rlike(_HIDDEN) | path.startswith(_ICEBERG)
    stays = sql.when(is_change, col("modified_at") >= sql.lit(since)).otherwise(is_beside)
    goes = table.isNotNull() & ~is_log(col("key")) & col("_unread").isNull() & col("_needed").isNull() & ~stays
    lane = sql.when(goes, sql.lit(LEFT_OUT)).otherwise(col("lane"))
    return rows.withColumn("lane", lane).drop("_hash", "_needed_hash", "_needed", "_unread")


def unread_tables(actions: Any) -> Any:
    """Tables whose log cannot be read, or has other files than a `.crc` counts, and why: `table` and `problem`."""
    col = sql.col
    named = actions.where(col("problem").isNotNull()).groupBy("table").agg(sql.min("problem").alias("problem"))
    counted = actions.where(col("counted").isNotNull()).select("table", "counted", col("version").alias("of"))
    live = _last(actions).where(col("last.is_add")).join(sql.broadcast(counted), "table")
    found = live.where(col("last.version") <= col("of")).groupBy("table").agg(sql.count(sql.lit(1)).alias("found"))
    both = counted.join(found, "table", "left").withColumn("found", sql.coalesce("found", sql.lit(0)))
    said = sql.format_string(
        "The checksum of version %d counts %d files, and the log %d.", col("of"), col("counted"), col("found")
    )
    other = both.where(col("counted") != col("found")).select("table", said.alias("problem"))
    return named.union(other.join(named, "table", "left_anti"))


def unread_told(unread: Any) -> dict[str, Any]:
    """How many tables cannot be read, and the first of them."""
    first = unread.orderBy("table").limit(MOST_EXAMPLES).collect()
    examples = [{"table": row["table"], "reason": row["problem"]} for row in first]
    return {"count": len(first) if len(first) < MOST_EXAMPLES else int(unread.count()), "examples": examples}


def references_told(actions: Any, *, since: datetime) -> dict[str, Any]:
    """Files that tables name by an absolute path, as shallow clones do: inside the bucket, where they are copied with
    it, and outside of it, where they are not; and the first tables that do so.
    """
    col = sql.col
    kept = _last(actions).where(_is_needed(since) & col("last.is_absolute"))
    is_inside = sql.size("last.keys") > 0
    by_table = kept.groupBy("table").agg(
        sql.count(sql.when(is_inside, 1)).alias("inside"), sql.count(sql.when(~is_inside, 1)).alias("outside")
    )
    rows = by_table.orderBy(sql.desc("outside"), "table").limit(MOST_EXAMPLES).collect()
    total = by_table.agg(*(sql.coalesce(sql.sum(name), sql.lit(0)).alias(name) for name in ("inside", "outside")))
    sums = total.first() if rows else {"inside": 0, "outside": 0}
    return {
        "inside": int(sums["inside"]),
        "outside": int(sums["outside"]),
        "examples": [row.asDict() for row in rows],
    }


def _needed(actions: Any, since: datetime) -> Any:
    """The distinct keys that tables need."""
    keys = _last(actions).where(_is_needed(since)).select(sql.explode("last.keys").alias("_needed"))
    return keys.distinct()


def _is_needed(since: datetime) -> Any:
    removed_at = sql.col("last.removed_at")
    return sql.col("last.is_add") | removed_at.isNull() | (removed_at >= int(since.timestamp() * 1000))


def _last(actions: Any) -> Any:
    """The newest action of each file of each table; an add goes before a remove of the same version."""
    files = actions.where(sql.col("name").isNotNull())
    whole = sql.struct("version", "is_add", "removed_at", "is_absolute", "keys")
    return files.groupBy("table", "name", "vector_id").agg(sql.max(whole).alias("last"))


def live_only(
    objects: Any, roots: Any, logs: Logs, folder: BucketPrefix, *, parallel: int
) -> tuple[Any, dict[str, Any]]:
    """Read the logs of the tables of `roots`, keep below `folder` what they say, and apply `leave_out`.

    Gives the objects, and for people `unread` tables and `references` to files by absolute paths.
    """
    spark, said, unread = objects.sparkSession, folder.below("actions/").uri, folder.below("unread/").uri
    # Asked for once, however often the rows are read afterwards.
    file_actions(roots, logs, parallel=parallel).write.parquet(said)
    actions = spark.read.schema(ACTIONS).parquet(said)
    unread_tables(actions).coalesce(1).write.parquet(unread)
    named = spark.read.schema("table string, problem string").parquet(unread)
    told = {"unread": unread_told(named), "references": references_told(actions, since=logs.since)}
    return leave_out(objects, actions, named, since=logs.since), told


def same(left: Any, right: Any) -> Any:
    """Equality that stays a residual condition: written as `=` it would become a part of the join's key.

    Joined by a 64-bit hash alone, Spark shuffles and compares eight bytes a row, and this tells collisions apart.
    """
    return (left <= right) & (left >= right)


def is_log(key: Any) -> Any:
    """Whether a key lies in a Delta log."""
    return key.startswith("_delta_log/") | key.contains("/_delta_log/")
