"""Keys as DataFrame columns: their URL-encoded form, and joins by them that hash instead of sorting."""

from typing import Any

# What RFC 3986 leaves as it is, and the slash.
_KEPT = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"


def percent_encoded(keys: Any) -> Any:
    """An Arrow array of keys as manifests for S3 Batch Operations hold them: slashes kept, a blank becomes %20.

    Only those bytes are looked for that occur in the array at all, as most keys hold an equals sign at worst.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = keys.cast(pa.binary())
    first = encoded.offset
    offsets = pa.Array.from_buffers(pa.int32(), len(encoded) + 1, [None, encoded.buffers()[1]], offset=first)
    data = encoded.buffers()[2]
    held = memoryview(data)[offsets[0].as_py() : offsets[-1].as_py()] if data else b""
    special = set(bytes(held).translate(None, _KEPT))
    # The percent sign first, or those that the others bring in would be encoded again.
    for byte in sorted(special, key=lambda byte: (byte != ord("%"), byte)):
        encoded = pc.replace_substring(encoded, bytes([byte]), f"%{byte:02X}".encode())
    return encoded.cast(pa.string())


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
    """The `root` of each Delta table with its `depth` in path parts, and one row of null for what is in no log.

    `objects` counts how many of them a row stands for, so that one reading tells of the tables and of the whole.
    """
    from pyspark.sql import functions as sql

    key = sql.col("key")
    root = (
        sql.when(key.startswith("_delta_log/"), sql.lit(""))
        .when(key.contains("/_delta_log/"), sql.substring_index(key, "/_delta_log/", 1))
        .otherwise(sql.lit(None))
    )
    roots = objects.select(root.alias("root")).groupBy("root").agg(sql.count(sql.lit(1)).alias("objects"))
    depth = sql.when(sql.col("root") == "", sql.lit(0)).otherwise(sql.size(sql.split("root", "/")))
    return roots.select("root", sql.when(sql.col("root").isNotNull(), depth).alias("depth"), "objects")


def is_log(key: Any) -> Any:
    """Whether a key lies in a Delta log."""
    return key.startswith("_delta_log/") | key.contains("/_delta_log/")
