"""A version of 5,000 objects restored to a path of its own at 30 ms for each answer of S3: Levee's calls against s5cmd.

Both let S3 copy. Levee claims the path, pins each copy by its ETag, lists what it copied, and writes the log last, each
object by its bytes; s5cmd, at its default of 256 workers, copies the same objects from a file of commands and looks at
nothing afterwards. Each lap goes to a path of its own. Planning, and opening the table by Spark, are not in it.
"""

import json
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

from backups.restores.calls import AT_ONCE, WriteLog
from backups.restores.copying import CopyFiles
from benchmarks.answers import COPIED, ETAG, FACTS, MODIFIED_XML, NAMESPACE, stored
from benchmarks.backups import UNTIMED, copy_by_s5cmd, levee_spark, run_job
from benchmarks.harness import asked, compete, cpu_seconds, ratio_line, tell
from benchmarks.server import Answer, Request, respond, serve
from changes.calls import Sending
from lake.aws.access import Access, open_lake
from lake.backup.objects import BucketPrefix
from lake.points.reading import FileCopy, LogCopy
from lake.spark.messages import SparkJob, SparkOutcome

OBJECTS, COMMITS, BYTES, LATENCY = 5_000, 100, 4096, 0.030
LEVEE, ALONE, S5CMD = "levee: files and log", "levee, of few files: no Spark", "s5cmd run, 256 workers"
BACKUP = BucketPrefix("acme-vault", "pool/")


def main() -> None:
    """LEVEE_BENCH_OBJECTS sets another number of objects."""
    objects, laps_begun = asked("OBJECTS", OBJECTS), count()
    paths = [f"day=2026-11-{1 + i % 28:02}/part-{i:06}.parquet" for i in range(objects)]
    files = tuple(FileCopy(path, f"{BACKUP.prefix}t/{path}", BYTES, ETAG, "STANDARD") for path in paths)
    names = [f"{version:020}.json" for version in range(COMMITS)]
    log = tuple(LogCopy(name, f"{BACKUP.prefix}t/_delta_log/{name}", BYTES, ETAG) for name in names)
    used: dict[str, list[float]] = {LEVEE: [], ALONE: [], S5CMD: []}
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(_holding(), latency=LATENCY, processes=1) as s3,
        levee_spark(s3.url) as spark,
    ):

        def by_levee(warm: Warm | None = None) -> None:
            table = BucketPrefix("acme-lake", f"restored/{next(laps_begun)}/")
            writing = WriteLog(backup=BACKUP, table=table, log=log, encryption_key="", backup_key="")
            access = Access("us-east-1", endpoint_url=s3.url, static_credentials=("bench", "bench"))
            with open_lake(access, parallel=AT_ONCE) as lake:
                for call in (CopyFiles(files=files, claim=b"{}", log=writing), writing):
                    call.send(Sending(lake, spark=warm))

        def by_s5cmd() -> None:
            to = f"s3://acme-lake/restored/{next(laps_begun)}/"
            keys = [*(one.key for one in files), *(one.key for one in log)]
            copies = [(f"s3://{BACKUP.bucket}/{key}", key.replace(f"{BACKUP.prefix}t/", to, 1)) for key in keys]
            copy_by_s5cmd(s3.url, copies, Path(folder))

        def counted(name: str, run: Callable[[], None]) -> Callable[[], None]:
            def lap() -> None:
                before = cpu_seconds() - s3.cpu_seconds()
                run()
                used[name].append(cpu_seconds() - s3.cpu_seconds() - before)

            return lap

        contestants = {
            name: counted(name, run)
            for name, run in {LEVEE: lambda: by_levee(Warm(spark)), ALONE: by_levee, S5CMD: by_s5cmd}.items()
        }
        laps = compete(contestants, untimed=UNTIMED)
        standin = s3.cpu_seconds()
    tell(f"Restoring {objects:,} files and {COMMITS} commits at {LATENCY * 1000:.0f} ms", laps)
    for name, walls in laps.items():
        cpu = statistics.median(used[name][UNTIMED:])
        print(f"{name:36} {(objects + COMMITS) / statistics.median(walls):9,.0f} objects/s, {cpu:.2f} s of CPU")
    print(f"The stand-in for S3 used {standin:.1f} s of CPU in all {asked('ROUNDS', 5) + UNTIMED} rounds.")
    ratio_line(laps, LEVEE, S5CMD, at_most=1.0)


@dataclass(frozen=True)
class Warm:
    """The session of Spark that a restore opens its table by."""

    session: Any

    def run(self, job: SparkJob) -> SparkOutcome:
        params = json.loads(json.dumps(job.params))  # as it goes to the worker
        return SparkOutcome("done", True, run_job(self.session, job.kind, params), None, (), 0.0)


def _holding() -> Answer:
    """S3 that keeps the size, or the bytes, of what is copied or put; whatever is read elsewhere is there."""
    tables: defaultdict[str, dict[str, bytes | int]] = defaultdict(dict)

    def answer(request: Request) -> bytes:
        path, _, query = request.target.partition("?")
        key, asked_for = unquote(path).lstrip("/"), dict(parse_qsl(query))
        table = "/".join(f"{key.rstrip('/')}/{asked_for.get('prefix', '')}".split("/")[:3])
        held = tables[table]
        if "list-type" in query:
            return _page(held, key.rstrip("/"), asked_for)
        if "x-amz-copy-source" in request.headers:
            held[key] = BYTES
            return respond(200, COPIED.encode())
        if request.method == "PUT":
            held[key] = request.body
            return respond(200, more=FACTS)
        body = held.get(key, BYTES if key.startswith(BACKUP.bucket) else None)
        return stored(request, b" " * body if isinstance(body, int) else body)

    return answer


def _page(held: dict[str, bytes | int], bucket: str, asked_for: dict[str, str]) -> bytes:
    """A thousand keys, and the last of them as the token for the next page."""
    prefix, after = f"{bucket}/{asked_for.get('prefix', '')}", asked_for.get("continuation-token", "")
    keys = sorted(key for key in held if key.startswith(prefix) and key > after)
    rows = (
        f"<Contents><Key>{quote(key.removeprefix(f'{bucket}/'))}</Key><LastModified>{MODIFIED_XML}</LastModified>"
        f"<ETag>&quot;{ETAG}&quot;</ETag><Size>{body if isinstance(body := held[key], int) else len(body)}</Size>"
        "<StorageClass>STANDARD</StorageClass></Contents>"
        for key in keys[:1000]
    )
    more = f"<NextContinuationToken>{keys[999]}</NextContinuationToken>" if len(keys) > 1000 else ""
    text = (
        f"<ListBucketResult {NAMESPACE}><EncodingType>url</EncodingType><KeyCount>{len(keys[:1000])}</KeyCount>"
        f"<IsTruncated>{str(bool(more)).lower()}</IsTruncated>{more}{''.join(rows)}</ListBucketResult>"
    )
    return respond(200, text.encode())


if __name__ == "__main__":
    main()
