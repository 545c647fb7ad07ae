"""How the files of a version are copied: by Spark or without it, in parts, and what ends it."""

from typing import Any

import pytest

from backups.restores import copying as restoring_copies
from backups.restores import planning
from backups.runs.spark_pipeline import SparkPipeline
from dashboard.jobs.context import JobFailed
from lake.aws import copying
from lake.aws.s3 import S3
from lake.points.reading import FileCopy
from lake.spark.jobs import copy_files
from tests.backups.restores.restoring import apply, restore
from tests.backups.restores.test_new_path import to

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("by_deltalake")]


def test_what_ends_a_copy_by_spark_is_told_with_what_was_written_by_then(table, capsys, monkeypatch):
    run, asked = SparkPipeline.run, list[list[str]]()

    def failing(self: SparkPipeline, kind: str, params: Any) -> Any:
        if kind != copy_files.KIND:
            return run(self, kind, params)
        assert params["bucket_owners"] == {table.backup.vault: "111122223333"}
        asked.append([copy[1] for copy in params["copies"]])
        if len(asked) == 3:
            raise JobFailed("SparkEnded", "Spark ended by itself.")
        error = ["PreconditionFailed", "it changed", "", "s3:CopyObject", "", "s3://a/b"]
        return {"etags": ["0" * 32] * 3, "failed": [1, error] if len(asked) == 2 else None}

    monkeypatch.setattr(SparkPipeline, "run", failing)
    monkeypatch.setattr(S3, "owner_of", lambda _, bucket: "111122223333" if bucket == table.backup.vault else "")
    monkeypatch.setattr(restoring_copies, "MANY", 6)
    monkeypatch.setattr(restoring_copies, "OF_A_JOB", 3)
    told = apply(capsys, table)
    [first, second] = asked
    assert f"{second[1]} is not the object any more that was read for the plan." in told["refused"]
    assert (len(first), len({*first, *second}), told["job"]["error"]["code"]) == (3, 6, "Moved")
    assert apply(capsys, table)["refused"] == "Stopped at call 1 of 2: Spark ended by itself."
    monkeypatch.setattr(restoring_copies, "MANY", 7)
    assert apply(capsys, table)["job"]["state"] == "succeeded"


def test_jobs_of_spark_have_so_many_files_of_so_many_bytes(monkeypatch):
    monkeypatch.setattr(restoring_copies, "OF_A_JOB", 3)
    monkeypatch.setattr(restoring_copies, "BYTES_OF_A_JOB", 10)
    sizes = (1, 1, 1, 1, 9, 11, 10, 0, 1)
    files = [FileCopy("", "", size, "", "") for size in sizes]
    jobs_of = [[one.size for one in some] for some in restoring_copies._jobs(files)]
    assert jobs_of == [[1, 1, 1], [1, 9], [11], [10, 0], [1]]
    assert list(restoring_copies._jobs([])) == []


def test_only_so_many_files_are_copied_by_one_process(table, capsys, monkeypatch):
    monkeypatch.setattr(planning, "MOST_FILES", 5)
    says = "has 6 objects, and at most 5 are copied. Open it in the backup, and copy it by an engine."
    assert says in restore(capsys, table.uri)["refusal"]["reason"]


def test_large_files_are_copied_in_parts_and_not_by_spark(table, capsys, monkeypatch):
    in_parts, smallest = list[str](), min(size for _, size in table.backup.lake.list(table.backup.vault, "pool/t/part"))
    whole = copying.copy_in_parts

    def copied(s3: S3, one: copying.Copy) -> str:
        in_parts.append(one.key)
        return whole(s3, one)

    monkeypatch.setattr(copying, "copy_in_parts", copied)
    for module in (copying, restoring_copies):
        monkeypatch.setattr(module, "COPY_LIMIT", smallest - 1)
    monkeypatch.setattr(restoring_copies, "MANY", 1)
    assert apply(capsys, table)["job"]["state"] == "succeeded"
    assert len(in_parts) == 6
    assert table.rows(to(table)) == list(range(6))
