"""Planning a backup from an inventory of five million objects: Levee's own job against DuckDB.

Same work: read the Parquet inventory, find the Delta tables by their logs, give each object its innermost table and its
lane, write all objects as Parquet by lane and the manifests as CSV with encoded keys, and count by table and lane.
The session is warm: the first laps do not count.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.answers import serving
from benchmarks.backups import (
    BUCKET,
    CUT_OFF,
    HOME,
    ROWS,
    SOURCE,
    UNTIMED,
    VAULT,
    emptied,
    inventory,
    levee_spark,
    run_job,
)
from benchmarks.harness import asked, compete, ratio_line, tell
from benchmarks.server import serve

LEVEE, DUCKDB = "levee", "DuckDB"
LIMIT = 5 * 1024**3
Counts = dict[str, int]


def main() -> None:
    """LEVEE_BENCH_ROWS sets another number of objects."""
    rows = asked("ROWS", ROWS)
    home = inventory(rows)
    with serve(serving(HOME)) as s3, levee_spark(s3.url) as spark:

        def by_levee() -> Counts:
            return counts_of(run_job(spark, "backup_plan", params_of(home, emptied(HOME / BUCKET / "levee"))))

        laps = compete(
            {LEVEE: by_levee, DUCKDB: lambda: duckdb_plan(home, emptied(HOME / BUCKET / "duckdb"))}, untimed=UNTIMED
        )
    tell(f"Planning a backup of {rows:,} objects", laps)
    ratio_line(laps, LEVEE, DUCKDB, at_most=1.5)


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


if __name__ == "__main__":
    main()
