"""What proving its tables adds to a run, at 30 ms for each answer: to a first run, and to one that finds all there.

A lake of a million objects: 500 tables of 50 commits, with checkpoints of each tenth and about 39 files a commit. The
jobs are those of a run in one warm Spark, from an inventory on: plan, copy, reconcile, and prove, which compares the
logs with the source's and keeps a restore point of each table. The stand-in has one ETag for all; what it copies is
there from when the copying has ended, but restore points are files.
"""

import multiprocessing
import shutil
import statistics
import tempfile
import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import pyarrow as pa
from pyarrow import parquet

from benchmarks.answers import COPIED, ETAG, MODIFIED_XML, NAMESPACE, serving, stored
from benchmarks.backups import BUCKET, CUT_OFF, HOME, SOURCE, VAULT, emptied, levee_spark, run_job, write_manifest
from benchmarks.harness import asked
from benchmarks.restorable import write_log
from benchmarks.server import Answer, Request, respond, serve
from lake.backup.objects import POINTS
from lake.points.proven import read_line

TABLES, COMMITS, FILES, LATENCY, ROUNDS = 500, 50, 39, 0.030, 5
SOME = 1_000
"""Keys of a page."""
JOBS = ("plan", "copy", "reconcile", "prove")
PLACES = {"source": {"bucket": SOURCE, "prefix": ""}, "destination": {"bucket": VAULT, "prefix": ""}}


def main() -> None:
    """LEVEE_BENCH_TABLES sets another number of tables, LEVEE_BENCH_ROUNDS one of rounds."""
    lake = _Lake(asked("TABLES", TABLES), *_table())
    home = _inventory(lake)
    is_copied = multiprocessing.get_context("fork").Value("b", 0)
    runs: dict[str, list[list[float]]] = {"a first run": [], "one that finds all there": []}
    with (
        serve(_answers(lake, is_copied), latency=LATENCY, at_once=(f"/{BUCKET}/",), processes=3) as s3,
        levee_spark(s3.url) as spark,
    ):
        for _ in range(asked("ROUNDS", ROUNDS)):
            is_copied.value = 0
            shutil.rmtree(HOME / VAULT, ignore_errors=True)
            for laps in runs.values():
                laps.append(list(_run(spark, lake, home, is_copied)))
    print(f"\nRuns of {lake.tables * len(lake.sizes):,} objects in {lake.tables:,} tables")
    for name, laps in runs.items():
        medians = map(statistics.median, zip(*laps, strict=True))
        told = ", ".join(f"{job} {seconds:.1f} s" for job, seconds in zip(JOBS, medians, strict=True))
        shares = sorted(took[-1] / sum(took[:-1]) for took in laps)
        share = statistics.median(shares)
        verdict = "reached" if share <= 0.25 else "MISSED"
        print(f"{name}: {told}: proving adds {share:.0%} ({shares[0]:.0%} to {shares[-1]:.0%}), at most 25 % {verdict}")


@dataclass(frozen=True)
class _Lake:
    """Tables that are all the same: of one, the bodies of its log and the bytes of all its objects, by key below it."""

    tables: int
    log: Mapping[str, bytes]
    sizes: Mapping[str, int]

    def root(self, number: int) -> str:
        return f"t{number:05}"

    def keys(self) -> Iterator[str]:
        return (f"{self.root(number)}/{name}" for number in range(self.tables) for name in self.sizes)


def _table() -> tuple[dict[str, bytes], dict[str, int]]:
    with tempfile.TemporaryDirectory(prefix="levee-bench-") as home:
        log = Path(home) / "_delta_log"
        files = write_log(log, [FILES] * COMMITS, range(10, COMMITS, 10))
        bodies = {f"_delta_log/{one.name}": one.read_bytes() for one in log.iterdir() if one.name[0] != "_"}
    sizes = {name: len(body) for name, body in bodies.items()} | files
    return bodies, dict(sorted(sizes.items()))


