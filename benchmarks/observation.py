"""Observing 500 tables of 20 commits: a first pass and an unchanged pass, against boto3 and deltalake in a loop.

The peer lists each log, queries the table's entries and opens it with deltalake; it has no memory, so its unchanged
pass is its first pass again. Both report, for each table, the published version, the newest entry and the protocol.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import deltalake

from benchmarks.answers import serving
from benchmarks.harness import asked, compete, ratio_line, tell
from benchmarks.server import serve

TABLES = 500
COMMITS = 20
CHECKPOINT = 10
LATENCY_SECONDS = 0.005
FIRST, UNCHANGED, PEER = "levee, first pass", "levee, unchanged pass", "boto3 + deltalake"
STORE = "delta_log"
BUCKET = "lake"
MODIFIED = 1_790_000_000_000


def main() -> None:
    """LEVEE_BENCH_TABLES sets another number of tables."""
    tables = asked("TABLES", TABLES)
    roots = [f"warehouse/t{number:04d}" for number in range(tables)]
    items = {f"s3a://{BUCKET}/{root}": [_item(root, version) for version in range(COMMITS)] for root in roots}
    with (
        tempfile.TemporaryDirectory() as home,
        serve(serving(Path(home), items), latency=LATENCY_SECONDS) as standin,
        _console(),
    ):
        _write_logs([Path(home) / BUCKET / root for root in roots])
        levee = _Levee(standin.url)
        levee.first_pass()
        before = standin.cpu_seconds()
        laps = compete(
            {FIRST: levee.first_pass, UNCHANGED: levee.unchanged_pass, PEER: lambda: _peer(standin.url, roots)}
        )
        tell(f"Observing {tables} tables of {COMMITS} commits", laps)
        ratio_line(laps, FIRST, PEER, at_most=1 / 3)
        ratio_line(laps, UNCHANGED, PEER, at_most=1 / 10)
        for name, requests in levee.requests.items():
            print(f"{name}: {requests / tables:.2f} requests a table")
        busy = (standin.cpu_seconds() - before) / sum(map(sum, laps.values()))
        print(f"stand-in: {busy:.0%} of a core, {LATENCY_SECONDS * 1000:g} ms a request")


Answers = dict[str, tuple[int | None, bool | None, int | None]]


class _Levee:
    """The product: passes over one connection each, in a database of their own; `requests` are those of the last."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._known: Any = None
        self.requests: dict[str, int] = {}

    def first_pass(self) -> Answers:
        from coordinator.models import CommitStore, Watch
        from dashboard.connections.models import Connection

        number = Connection.objects.count()
        connection = Connection.objects.create(name=f"pass-{number}", region="us-east-1", endpoint_url=self._url)
        Watch.objects.create(connection=connection, uri=f"s3a://{BUCKET}/warehouse/")
        CommitStore.objects.create(connection=connection, name=STORE, kind=CommitStore.Kind.LOG_STORE)
        self._known = self._known or connection
        return self._look(FIRST, connection)

    def unchanged_pass(self) -> Answers:
        return self._look(UNCHANGED, self._known)

    def _look(self, name: str, connection: Any) -> Answers:
        from coordinator.models import DeltaTable, Entry
        from coordinator.observation.passes import observe_connection
        from lake.aws.access import Access, open_lake

        access = Access("us-east-1", endpoint_url=self._url, static_credentials=("bench", "bench"))
        with open_lake(access) as lake:
            self.requests[name] = observe_connection(connection, lake, threads=32).requests
        newest = Entry.objects.filter(table__connection=connection, version=COMMITS - 1)
        complete = dict(newest.values_list("table_id", "complete"))
        tables = DeltaTable.objects.filter(connection=connection).order_by("prefix")
        return {t.prefix: (t.published_version, complete[t.pk], t.reader_version) for t in tables}


def _peer(url: str, roots: list[str]) -> Answers:
    keys = {"aws_access_key_id": "bench", "aws_secret_access_key": "bench", "region_name": "us-east-1"}
    s3 = boto3.client("s3", endpoint_url=url, **keys)
    dynamodb = boto3.client("dynamodb", endpoint_url=url, **keys)
    return {root: _peer_table(s3, dynamodb, url, root) for root in roots}


def _peer_table(s3: Any, dynamodb: Any, url: str, root: str) -> tuple[int | None, bool | None, int | None]:
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=f"{root}/_delta_log/")
    names = [found["Key"].rsplit("/", 1)[-1] for page in pages for found in page.get("Contents", [])]
    newest = max(int(name[:20]) for name in names if name.endswith(".json") and name[:20].isdigit())
    items = dynamodb.query(
        TableName=STORE,
        ConsistentRead=True,
        KeyConditionExpression="tablePath = :path",
        ExpressionAttributeValues={":path": {"S": f"s3a://{BUCKET}/{root}"}},
    )["Items"]
    table = deltalake.DeltaTable(
        f"s3://{BUCKET}/{root}",
        storage_options={
            "AWS_ENDPOINT_URL": url,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "bench",
            "AWS_SECRET_ACCESS_KEY": "bench",
        },
        without_files=True,
    )
    assert table.version() == newest
    return newest, items[-1]["complete"]["S"] == "true", table.protocol().min_reader_version


@contextmanager
def _console() -> Iterator[None]:
    """Levee with an empty SQLite database in a folder of its own."""
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(LEVEE_HOME=home, DJANGO_SETTINGS_MODULE="dashboard.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        yield


def _write_logs(roots: list[Path]) -> None:
    """The same log for each table, as deltalake writes it, and a `.crc` for each version as Spark adds."""
    import pyarrow as pa

    first, *others = roots
    rows = pa.table({"id": pa.array([1, 2, 3], pa.int64())})
    for version in range(COMMITS):
        deltalake.write_deltalake(first, rows, mode="append")
        if version == CHECKPOINT:
            deltalake.DeltaTable(first).create_checkpoint()
    log = first / "_delta_log"
    actions = [json.loads(line) for line in (log / f"{0:020d}.json").read_text().splitlines()]
    state = {name: value for action in actions for name, value in action.items()}
    for version in range(COMMITS):
        crc = {"tableSizeBytes": 500 * (version + 1), "numFiles": version + 1, "numMetadata": 1, "numProtocol": 1}
        said = crc | {"metadata": state["metaData"], "protocol": state["protocol"]}
        (log / f"{version:020d}.crc").write_text(json.dumps(said))
    for root in others:
        shutil.copytree(log, root / "_delta_log", copy_function=os.link)


def _item(root: str, version: int) -> dict[str, Any]:
    name = f"{version:020d}.json"
    return {
        "tablePath": {"S": f"s3a://{BUCKET}/{root}"},
        "fileName": {"S": name},
        "tempPath": {"S": f".tmp/{name}.6a3b6a0e-7d6f-4c7b-9f43-0a4f2c8f2f11"},
        "complete": {"S": "true"},
        "expireTime": {"N": str(MODIFIED // 1000)},
    }


if __name__ == "__main__":
    main()
