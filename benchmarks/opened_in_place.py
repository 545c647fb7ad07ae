"""A table of 200,000 files opened in place: how long until Spark has its first row, against opening the original.

Spark is warm and remembers neither table: each lap forgets the logs that it knows. Data files are links to one file, on
this machine's disk. What making the log takes is told beside it: its objects are read, rewritten and written again.
"""

import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.harness import compete, ratio_line, tell
from benchmarks.restorable import EACH, FILES, write_log
from lake.delta.opened_log import LogOpener
from lake.spark.jars import class_path, fetch
from lake.spark.session import LakeEndpoint, session_settings, start_session
from lake.spark.sql import delta_path
from tools.machine import CHECKOUT

ORIGINAL, OPENED = "spark: the original", "spark: opened in place"
VERSIONS = 21
MOST_LINKS = 50_000
"""To one file; ext4 takes no more than 65,000."""


def main() -> None:
    fetch(CHECKOUT / "var")
    with tempfile.TemporaryDirectory() as home:
        table, opened = Path(home) / "t", Path(home) / "opened"
        table.mkdir()
        size = _data_file(Path(home) / "0").stat().st_size
        added = [FILES - EACH * (VERSIONS - 1)] + [EACH] * (VERSIONS - 1)
        for number, path in enumerate(write_log(table / "_delta_log", added, (VERSIONS - 2,), size=size)):
            one = Path(home) / str(number // MOST_LINKS)
            (table / path).hardlink_to(one if one.exists() else _data_file(one))
        began = time.perf_counter()
        objects = _open(table, opened)
        print(f"{objects} objects of the log rewritten in {time.perf_counter() - began:.1f} s")
        endpoint = LakeEndpoint("us-west-2", environment_credentials=True)
        jars = class_path(CHECKOUT / "var")
        spark = start_session(session_settings(endpoint, jars=jars, scratch=Path(home) / "scratch"), "benchmark")
        contestants = {ORIGINAL: lambda: _first_row(spark, table), OPENED: lambda: _first_row(spark, opened)}
        laps = compete(contestants, untimed=2)
        tell(f"{FILES:,} files, first row", laps)
        ratio_line(laps, OPENED, ORIGINAL, at_most=1.3)
        spark.stop()


def _data_file(path: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"id": pa.array([1])}), path)
    return path


def _open(table: Path, opened: Path) -> int:
    """Write the log as a restore point has it: the newest checkpoint, and the commits from there on."""
    log, opener = table / "_delta_log", LogOpener(f"file://{table}/{{}}".format)
    (opened / "_delta_log").mkdir(parents=True)
    names = [one.name for one in log.iterdir() if one.name[:20] >= f"{VERSIONS - 2:020d}" and one.name[0] != "_"]
    for name in names:
        (opened / "_delta_log" / name).write_bytes(opener.opened(name, (log / name).read_bytes()))
    return len(names)


def _first_row(spark: Any, table: Path) -> None:
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    rows = spark.sql(f"SELECT * FROM {delta_path(str(table))} LIMIT 1").collect()
    assert [row[0] for row in rows] == [1]


if __name__ == "__main__":
    main()
