"""What of today's inventory the vault has already: five million objects against five million, on Spark and DuckDB.

The join is the one of Levee's planning, within the settings that its jobs set. The peer is the same question as one
writes it first, by three equal columns, in a session of Spark's defaults, which sorts both sides and merges them.
"""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.backup_data import BUCKET, HOME, ROWS, inventory
from benchmarks.backup_session import Peak, Session, levee_conf, mounted, plain_conf
from benchmarks.backup_table import memory_line, ratio_line, tell
from benchmarks.harness import ROUNDS, Contest, compete

UNTIMED = 1
MOST_MEGABYTES = 3_000.0
LEVEE, SORTED, DUCKDB = "levee", "Spark's sort-merge join", "DuckDB"


def main() -> None:
    """LEVEE_BENCH_ROUNDS and LEVEE_BENCH_ROWS set other numbers."""
    rounds = int(os.environ.get("LEVEE_BENCH_ROUNDS", ROUNDS))
    rows = int(os.environ.get("LEVEE_BENCH_ROWS", ROWS))
    peaks: dict[str, float] = {}
    contest = measure(rows, rounds, peaks)
    tell(f"The difference of {rows:,} objects to as many of the day before, {rounds} rounds", contest, peaks)
    ratio_line(contest, LEVEE, SORTED, at_most=0.5)
    memory_line(LEVEE, peaks[LEVEE], MOST_MEGABYTES)


def measure(rows: int, rounds: int, peaks: dict[str, float], *, untimed: int = UNTIMED) -> Contest:
    """The laps after the first `untimed`; `peaks` gets the most resident MB of each session."""
    today, before = inventory(rows, day=2), inventory(rows)
    work = {
        "today": f"s3a://{BUCKET}/{today.name}/data",
        "before": f"s3a://{BUCKET}/{before.name}/data",
        "rows": rows,
    }
    with (
        tempfile.TemporaryDirectory(prefix="levee-bench-", dir=HOME) as scratch,
        Session(levee_conf("", Path(scratch) / "a") | mounted(BUCKET, HOME / BUCKET), Path(scratch) / "a") as levee,
        Session(plain_conf(Path(scratch) / "b") | mounted(BUCKET, HOME / BUCKET), Path(scratch) / "b") as plain,
    ):

        def by(name: str, session: Session, function: str) -> int:
            with Peak(session) as peak:
                found = session.call(f"benchmarks.backup_incremental:{function}", work)
            peaks[name] = max(peaks.get(name, 0.0), peak.megabytes)
            return int(found)

        contest = compete(
            {
                LEVEE: lambda: by(LEVEE, levee, "levee_difference"),
                SORTED: lambda: by(SORTED, plain, "sorted_difference"),
                DUCKDB: lambda: duckdb_difference(today, before),
            },
            rounds=rounds + untimed,
        )
    return Contest({name: laps[untimed:] for name, laps in contest.laps.items()})


def levee_difference(spark: Any, params: Mapping[str, Any]) -> int:
    """How many objects of today are to be copied, by the join of Levee's planning."""
    from pyspark.sql import functions as sql

    from lake.spark.backups.selection import without_pool
    from lake.spark.backups.tuning import bulk_settings, divide

    with bulk_settings(spark):
        pool = _objects(spark, params["before"])
        pool = pool.select(*(sql.col(name).alias(f"pool_{name}") for name in ("key", "size", "etag")))
        today = _objects(spark, params["today"])
        # Planning knows the number from having looked for tables.
        divide(spark, params["rows"])
        laned = today.withColumn("lane", sql.lit("copy"))
        # Logs are copied again whatever the vault has; the peers are asked for no more than the difference.
        left = without_pool(laned, pool, lanes=("copy",), keeps_logs=False)
        return int(left.where(sql.col("lane") == "copy").count())


def sorted_difference(spark: Any, params: Mapping[str, Any]) -> int:
    today, before = (_objects(spark, params[name]) for name in ("today", "before"))
    return int(today.join(before, ["key", "size", "etag"], "left_anti").count())


def _objects(spark: Any, folder: str) -> Any:
    from pyspark.sql import functions as sql

    return spark.read.parquet(folder).select("key", "size", sql.col("e_tag").alias("etag"))


def duckdb_difference(today: Path, before: Path) -> int:
    import duckdb

    with duckdb.connect() as database:
        found = database.execute(
            f"select count(*) from read_parquet('{today}/data/*.parquet') as today "
            f"anti join read_parquet('{before}/data/*.parquet') as before using (key, size, e_tag)"
        ).fetchone()
    assert found is not None
    return int(found[0])


if __name__ == "__main__":
    main()
