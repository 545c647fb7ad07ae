"""Settings of a session while it works on millions of rows, and back to what they were for small jobs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

BULK = {
    # Small partitions keep the build side of a hash join, which does not spill, within a heap of 1 GB.
    "spark.sql.shuffle.partitions": "64",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
    # Roots of tables are broadcast by name; nothing else is to be, on an estimate that may be wrong.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}


@contextmanager
def bulk_settings(spark: Any) -> Iterator[None]:
    """Set BULK for as long as the block lasts."""
    before = {name: spark.conf.get(name, None) for name in BULK}
    for name, value in BULK.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)
