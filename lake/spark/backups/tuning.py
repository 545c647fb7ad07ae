"""Settings of a session while it works on millions of rows, and room on the disk for what it exchanges of them."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lake.spark.backups.places import slots
from lake.spark.errors import SparkRefused

PARTITIONS = 64
LEAST_PARTITIONS = 4
ROWS_PER_PARTITION, LEAST_ROWS = 120_000, 10_000
ROWS_AT_ONCE = 400_000
"""What the tasks of one machine may join at once: the build side of a hash join does not spill, and of so many rows two
fit into a heap of 1 GB."""
BULK = {
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
BYTES_PER_OBJECT = 400
"""What comparing takes of an object of a key of 90 bytes, measured; on one machine it is not compressed."""
GIGABYTE = 1e9


def require_room(spark: Any, objects: int) -> None:
    """Refuse to compare so many objects where this machine's disk cannot hold what is exchanged of them.

    A cluster's disks are its own affair. Raises SparkRefused.
    """
    master, folder = (spark.conf.get(name, "") for name in ("spark.master", "spark.local.dir"))
    if not master.startswith("local") or not folder or not Path(folder).is_dir():
        return
    needed, free = objects * BYTES_PER_OBJECT, shutil.disk_usage(folder).free
    if needed > free:
        raise SparkRefused(
            f"To compare {objects:,} objects takes about {needed / GIGABYTE:,.1f} GB on the disk of {folder}, where "
            f"{free / GIGABYTE:,.1f} GB are free: make room there, or have LEVEE_HOME on a larger disk."
        )


def divide(spark: Any, rows: int) -> None:
    """While BULK is set: let joins of about so many rows have partitions that are small enough.

    A task holds what it has joined until it ends: none may take several of these partitions.
    """
    at_once = slots(spark) if spark.conf.get("spark.master", "").startswith("local") else 1
    each = max(LEAST_ROWS, min(ROWS_PER_PARTITION, ROWS_AT_ONCE // at_once))
    spark.conf.set("spark.sql.shuffle.partitions", str(max(LEAST_PARTITIONS, -(-rows // each))))


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
