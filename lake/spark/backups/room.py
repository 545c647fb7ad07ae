"""Room on the disk for what Spark exchanges between its tasks; refused in a sentence before it runs out."""

import shutil
from pathlib import Path
from typing import Any

from lake.spark.errors import SparkRefused

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
