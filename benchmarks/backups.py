"""What the benchmarks of backups stand on: seeded inventories in the shape of S3's own, and one warm Spark."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lake.spark.jars import fetch
from lake.spark.jobs.report import Report
from lake.spark.session import LakeEndpoint, start_session
from lake.spark.settings import ROOT, Credentials, WorkerSettings, environment, session_conf
from lake.spark.worker import JOBS

HOME = Path(os.environ.get("LEVEE_BENCH_DATA") or ROOT / "var" / "bench").resolve()
JARS_HOME = Path(os.environ.get("LEVEE_HOME") or ROOT / "var").resolve()
BUCKET, SOURCE, VAULT = "bench", "acme-lake", "acme-vault"
ROWS, TABLES, FILES = 5_000_000, 500, 10
CUT_OFF = "2026-11-20T00:00:00+00:00"
UNTIMED = 2
"""Rounds in which Spark warms up."""

# Table sizes are Zipf-like; roots lie two to four folders deep; a twentieth of a table's keys are its log, and one key
# in fifty lies outside all tables. One object in a thousand is above 5 GiB, one in two hundred archived, one in three
# hundred too new.
_OBJECTS = """
select
    '{source}' as bucket,
    case
        when u % 50 = 0 then 'landing/' || (u % 977) || '/drop ' || i || '.json'
        when u % 20 = 1 then root || '/_delta_log/' || lpad(i::varchar, 20, '0') || '.json'
        else root || '/day=2026-' || lpad((1 + v % 12)::varchar, 2, '0') || '-' || lpad((1 + v % 28)::varchar, 2, '0')
            || '/part-' || lpad((v % 4096)::varchar, 5, '0') || '-' || md5(i::varchar) || '-c000.snappy.parquet'
    end as key,
    case when v % 1000 = 7 then 6442450944 else 1024 + v % 134217728 end::bigint as size,
    timestamp '2026-01-01' + to_seconds((case when v % 300 = 11 then 28512000 else v % 27000000 end)::bigint)
        as last_modified_date,
    md5(i::varchar) as e_tag,
    case when v % 200 = 17 then 'GLACIER' else 'STANDARD' end as storage_class,
    'SSE-S3' as encryption_status
from (
    select i, hash(i) as u, hash(i + 10_000_000_000) as v, roots.root
    from range({first}, {last}) as numbers(i)
    join roots on roots.number = cast(floor(pow({tables} + 1, (hash(i + 5) % 1000003) / 1000003.0)) as bigint) - 1
)
"""
SCHEMA = (
    "message s3.inventory { required binary bucket (UTF8); required binary key (UTF8); optional int64 size; "
    "optional int64 last_modified_date (TIMESTAMP_MILLIS); optional binary e_tag (UTF8); "
    "optional binary storage_class (UTF8); optional binary encryption_status (UTF8); }"
)
_ROOTS = """
create temp table roots as
select number, case number % 3
    when 0 then 'lake/t' || number
    when 1 then 'lake/sales/t' || number
    else 'lake/sales/eu/t' || number end as root
from range({tables}) as numbers(number)
"""


def inventory(rows: int = ROWS) -> Path:
    """The folder of an inventory of `rows` objects.

    Below it lie `data/*.parquet` and `manifest.json`, which names s3://BUCKET/<this folder's name>/data/….
    """
    home = HOME / BUCKET / f"inventory-{rows}"
    if not (home / "manifest.json").is_file():
        _make(home, rows)
    return home


def _make(home: Path, rows: int) -> None:
    import duckdb

    (home / "data").mkdir(parents=True, exist_ok=True)
    step = -(-rows // FILES)
    with duckdb.connect() as database:
        database.execute(_ROOTS.format(tables=TABLES))
        for number, first in enumerate(range(0, rows, step)):
            query = _OBJECTS.format(source=SOURCE, tables=TABLES, first=first, last=min(rows, first + step))
            database.execute(f"copy ({query}) to '{home}/data/{number}.parquet' (compression snappy)")
    write_manifest(home)


def write_manifest(home: Path) -> None:
    """That of an inventory whose files lie in the folder."""
    files = [
        {"key": f"{home.name}/data/{path.name}", "size": path.stat().st_size, "MD5checksum": _md5(path)}
        for path in sorted((home / "data").iterdir())
    ]
    manifest = {
        "sourceBucket": SOURCE,
        "destinationBucket": f"arn:aws:s3:::{BUCKET}",
        "version": "2016-11-30",
        "creationTimestamp": "1795132800000",
        "fileFormat": "Parquet",
        "fileSchema": SCHEMA,
        "files": files,
    }
    (home / "manifest.json").write_text(json.dumps(manifest))


def _md5(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def emptied(folder: Path) -> Path:
    """That folder, with nothing in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


@contextmanager
def levee_spark(origin: str) -> Iterator[Any]:
    """Spark as Levee's worker starts it, in this process, with S3 at that origin.

    What Spark itself writes to BUCKET goes to its folder, as DuckDB's does; what Levee sends goes to the origin.
    """
    fetch(JARS_HOME)
    endpoint = LakeEndpoint("us-east-1", origin, environment_credentials=True)
    settings = WorkerSettings(endpoint, "local[*]", Credentials("bench", "bench"))
    os.environ.update(environment(settings))
    with tempfile.TemporaryDirectory(prefix="levee-bench-", ignore_cleanup_errors=True) as scratch:
        spark = start_session(session_conf(settings, JARS_HOME, Path(scratch)) | _mounted())
        yield spark
        spark.stop()


def _mounted() -> dict[str, str]:
    """Settings that make `s3a://BUCKET/` a folder of this machine."""
    return {
        "spark.hadoop.fs.s3a.impl": "org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme",
        "spark.hadoop.fs.viewfs.overload.scheme.target.s3a.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
        f"spark.hadoop.fs.viewfs.mounttable.{BUCKET}.linkFallback": f"file://{HOME / BUCKET}",
        # S3A's own committer takes no other file system.
        "spark.hadoop.mapreduce.outputcommitter.factory.scheme.s3a": (
            "org.apache.hadoop.mapreduce.lib.output.FileOutputCommitterFactory"
        ),
    }


def run_job(spark: Any, kind: str, params: dict[str, Any]) -> Any:
    """Run a job of Levee's as its worker does."""
    return JOBS[kind](spark, params, Report(lambda **message: None))


def copy_by_s5cmd(url: str, copies: Iterable[tuple[str, str]], folder: Path) -> None:
    """Copy objects, each by its URI and the new one, by `s5cmd run` at its default of 256 workers."""
    commands = folder / "commands.txt"
    commands.write_text("".join(f'cp "{one}" "{other}"\n' for one, other in copies))
    subprocess.run(
        [Path(sys.executable).with_name("s5cmd"), "--endpoint-url", url, "--log", "error", "run", commands],
        check=True,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench", "AWS_REGION": "us-east-1"},
    )
