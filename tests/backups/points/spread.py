"""Spark's proof of many tables, done in this process: parameters and result go through JSON as they do to Spark."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from backups.points import spreading
from backups.runs.spark_pipeline import SparkPipeline
from lake.aws.access import Access
from lake.spark.jobs import backup_prove
from lake.spark.jobs.report import Report
from lake.spark.messages import decode, encode
from sandbox.client import REGION
from tests.backups.points.conftest import Backup


class Rows(list[dict[str, Any]]):
    def collect(self) -> "Rows":
        return self


def spread_all(monkeypatch: pytest.MonkeyPatch, backup: Backup) -> list[str]:
    """Have every table proven as one of many; returns the roots of those that are left, as they come to be."""
    left: list[str] = []
    access = Access(REGION, endpoint_url=backup.lake.origin, static_credentials=("sandbox", "sandbox"))

    def run_tasks(_: object, works: Any, do: Any, schema: str) -> Rows:
        return Rows(row for work in works for batch in do(work) for row in batch.to_pylist())

    def run(_: object, kind: str, params: Mapping[str, Any]) -> Any:
        assert kind == backup_prove.KIND
        result = backup_prove.run(None, json.loads(json.dumps(params)), Report(lambda **_: None))
        left.extend(result["left"])
        return decode(encode(result=result))["result"]

    monkeypatch.setattr(backup_prove, "access_of", lambda _: access)
    monkeypatch.setattr(backup_prove, "slots", lambda _: 2)
    monkeypatch.setattr(backup_prove, "run_tasks", run_tasks)
    monkeypatch.setattr(SparkPipeline, "run", run)
    monkeypatch.setattr(spreading, "SPREAD_FROM", 1)
    return left
