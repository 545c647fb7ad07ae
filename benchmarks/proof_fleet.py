"""Proving a fleet of small tables from a backup, at 30 ms for each answer: Levee against deltalake with 64 threads.

500 tables of 20 commits, each of 10 files, with a checkpoint of version 10. Levee lists each table and proves all its
versions, for which it reads every commit: in one process, and as a job of a warm Spark, whose time is compared.
deltalake opens the newest version and lists its files, of which it looks for none. All answer how many files there are;
the stand-in counts the requests.
"""

import multiprocessing
import tempfile
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from ctypes import c_longlong
from hashlib import md5
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import deltalake

from benchmarks.answers import MODIFIED_XML, NAMESPACE, stored
from benchmarks.backups import levee_spark, run_job
from benchmarks.harness import asked, compete, ratio_line, tell
from benchmarks.restorable import write_log
from benchmarks.server import Answer, Request, respond, serve
from lake.aws.access import Access, open_lake
from lake.backup.objects import BucketPrefix
from lake.points.copies import roots_below
from lake.points.proven import ProvenTable, read_line
from lake.points.proving import REQUESTS_AT_ONCE, prove_copy

TABLES, COMMITS, FILES, LATENCY, THREADS = 500, 20, 10, 0.030, 64
BUCKET, LEVEE, SPARK, DELTALAKE = "vault", "levee, one process", "levee, Spark", "deltalake, 64 threads"
KEYS = ("bench", "bench")


def main() -> None:
    """LEVEE_BENCH_TABLES sets another number of tables."""
    tables = asked("TABLES", TABLES)
    log, files = _table()
    objects = {f"t{number:05}/{name}": body for number in range(tables) for name, body in log.items()}
    sizes = {f"t{number:05}/{name}": size for number in range(tables) for name, size in files.items()}
    count = multiprocessing.get_context("fork").Value(c_longlong, 0)
    requests: dict[str, float] = {}
    with (
        serve(_answers(objects, sizes, count), latency=LATENCY, processes=3) as s3,
        levee_spark(s3.url) as spark,
    ):

        def counted(name: str, run: Callable[[], int]) -> Callable[[], int]:
            def lap() -> int:
                before = count.value
                found = run()
                requests[name] = (count.value - before) / tables
                return found

            return lap

        contestants = {
            SPARK: counted(SPARK, lambda: _by_spark(spark, tables)),
            LEVEE: counted(LEVEE, lambda: _by_levee(s3.url)),
            DELTALAKE: counted(DELTALAKE, lambda: _by_deltalake(s3.url, tables)),
        }
        laps = compete(contestants, untimed=1)
    tell(f"Proving {tables:,} tables at {LATENCY * 1000:.0f} ms", laps)
    for name, number in requests.items():
        print(f"{name:36} {number:9.1f} requests a table")
    ratio_line(laps, SPARK, DELTALAKE, at_most=0.7)


def _by_spark(spark: Any, tables: int) -> int:
    params = {
        "roots": [f"t{number:05}" for number in range(tables)],
        "destination": {"bucket": BUCKET, "prefix": ""},
        "source_bucket": "",
        "bucket_owners": {},
        "plan": "",
        "run": "",
        "encryption_key": "",
        "objective_hours": None,
    }
    result = run_job(spark, "backup_prove", params)
    assert not result["left"], result["left"][:3]
    return _files(map(read_line, result["tables"]))


def _by_levee(url: str) -> int:
    place = BucketPrefix(BUCKET, "")
    access = Access("us-east-1", endpoint_url=url, static_credentials=KEYS)
    with (
        open_lake(access, parallel=REQUESTS_AT_ONCE) as lake,
        closing(prove_copy(lake.s3, place, "", None, roots_below(lake.s3, place, ""))) as proven,
    ):
        return _files(proven)


def _files(proven: Iterable[ProvenTable]) -> int:
    whole = [one.proof.newest for one in proven if one.proof.ranges == ((0, COMMITS - 1),)]
    return sum(one.files for one in whole if one)


def _by_deltalake(url: str, tables: int) -> int:
    options = {
        "AWS_ENDPOINT_URL": url,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": KEYS[0],
        "AWS_SECRET_ACCESS_KEY": KEYS[1],
        "AWS_REGION": "us-east-1",
    }

    def files_of(number: int) -> int:
        return len(deltalake.DeltaTable(f"s3://{BUCKET}/t{number:05}", storage_options=options).file_uris())

    with ThreadPoolExecutor(THREADS) as pool:
        return sum(pool.map(files_of, range(tables)))


def _table() -> tuple[dict[str, bytes], dict[str, int]]:
    """The log of one table, and the bytes of its files."""
    with tempfile.TemporaryDirectory(prefix="levee-bench-") as home:
        log = Path(home) / "_delta_log"
        files = write_log(log, [FILES] * COMMITS, (10,))
        return {f"_delta_log/{one.name}": one.read_bytes() for one in log.iterdir()}, files


def _answers(objects: Mapping[str, bytes], sizes: Mapping[str, int], count: Any) -> Answer:
    """S3 with these objects, and others of which it knows the size alone; each request is counted."""
    etags = {body: md5(body).hexdigest() for body in set(objects.values())}  # noqa: S324 - as S3 has it
    keys = sorted([*objects, *sizes])
    lines = {
        key: f"<Contents><Key>{key}</Key><LastModified>{MODIFIED_XML}</LastModified><ETag>&quot;"
        f"{etags[objects[key]] if key in objects else 'other'}&quot;</ETag><Size>"
        f"{len(objects[key]) if key in objects else sizes[key]}</Size><StorageClass>STANDARD</StorageClass></Contents>"
        for key in keys
    }

    def answer(request: Request) -> bytes:
        with count.get_lock():
            count.value += 1
        path, _, query = request.target.partition("?")
        words = dict(parse_qsl(query, keep_blank_values=True))
        if "list-type" in words:
            prefix = words.get("prefix", "")
            after = words.get("continuation-token") or words.get("start-after", "")
            start = max(bisect_left(keys, prefix), bisect_right(keys, after))
            page = [key for key in keys[start : start + 1_000] if key.startswith(prefix)]
            following = keys[start + 1_000] if start + 1_000 < len(keys) else ""
            more = following.startswith(prefix) and len(page) == 1_000
            token = f"<NextContinuationToken>{page[-1]}</NextContinuationToken>" if more else ""
            encoded = "<EncodingType>url</EncodingType>" if words.get("encoding-type") == "url" else ""
            head = f"{encoded}<IsTruncated>{str(more).lower()}</IsTruncated><KeyCount>{len(page)}</KeyCount>{token}"
            body = f"<ListBucketResult {NAMESPACE}>{head}{''.join(lines[key] for key in page)}</ListBucketResult>"
            return respond(200, body.encode())
        found = objects.get(unquote(path).removeprefix(f"/{BUCKET}/"))
        return stored(request, found, etags[found] if found is not None else "")

    return answer


if __name__ == "__main__":
    main()