def _inventory(lake: _Lake) -> str:
    """The folder of an inventory of the whole lake."""
    home = emptied(HOME / BUCKET / "proof-share")
    (home / "data").mkdir()
    keys = list(lake.keys())
    columns = {
        "bucket": [SOURCE] * len(keys),
        "key": keys,
        "size": pa.array(list(lake.sizes.values()) * lake.tables, pa.int64()),
        "last_modified_date": pa.array([datetime(2026, 11, 19, tzinfo=UTC)] * len(keys), pa.timestamp("ms")),
        "e_tag": [ETAG] * len(keys),
        "storage_class": ["STANDARD"] * len(keys),
        "encryption_status": ["SSE-S3"] * len(keys),
    }
    whole = pa.table(columns)
    each = -(-len(keys) // 4)
    for number in range(4):
        parquet.write_table(whole.slice(number * each, each), home / "data" / f"{number}.parquet")
    write_manifest(home)
    return home.name


def _run(spark: Any, lake: _Lake, home: str, is_copied: Any) -> Iterator[float]:
    """Seconds of each of JOBS."""
    folder = emptied(HOME / BUCKET / "share").name
    common = PLACES | {"folder": {"bucket": BUCKET, "prefix": f"{folder}/"}}
    answers: dict[str, Any] = {}

    def seconds(kind: str, params: Mapping[str, Any]) -> float:
        began = time.perf_counter()
        answers[kind] = run_job(spark, f"backup_{kind}", {**common, **params})
        return time.perf_counter() - began

    found = {"inventory_bucket": BUCKET, "inventory_manifest": f"{home}/manifest.json", "cut_off": CUT_OFF}
    yield seconds("plan", {**found, "selection": "incremental", "files": "all", "copy_limit": 5 * 1024**3})
    planned = answers["plan"]
    reports = [{"bucket": BUCKET, "prefix": f"{folder}/report-{n}/"} for n in range(len(planned["manifests"]))]
    orders = [
        {"manifest": manifest, "report": report, "token": "bench"}
        for manifest, report in zip(planned["manifests"], reports, strict=True)
    ]
    yield sum(seconds("copy", order) for order in orders)
    assert answers["copy"] == {"done": orders[-1]["manifest"]["objects"], "failed": 0}, answers["copy"]
    is_copied.value = 1
    yield seconds("reconcile", {**found, "planned": planned["facts"], "reports": reports, "encryption_key": ""})
    counts = {name: count for name, count in answers["reconcile"]["counts"].items() if count}
    assert sum(counts.values()) == lake.tables * len(lake.sizes), counts
    assert counts.keys() <= {"copied", "already_there"}, counts
    of_run = {"plan": "bench", "run": "bench", "source_bucket": SOURCE, "encryption_key": "", "objective_hours": None}
    roots = [lake.root(number) for number in range(lake.tables)]
    now = datetime.now(UTC).isoformat()
    yield seconds("prove", {**of_run, "roots": roots, "bucket_owners": {}, "began": now})
    proofs = [table.proof for table in map(read_line, answers["prove"]["tables"])]
    assert [proof.ranges for proof in proofs] == [((0, COMMITS - 1),)] * lake.tables, proofs[:1]
    assert len(list((HOME / VAULT / POINTS).rglob("*.jsonl.gz"))) == lake.tables


def _answers(lake: _Lake, is_copied: Any) -> Answer:
    files = serving(HOME)
    lines = {
        name: f"</Key><LastModified>{MODIFIED_XML}</LastModified><ETag>&quot;{ETAG}&quot;</ETag><Size>{size}</Size>"
        "<StorageClass>STANDARD</StorageClass></Contents>"
        for name, size in lake.sizes.items()
    }
    names = list(lines)

    def page(prefix: str, after: str, delimiter: str) -> bytes:
        """A page of the keys below a table, or of all; with a delimiter the tables alone are folders."""
        root, slash, rest = prefix.partition("/")
        if delimiter and not slash:
            folders = (lake.root(number) for number in range(lake.tables))
            return _listing("".join(f"<CommonPrefixes><Prefix>{one}/</Prefix></CommonPrefixes>" for one in folders), "")
        table, _, last = after.partition("/")
        first = int((table or root).removeprefix("t") or 0)
        roots = map(lake.root, range(first, first + 1 if slash else lake.tables))
        starts = chain([bisect_right(names, last) if after else 0], repeat(0))
        below = ((one, name) for one in roots for name in names[next(starts) :] if name.startswith(rest))
        keys = (f"{one}/{name}" for one, name in below)
        found = list(islice(keys, SOME + 1))
        told = "".join(f"<Contents><Key>{key}{lines[key.partition('/')[2]]}" for key in found[:SOME])
        return _listing(told, found[SOME - 1] if len(found) > SOME else "")

    def answer(request: Request) -> bytes:
        path, _, query = request.target.partition("?")
        bucket, _, key = unquote(path).removeprefix("/").partition("/")
        words = dict(parse_qsl(query))
        prefix = words.get("prefix", "")
        if bucket == BUCKET or prefix.startswith(POINTS):
            return files(request)
        if key.startswith(POINTS):
            return _of_points(request, HOME / bucket / key, lake, files)
        if "x-amz-copy-source" in request.headers:
            return respond(200, COPIED.encode())
        if bucket == VAULT and not is_copied.value:
            return _listing("", "") if "list-type" in words else respond(404)
        if "list-type" in words:
            return page(
                prefix, words.get("continuation-token") or words.get("start-after", ""), words.get("delimiter", "")
            )
        return stored(request, lake.log.get(key.partition("/")[2]))

    return answer


def _listing(told: str, token: str) -> bytes:
    following = f"<NextContinuationToken>{token}</NextContinuationToken>" if token else ""
    head = f"<EncodingType>url</EncodingType><IsTruncated>{str(bool(token)).lower()}</IsTruncated>{following}"
    return respond(200, f"<ListBucketResult {NAMESPACE}>{head}{told}</ListBucketResult>".encode())


def _of_points(request: Request, file: Path, lake: _Lake, files: Answer) -> bytes:
    """What is written is written once."""
    origin = unquote(request.headers.get("x-amz-copy-source", ""))
    if not origin:
        return respond(412) if request.method == "PUT" and file.exists() else files(request)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(lake.log[origin[origin.index("_delta_log/") :]])
    return respond(200, COPIED.encode())


if __name__ == "__main__":
    main()
