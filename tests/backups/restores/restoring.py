"""Restores by the session of Spark that tests share, tables to restore, and what lies in a lake before and after."""

import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from backups.models import RestorePoint
from backups.restores import readers
from backups.runs.spark_pipeline import SparkPipeline
from dashboard.jobs.context import JobFailed
from lake.delta.fingerprint import LiveFile, fingerprint, mark
from lake.delta.uri import TableUri
from lake.points import second_reader
from lake.spark.errors import describe
from lake.spark.jobs import copy_files, read_table, write_once
from lake.spark.jobs.report import Report
from lake.spark.messages import decode, encode
from lake.spark.sql import delta_path
from sandbox.client import Client
from sandbox.spark_tables import SparkLake
from tests.backups.points.conftest import Backup
from tests.backups.points.ended_runs import copied_run, document_of, proven
from tests.builders.copies import LOG
from tests.lake.delta.test_restorable_model import objects_of
from tests.lazily import lazily
from tests.sandboxlake import reader_options

deltalake = lazily("deltalake")
pa = lazily("pyarrow")
parquet = lazily("pyarrow.parquet")


def open_by(monkeypatch: pytest.MonkeyPatch, lake: SparkLake) -> list[str]:
    """Let what restores ask of Spark be done by this session; its answer goes through JSON, as from the worker, and its
    errors are told as a worker's are. Returns the kinds of jobs that it is asked for."""
    asked = list[str]()

    def run(_: object, kind: str, params: Mapping[str, Any]) -> Any:
        asked.append(kind)
        job = {one.KIND: one for one in (copy_files, read_table, write_once)}[kind]
        try:
            result = job.run(lake.spark, json.loads(json.dumps(params)), Report(lambda **_: None))
        except Exception as error:
            told = describe(error)
            raise JobFailed(told.condition or told.type, told.sentence) from error
        return decode(encode(result=result))["result"]

    monkeypatch.setattr(SparkPipeline, "run", run)
    return asked


def open_by_deltalake(monkeypatch: pytest.MonkeyPatch, backup: Backup) -> None:
    """Let deltalake read and write in this process, where Spark is asked and where it is; for tables that both read."""

    def run(_: object, kind: str, params: Mapping[str, Any]) -> Any:
        uri = TableUri.parse(params["table"]).url
        if kind == write_once.KIND:
            table = deltalake.DeltaTable(uri, storage_options=options(backup))
            if not params["properties"].items() <= table.metadata().configuration.items():
                table.alter.set_table_properties(params["properties"], raise_if_not_exists=False)
        return second_reader.read(uri, options(backup)) | by_value(backup, uri)

    monkeypatch.setattr(SparkPipeline, "run", run)
    monkeypatch.setattr(readers, "read_by_deltalake", second_reader.read)


def by_value(backup: Backup, uri: str) -> dict[str, Any]:
    """What Spark tells beside, of a table whose files were only added, and have no deletion vector."""
    bucket, _, root = uri.partition("://")[2].partition("/")
    names = sorted(key for key, _ in backup.lake.list(bucket, f"{root}/_delta_log/"))
    log = [key for key in names if key.endswith((".json", ".parquet"))]
    base = max((number for number, key in enumerate(log) if key.endswith(".parquet")), default=0)
    added: dict[str, Any] = {}
    for key in log[base:]:
        data = backup.lake.get(bucket, key)
        is_parquet = key.endswith(".parquet")
        rows = parquet.read_table(io.BytesIO(data)).to_pylist() if is_parquet else map(json.loads, data.splitlines())
        added |= {one["path"]: one for row in rows if (one := row.get("add"))}
    files = (LiveFile(one["path"], one["size"], dict(one["partitionValues"]), None) for one in added.values())
    rows = sum(json.loads(one["stats"])["numRecords"] for one in added.values())
    return {"fingerprint": fingerprint(map(mark, files))[0], "rows": rows, "counted": (rows, rows)}


def restore(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """The document that `levee restore` prints, and beside it as `refused` what it fails with."""
    capsys.readouterr()
    refused = ""
    try:
        call_command("restore", *words, "--json")
    except CommandError as error:
        refused = str(error)
    printed = capsys.readouterr().out
    return {**(json.loads(printed) if printed else {}), "refused": refused}


def rows(lake: SparkLake, uri: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in lake.sql(f"SELECT * FROM {delta_path(uri)}"))  # noqa: S608 - quoted, ours


def everything(client: Client, *buckets: str) -> dict[str, bytes]:
    keys = [(bucket, key) for bucket in buckets for key, _ in list(client.list(bucket, ""))]
    return {f"{bucket}/{key}": client.get(bucket, key) for bucket, key in keys}


def copy_all(backup: Backup) -> None:
    """Copy the source into the backup, as a run does but for the hint, which is not copied."""
    for key, _ in list(backup.lake.list(backup.source, "")):
        if not key.endswith("_last_checkpoint"):
            backup.lake.put(backup.vault, f"pool/{key}", backup.lake.get(backup.source, key))


class Table:
    """A table of deltalake's at the source and in the backup: versions 0 to 5, of one more row each."""

    def __init__(self, backup: Backup, folder: Path, checkpoint: int | None = 3) -> None:
        self.backup, self.folder = backup, folder / "t"
        self.write(range(6), checkpoint)
        backup.put_both({key: data for key, data in objects_of(folder).items() if not key.endswith("_last_checkpoint")})
        [self.point] = proven(copied_run(backup)).points.all()

    def write(self, versions: Iterable[int], checkpoint: int | None) -> None:
        """Append a row for each version, with a checkpoint of one of them."""
        for version in versions:
            deltalake.write_deltalake(str(self.folder), pa.table({"id": pa.array([version])}), mode="append")
            if version == checkpoint:
                deltalake.DeltaTable(str(self.folder)).create_checkpoint()

    def go_on(self) -> RestorePoint:
        """Versions 6 to 8 at the source and in the backup, with a checkpoint of the last; the point of the next run."""
        self.write(range(6, 9), 8)
        there = {key for key, _ in self.backup.lake.list(self.backup.source, "")} | {f"{LOG}_last_checkpoint"}
        self.backup.put_both({key: data for key, data in objects_of(self.folder.parent).items() if key not in there})
        [newer] = proven(copied_run(self.backup)).points.all()
        return newer

    @property
    def uri(self) -> str:
        return f"s3a://{self.backup.source}/t"

    def document(self) -> Any:
        return document_of(self.backup, self.point.proof)

    @property
    def data_files(self) -> list[str]:
        """The keys of the data files at the source, and below the backup."""
        keys = [key for key, _ in self.backup.lake.list(self.backup.source, "t/")]
        return [key for key in keys if key.endswith(".parquet") and LOG not in key]

    @property
    def data_file(self) -> str:
        return self.data_files[0]

    def rows(self, to: str) -> list[int]:
        table = deltalake.DeltaTable(to, storage_options=options(self.backup))
        query = deltalake.QueryBuilder().register("t", table).execute("SELECT id FROM t ORDER BY id")
        return query.read_all()["id"].to_pylist()


def options(backup: Backup) -> dict[str, str]:
    return reader_options(backup.lake)


def apply(capsys: Any, table: Table, *words: str) -> Any:
    return restore(capsys, str(table.point.pk), "--apply", "--here", *words)
