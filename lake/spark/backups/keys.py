"""Keys as DataFrame columns: their URL-encoded form, and joins by them that hash instead of sorting."""

from typing import Any


def encoded(key: Any) -> Any:
    """A key as manifests for S3 Batch Operations hold it: percent-encoded, slashes kept, no plus sign for a blank."""
    from pyspark.sql import functions as sql

    text = sql.url_encode(key)
    return sql.replace(sql.replace(text, sql.lit("+"), sql.lit("%20")), sql.lit("%2F"), sql.lit("/"))


def decoded(text: Any) -> Any:
    """The key that an encoded one stands for; a plus sign is a blank, as in inventories and reports of S3."""
    from pyspark.sql import functions as sql

    return sql.url_decode(text)


def same(left: Any, right: Any) -> Any:
    """Equality that stays a residual condition: written as `=` it would become a part of the join's key.

    Joined by a 64-bit hash alone, Spark shuffles and compares eight bytes a row, and this tells collisions apart.
    """
    return (left <= right) & (left >= right)


def with_tables(objects: Any, roots: Any) -> Any:
    """Add `table`, the prefix of the innermost Delta table around each key ("" at the bucket's root), null outside.

    `roots` are those of `table_roots`, best cached. They have few depths, and for each of these one broadcast join asks
    whether the key's part down to it is a root.
    """
    from pyspark.sql import functions as sql

    depths = sorted((int(row[0]) for row in roots.select("depth").distinct().collect()), reverse=True)
    joined, names = objects, [f"_root_{depth}" for depth in depths]
    for depth, name in zip(depths, names, strict=True):
        at_depth = roots.where(sql.col("depth") == depth).select(sql.col("root").alias(name))
        part = sql.substring_index("key", "/", depth) if depth else sql.lit("")
        # The root itself may be a key too, which then is a file beside the table.
        is_below = (part == sql.col(name)) & (sql.col("key") != sql.col(name))
        joined = joined.join(sql.broadcast(at_depth), is_below, "left")
    table = sql.coalesce(*names) if names else sql.lit(None).cast("string")
    return joined.withColumn("table", table).drop(*names)


def table_roots(objects: Any) -> Any:
    """The distinct `root` of each Delta table and its `depth` in path parts."""
    from pyspark.sql import functions as sql

    key = sql.col("key")
    logs = objects.select("key").where(key.contains("_delta_log/"))
    root = (
        sql.when(key.startswith("_delta_log/"), sql.lit(""))
        .when(key.contains("/_delta_log/"), sql.substring_index(key, "/_delta_log/", 1))
        .otherwise(sql.lit(None))
    )
    roots = logs.select(root.alias("root")).where(sql.col("root").isNotNull()).distinct()
    depth = sql.when(sql.col("root") == "", sql.lit(0)).otherwise(sql.size(sql.split("root", "/")))
    return roots.select("root", depth.alias("depth"))


def is_log(key: Any) -> Any:
    """Whether a key lies in a Delta log."""
    return key.startswith("_delta_log/") | key.contains("/_delta_log/")
