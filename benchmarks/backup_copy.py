"""Copying what a manifest names, at 30 ms for each answer: Levee's Spark job against `s5cmd run` and a pool of boto3.

5,000 objects of 4 KiB, copied within S3 as all three ask it to. s5cmd runs at its default of 256 workers from a file of
commands, boto3 with ten threads, its own default of connections. Levee's time is its whole job in a warm session:
reading the manifest, asking what is there already, copying, and the completion report. All of it goes to the stand-in,
whose CPU is told; manifest and report, which s5cmd has on this machine's disk, are answered without delay.
"""

import multiprocessing
import statistics
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from ctypes import c_longlong
from pathlib import Path
from typing import Any

import boto3
import pyarrow as pa
from pyarrow import parquet

from benchmarks.answers import ETAG, copying, serving
from benchmarks.backups import BUCKET, HOME, SOURCE, UNTIMED, VAULT, copy_by_s5cmd, emptied, levee_spark, run_job
from benchmarks.harness import asked, compete, ratio_line, tell
from benchmarks.server import serve

OBJECTS, BYTES, LATENCY, THREADS = 5_000, 4096, 0.030, 10
LEVEE, S5CMD, BOTO3 = "levee", "s5cmd run", "boto3, 10 threads"


def main() -> None:
    """LEVEE_BENCH_OBJECTS sets another number of objects."""
    objects = asked("OBJECTS", OBJECTS)
    keys = [f"lake/t1/day=2026-11-{1 + i % 28:02}/part-{i:06}.parquet" for i in range(objects)]
    copies = [(f"s3://{SOURCE}/{key}", f"s3://{VAULT}/{key}") for key in keys]
    count = multiprocessing.get_context("fork").Value(c_longlong, 0)
    used: dict[str, list[float]] = {LEVEE: [], S5CMD: [], BOTO3: []}
    answer = copying(serving(HOME), BUCKET, count)
    with (
        tempfile.TemporaryDirectory(prefix="levee-bench-") as folder,
        serve(answer, latency=LATENCY, at_once=(f"/{BUCKET}/",), processes=3) as s3,
        levee_spark(s3.url) as spark,
    ):

        def counted(name: str, run: Callable[[], object]) -> Callable[[], object]:
            """The run, answering how many copies the stand-in made for it."""

            def lap() -> int:
                cpu, copies = s3.cpu_seconds(), count.value
                run()
                used[name].append(s3.cpu_seconds() - cpu)
                return int(count.value - copies)

            return lap

        laps = compete(
            {
                LEVEE: counted(LEVEE, lambda: _by_levee(spark, keys)),
                S5CMD: counted(S5CMD, lambda: copy_by_s5cmd(s3.url, copies, Path(folder))),
                BOTO3: counted(BOTO3, lambda: _by_boto3(s3.url, keys)),
            },
            untimed=UNTIMED,
        )
    tell(f"Copying {objects:,} objects at {LATENCY * 1000:.0f} ms", laps)
    for name, walls in laps.items():
        rate, share = objects / statistics.median(walls), sum(used[name][UNTIMED:]) / sum(walls)
        print(f"{name:36} {rate:9,.0f} copies/s, the stand-in at {share:.0%} of a core")
    ratio_line(laps, LEVEE, S5CMD, at_most=1.0)
    ratio_line(laps, LEVEE, BOTO3, at_most=1 / 3)


def _by_levee(spark: Any, keys: list[str]) -> None:
    folder = emptied(HOME / BUCKET / "copy")
    count = len(keys)
    planned = {"key": keys, "size": pa.array([BYTES] * count, pa.int64()), "etag": [ETAG] * count}
    parquet.write_table(pa.table(planned), folder / "m.parquet")
    params = {
        "manifest": {"lane": "copy", "bucket": BUCKET, "key": "copy/m.csv", "objects": count},
        "source": {"bucket": SOURCE, "prefix": ""},
        "destination": {"bucket": VAULT, "prefix": ""},
        "report": {"bucket": BUCKET, "prefix": "copy/report"},
        "token": "bench",
    }
    result = run_job(spark, "backup_copy", params)
    assert result == {"done": count, "failed": 0}, result


def _by_boto3(url: str, keys: list[str]) -> None:
    keys_of = boto3.Session("bench", "bench", region_name="us-east-1")
    s3 = keys_of.client("s3", endpoint_url=url)

    def copy(key: str) -> None:
        s3.copy_object(Bucket=VAULT, Key=key, CopySource={"Bucket": SOURCE, "Key": key})

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(copy, keys))


if __name__ == "__main__":
    main()
