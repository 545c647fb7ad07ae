"""Planning a backup from an inventory of five million objects: Levee's own job against DuckDB and naive Spark.

Same work: read the Parquet inventory, find the Delta tables by their logs, give each object its innermost table and its
lane, write all objects as Parquet by lane and the manifests as CSV with encoded keys, and count by table and lane.
Naive Spark is a session with default settings, as many cores and as much memory, that does it by Python functions on
rows (udf) and `partitionBy`. Both sessions are warm: the first laps do not count.
"""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.backup_data import BUCKET, CUT_OFF, HOME, ROWS, SOURCE, VAULT, inventory
from benchmarks.backup_endpoint import emptied, file_endpoint
from benchmarks.backup_session import Peak, Session, levee_conf, mounted, plain_conf
from benchmarks.backup_table import ratio_line, tell
from benchmarks.harness import ROUNDS, Contest, compete

UNTIMED = 2
LEVEE, DUCKDB, NAIVE = "levee", "DuckDB", "naive Spark"
LIMIT = 5 * 1024**3
Counts = dict[str, int]


def main() -> None:
    """LEVEE_BENCH_ROUNDS and LEVEE_BENCH_ROWS set other numbers."""
    rounds = int(os.environ.get("LEVEE_BENCH_ROUNDS", ROUNDS))
    rows = int(os.environ.get("LEVEE_BENCH_ROWS", ROWS))
    peaks: dict[str, float] = {}
    contest = measure(rows, rounds, peaks)
    tell(f"Planning a backup of {rows:,} objects, {rounds} rounds", contest, peaks)
    ratio_line(contest, LEVEE, DUCKDB, at_most=1.5)
    ratio_line(contest, LEVEE, NAIVE, at_most=1 / 1.3)


def measure(rows: int, rounds: int, peaks: dict[str, float], *, untimed: int = UNTIMED) -> Contest:
    """The laps after the first `untimed`; `peaks` gets the most resident MB of each contestant."""
    home = inventory(rows)
    with (
        tempfile.TemporaryDirectory(prefix="levee-bench-", dir=HOME) as folder,
        file_endpoint(HOME) as origin,
        Session(levee_conf(origin, Path(folder) / "a") | mounted(BUCKET, HOME / BUCKET), Path(folder) / "a") as levee,
        Session(plain_conf(Path(folder) / "b") | mounted(BUCKET, HOME / BUCKET), Path(folder) / "b") as naive,
    ):

        def by_levee() -> Counts:
            params = {"kind": "backup_plan", "params": params_of(home, emptied(HOME / BUCKET / "levee"))}
            with Peak(levee) as peak:
                result = levee.call("benchmarks.backup_session:levee_job", params)["result"]
            peaks[LEVEE] = max(peaks.get(LEVEE, 0.0), peak.megabytes)
            return counts_of(result)

        def by_naive() -> Counts:
            emptied(HOME / BUCKET / "naive")
            with Peak(naive) as peak:
                found = naive.call("benchmarks.backup_plan:naive_plan", {"inventory": home.name})
            peaks[NAIVE] = max(peaks.get(NAIVE, 0.0), peak.megabytes)
            return dict(found)

        contest = compete(
            {LEVEE: by_levee, DUCKDB: lambda: duckdb_plan(home, emptied(HOME / BUCKET / "duckdb")), NAIVE: by_naive},
            rounds=rounds + untimed,
        )
    return Contest({name: laps[untimed:] for name, laps in contest.laps.items()})


def params_of(home: Path, folder: Path) -> dict[str, Any]:
    return {
        "source": {"bucket": SOURCE, "prefix": ""},
        "destination": {"bucket": VAULT, "prefix": ""},
        "folder": {"bucket": BUCKET, "prefix": f"{folder.name}/"},
        "inventory_bucket": BUCKET,
        "inventory_manifest": f"{home.name}/manifest.json",
        "cut_off": CUT_OFF,
        "selection": "all",
        "files": "all",
        "copy_limit": LIMIT,
    }


def counts_of(result: Mapping[str, Any]) -> Counts:
    """What all contestants have to agree on: objects by lane, and how many tables there are."""
    by_lane = {"copy": 0, "multipart": 0}
    for manifest in result["manifests"]:
        by_lane[manifest["lane"]] += manifest["objects"]
    told = {name: int(result[name]) for name in ("archived", "too_new")}
    return dict(sorted({**by_lane, **told, "tables": result["tables"]["count"]}.items()))


