"""Keys as DataFrame columns, and joins by them that hash instead of sorting."""

from typing import Any


def decoded(text: Any) -> Any:
    """The key that an encoded one stands for; a plus sign is a blank, as in inventories and reports of S3."""
    from pyspark.sql import functions as sql

    return sql.url_decode(text)


def same(left: Any, right: Any) -> Any:
    """Equality that stays a residual condition: written as `=` it would become a part of the join's key.

    Joined by a 64-bit hash alone, Spark shuffles and compares eight bytes a row, and this tells collisions apart.
    """
    return (left <= right) & (left >= right)


def is_log(key: Any) -> Any:
    """Whether a key lies in a Delta log."""
    return key.startswith("_delta_log/") | key.contains("/_delta_log/")
