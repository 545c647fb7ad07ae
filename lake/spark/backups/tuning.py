"""Settings of a session while it works on millions of rows, and back to what they were for small jobs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

PARTITIONS = 64
LEAST_PARTITIONS = 4
ROWS_PER_PARTITION = 120_000
BULK = {
    # Small partitions keep the build side of a hash join, which does not spill, within a heap of 1 GB.
    "spark.sql.shuffle.partitions": str(PARTITIONS),
    # It would put them together until there are as few as cores; and of few stages, known before, none is improved by
    # being planned anew when another ends.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
    # Roots of tables are broadcast by name; nothing else is to be, on an estimate that may be wrong.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}
EXCHANGE = {
    # A row may be of megabytes: Java's own memory then holds a few, and Python reads while it fetches others.
    "spark.sql.execution.arrow.maxBytesPerBatch": "4m",
    # What is put together last are counts, of each task a few.
    "spark.sql.shuffle.partitions": "1",
}


def divide(spark: Any, rows: int) -> None:
    """Within `bulk_settings`: let joins of about so many rows have partitions that are small enough."""
    spark.conf.set("spark.sql.shuffle.partitions", str(max(LEAST_PARTITIONS, -(-rows // ROWS_PER_PARTITION))))


@contextmanager
def bulk_settings(spark: Any) -> Iterator[None]:
    """Set BULK for as long as the block lasts."""
    with set_while(spark, BULK):
        yield


@contextmanager
def set_while(spark: Any, settings: Mapping[str, str]) -> Iterator[None]:
    """Set these for as long as the block lasts."""
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)
