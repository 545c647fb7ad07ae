"""Reconciling a completion report of a million lines: Levee's joins and counts against DuckDB.

Same work: read the report's CSV and decode its keys, put it and the destination's objects beside what was planned, give
each object one outcome, write all outcomes as Parquet, and count objects and bytes by outcome and code. One object in a
hundred failed, one in a thousand is in no report. The destination's listing is a Parquet file for both, as listing is
S3's work. The session is warm: the first laps do not count.
"""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.answers import serving
from benchmarks.backups import BUCKET, CUT_OFF, HOME, SOURCE, UNTIMED, emptied, inventory, levee_spark
from benchmarks.harness import asked, compete, ratio_line, tell
from benchmarks.server import serve
from lake.backup.objects import BucketPrefix
from lake.spark.backups.places import access_of, slots
from lake.spark.backups.reports import REPORTED
from lake.spark.backups.settling import PLANNED, THERE, Settling, parts_for, reads_of, sizes_of
from lake.spark.backups.tasks import shares_of
from lake.spark.backups.tuning import BULK, set_while
from lake.spark.jobs.backup_reconcile import groups_of

ROWS = 1_000_000
LEVEE, DUCKDB = "levee", "DuckDB"
BEGAN = "2026-11-20T00:00:00+00:00"
Counts = Mapping[str, list[int]]


def main() -> None:
    """LEVEE_BENCH_ROWS sets another number of lines."""
    rows = asked("ROWS", ROWS)
    home = _reported(rows)
    with serve(serving(HOME)) as s3, levee_spark(s3.url) as spark:
        parts = parts_for(rows, slots(spark))

        def by_levee() -> Counts:
            emptied(HOME / BUCKET / "reconciled")
            return levee_reconciliation(spark, home.name, parts)

        laps = compete(
            {LEVEE: by_levee, DUCKDB: lambda: duckdb_reconciliation(home, emptied(HOME / BUCKET / "settled"))},
            untimed=UNTIMED,
        )
    tell(f"Reconciling a report of {rows:,} lines", laps)
    ratio_line(laps, LEVEE, DUCKDB, at_most=2.0)


def levee_reconciliation(spark: Any, home: str, parts: int) -> Counts:
    """What the job does once the destination is listed, and it is known how many tasks run at once."""
    access = access_of(spark)
    files = {kind: f"{home}/{name}.parquet" for kind, name in ((PLANNED, "planned"), (THERE, "there"))}
    report = f"{home}/report.csv"
    with set_while(spark, BULK):
        [size] = sizes_of(access, BUCKET, [report])
        reads = shares_of(BUCKET, report, size, kind=REPORTED)
        reads += [read for kind, file in files.items() for read in reads_of(access, kind, BUCKET, [file])]
        kept = BucketPrefix(BUCKET, "reconciled/outcomes/")
        groups = groups_of(spark, Settling(access, SOURCE, kept, datetime.fromisoformat(BEGAN), "", parts), reads)
    return _counts((group["outcome"], group["code"], group["objects"], group["bytes"]) for group in groups)


def duckdb_reconciliation(home: Path, out: Path) -> Counts:
    import duckdb

    columns = ", ".join(f"'{name}': 'varchar'" for name in ("b", "k", "v", "status", "http", "code", "message"))
    report = f"read_csv('{home}/report.csv', header = false, quote = '\"', escape = '\"', columns = {{{columns}}})"
    query = f"""
        with reported as (
            select url_decode(k) as key, max(lower(status) = 'succeeded') as succeeded, max(code) as code
            from {report} where b = '{SOURCE}' group by 1
        )
        select p.key, p.size, p.etag, p.modified_at, p."table", p.lane, t.etag as destination_etag,
            case when t.size = p.size and t.etag = p.etag
                    then case when t.modified_at < timestamptz '{BEGAN}' - interval 60 seconds or not succeeded
                        then 'already_there' else 'copied' end
                when succeeded and t.key is not null then 'changed'
                when not succeeded and code = 'NoSuchKey' then 'vanished'
                when not succeeded and code = 'AccessDenied' then 'denied'
                else 'failed' end as outcome,
            case when outcome in ('copied', 'already_there') then ''
                when succeeded and t.key is null then 'NotAtDestination'
                when succeeded then 'OtherContent'
                when r.key is not null then coalesce(code, 'Unknown') else 'NotReported' end as code
        from read_parquet('{home}/planned.parquet') as p
        left join reported as r on r.key = p.key
        left join read_parquet('{home}/there.parquet') as t on t.key = p.key
    """
    with duckdb.connect() as database:
        database.execute("set preserve_insertion_order = false; set timezone = 'UTC'; set enable_progress_bar = false")
        database.execute(f"copy ({query}) to '{out}/outcomes.parquet' (compression snappy)")
        return _counts(
            database.execute(
                f'select outcome, code, count(*), sum(size), approx_count_distinct("table") '
                f"from '{out}/outcomes.parquet' group by all"
            ).fetchall()
        )


def _counts(rows: Any) -> Counts:
    return {f"{row[0]} {row[1]}": [int(row[2]), int(row[3])] for row in sorted(rows)}


def _reported(rows: int) -> Path:
    """A folder with what was planned, the report and the destination's objects."""
    import duckdb

    home = HOME / BUCKET / f"report-{rows}"
    if (home / "there.parquet").is_file():
        return home
    source = f"read_parquet('{inventory(rows)}/data/*.parquet')"
    home.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as database:
        database.execute("set timezone = 'UTC'")
        database.execute(
            "create temp table planned as select key, size, e_tag as etag, last_modified_date::timestamptz as "
            "modified_at, encryption_status, split_part(key, '/day=', 1) as \"table\", 'copy' as lane, hash(key) as h "
            f"from {source}"
        )
        failed = "h % 100 = 3"
        lines = (
            f"select '{SOURCE}' as b, replace(url_encode(key), '%2F', '/') as k, '' as v, "
            f"case when {failed} then 'failed' else 'succeeded' end as s, "
            f"case when {failed} then case when h % 200 = 3 then '404' else '403' end else '200' end as c, "
            f"case when {failed} then case when h % 200 = 3 then 'NoSuchKey' else 'AccessDenied' end else '' end as e, "
            "'' as m from planned where h % 1000 != 7"
        )
        database.execute(f"copy ({lines}) to '{home}/report.csv' (format csv, header false, force_quote *)")
        database.execute(f"copy (select * exclude h from planned) to '{home}/planned.parquet' (compression snappy)")
        database.execute(
            f"copy (select key, size, etag, timestamptz '{CUT_OFF}' + interval 1 hour as modified_at from planned "
            f"where not {failed} and h % 1000 != 7) to '{home}/there.parquet' (compression snappy)"
        )
    return home


if __name__ == "__main__":
    main()