def duckdb_plan(home: Path, out: Path) -> Counts:
    """The same work in SQL, on all cores."""
    import duckdb

    source = f"read_parquet('{home}/data/*.parquet')"
    with duckdb.connect() as database:
        database.execute("set preserve_insertion_order = false; set enable_progress_bar = false")
        database.execute(
            f"create temp table roots as select distinct split_part(key, '/_delta_log/', 1) as root, "
            f"len(string_split(root, '/')) as depth from {source} where contains(key, '/_delta_log/')"
        )
        depths = [depth for (depth,) in database.execute("select distinct depth from roots order by 1 desc").fetchall()]
        joins = " ".join(
            f"left join roots as r{depth} on r{depth}.depth = {depth} "
            f"and r{depth}.root = regexp_extract(key, '^[^/]*(?:/[^/]*){{{depth - 1}}}')"
            for depth in depths
        )
        roots = ", ".join(f"r{depth}.root" for depth in depths)
        planned = (
            "select key, size, e_tag as etag, last_modified_date as modified_at, encryption_status, "
            f'coalesce({roots}) as "table", {_LANE} as lane from {source} {joins}'
        )
        database.execute(
            f"copy ({planned}) to '{out}/planned' (format parquet, partition_by (lane), compression snappy)"
        )
        stored = f"read_parquet('{out}/planned/*/*.parquet', hive_partitioning = true)"
        for lane in ("copy", "multipart"):
            lines = (
                f"select '{SOURCE}' as bucket, replace(url_encode(key), '%2F', '/') as key "
                f"from {stored} where lane = '{lane}'"
            )
            database.execute(f"copy ({lines}) to '{out}/{lane}.csv' (format csv, header false)")
        totals = f'select "table", lane, count(*) as objects, sum(size) as bytes from {stored} group by all'
        return _folded(database.execute(totals).fetchall())


_LANE = (
    "case when storage_class in ('GLACIER', 'DEEP_ARCHIVE') then 'archived' "
    f"when last_modified_date > timestamp '{CUT_OFF[:10]}' then 'too_new' "
    f"when size > {LIMIT} then 'multipart' else 'copy' end"
)


def _folded(rows: list[Any]) -> Counts:
    counts: Counts = {"archived": 0, "copy": 0, "multipart": 0, "too_new": 0}
    for _, lane, objects, _ in rows:
        counts[lane] += objects
    return dict(sorted({**counts, "tables": len({row[0] for row in rows if row[0] is not None})}.items()))


def naive_plan(spark: Any, params: Mapping[str, Any]) -> Counts:
    """The same work as one writes it first: Python functions on rows, default settings."""
    from urllib.parse import quote

    from pyspark.sql import functions as sql

    out = f"s3a://{BUCKET}/naive"
    objects = spark.read.parquet(f"s3a://{BUCKET}/{params['inventory']}/data")
    root_of = sql.udf(lambda key: key.split("/_delta_log/")[0] if "/_delta_log/" in key else None, useArrow=False)
    roots = {row[0] for row in objects.select(root_of("key").alias("root")).distinct().collect() if row[0] is not None}

    def table_of(key: str) -> str | None:
        parts = key.split("/")
        return next((root for end in range(len(parts) - 1, 0, -1) if (root := "/".join(parts[:end])) in roots), None)

    archived = sql.col("storage_class").isin("GLACIER", "DEEP_ARCHIVE")
    lane = (
        sql.when(archived, "archived")
        .when(sql.col("last_modified_date") > sql.lit(CUT_OFF[:10]).cast("timestamp"), "too_new")
        .when(sql.col("size") > LIMIT, "multipart")
        .otherwise("copy")
    )
    columns = ("key", "size", "e_tag", "last_modified_date", "encryption_status")
    planned = objects.select(*columns, sql.udf(table_of, useArrow=False)("key").alias("table"), lane.alias("lane"))
    planned.write.partitionBy("lane").parquet(f"{out}/planned")
    stored = spark.read.parquet(f"{out}/planned")
    encoded = sql.udf(lambda key: quote(key, safe="/-_.~"), useArrow=False)
    for name in ("copy", "multipart"):
        lines = stored.where(sql.col("lane") == name).select(sql.lit(SOURCE), encoded("key"))
        lines.write.csv(f"{out}/manifest/{name}")
    return _folded(stored.groupBy("table", "lane").agg(sql.count("*"), sql.sum("size")).collect())


if __name__ == "__main__":
    main()
