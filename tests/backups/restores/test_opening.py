"""Opening a version in place: which one, on which evidence, and what a stop at any place leaves; without Spark."""

import gzip
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.management import call_command

from backups.models import RestorePoint
from backups.restores import calls, jobs
from backups.restores.calls import OpenLog
from backups.runs.spark_pipeline import SparkPipeline
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.backup.objects import BucketPrefix
from lake.delta.file_actions import LogUnreadable
from lake.delta.opened_log import LogOpener
from lake.delta.uri import TableUri
from lake.points.reading import KeptPoint, is_earlier_of
from lake.points.second_reader import read_by_deltalake
from tests.backups.points.conftest import Backup
from tests.backups.points.ended_runs import copied_run, proven
from tests.backups.restores.restoring import Table, by_value, everything, options, restore
from tests.builders.copies import LOG
from tests.lake.delta.test_restorable_model import objects_of
from tests.lazily import lazily

deltalake = lazily("deltalake")
pa = lazily("pyarrow")

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever gets as far as Spark has written the log."""

    def refused(*_: Any) -> Any:
        raise jobs.JobFailed("NoSpark", "Spark was asked.")

    monkeypatch.setattr(SparkPipeline, "run", refused)


def apply(capsys: Any, table: Table, *words: str) -> Any:
    return restore(capsys, str(table.point.pk), "--instant", "--apply", "--here", *words)


def test_a_plan_says_what_it_would_write_and_changes_nothing(table, capsys):
    before = everything(table.backup.lake, table.backup.source, table.backup.vault)
    told = restore(capsys, table.uri, "--instant")
    assert (told["refused"], told["job"], told["refusal"]) == ("", None, None)
    assert (told["version"], told["plan"]["objects"], told["plan"]["seconds"]) == (5, 4, None)
    assert told["to"].startswith(f"s3a://{table.backup.vault}/pool/_levee/points/{table.backup.source}/t/@open/5-")
    assert everything(table.backup.lake, table.backup.source, table.backup.vault) == before


@pytest.mark.parametrize("checkpoint", [3, None])
def test_a_stop_at_any_write_leaves_nothing_that_opens_and_the_next_try_ends_it(
    backup, tmp_path, capsys, monkeypatch, checkpoint
):
    table = Table(backup, tmp_path, checkpoint)
    put, writes = S3.put, []

    def stopping(self: S3, bucket: str, key: str, *words: Any, **more: Any) -> Any:
        if 0 <= most <= len(writes):  # of several threads
            raise AwsError("ConnectionFailed", "it stopped", "", "s3:PutObject", "", key)
        writes.append(key)
        return put(self, bucket, key, *words, **more)

    monkeypatch.setattr(S3, "put", stopping)
    objects = restore(capsys, table.uri, "--instant")["plan"]["objects"]
    for most in range(objects):
        writes.clear()
        told = apply(capsys, table)
        assert told["job"]["error"]["code"] == "ConnectionFailed"
        with pytest.raises(Exception, match=r"(?i)no files in log segment|not a delta|version|metadata"):
            deltalake.DeltaTable(told["to"], storage_options=options(backup))
        for key, _ in list(backup.lake.list(backup.vault, "pool/_levee/points/")):
            if "/@open/" in key and most % 2:  # else the next try goes on from there
                backup.lake.delete(backup.vault, key)
    most = -1
    assert apply(capsys, table)["job"]["error"]["code"] == "NoSpark"
    assert table.rows(told["to"]) == list(range(6))
    again = apply(capsys, table)["job"]
    assert [one["outcome"] for one in again["calls"]] == ["already"]


@pytest.mark.parametrize("small", [0, calls.SMALL])
def test_the_checkpoint_is_not_written_where_one_of_the_commits_could_not_be(table, capsys, monkeypatch, small):
    put, written = S3.put, list[str]()

    def failing(self: S3, bucket: str, key: str, *words: Any, **more: Any) -> Any:
        if key.endswith(f"{4:020d}.json"):
            raise AwsError("ConnectionFailed", "it stopped", "", "s3:PutObject", "", key)
        written.append(key[-25:])
        return put(self, bucket, key, *words, **more)

    monkeypatch.setattr(calls, "SMALL", small)
    monkeypatch.setattr(S3, "put", failing)
    assert apply(capsys, table)["job"]["error"]["code"] == "ConnectionFailed"
    monkeypatch.setattr(S3, "put", put)
    assert {*written} <= {f"{3:020d}.json", f"{5:020d}.json"}
    assert table.rows(apply(capsys, table)["to"]) == list(range(6))


def test_each_version_that_the_point_s_log_leads_to_opens_with_its_rows(table, capsys):
    for version in (3, 4, 5):
        told = apply(capsys, table, "--version", str(version))
        assert told["job"]["error"]["code"] == "NoSpark"
        assert table.rows(told["to"]) == list(range(version + 1))


def test_an_older_version_opens_by_an_older_point(table, capsys):
    assert table.go_on().version == 8
    told = apply(capsys, table, "--version", "4")
    assert told["document"].rpartition("@")[2].startswith("5-")
    assert table.rows(told["to"]) == list(range(5))
    refused = restore(capsys, table.uri, "--instant", "--version", "7")
    assert "No restore point is known to lead to version 7 of this history" in refused["refusal"]["reason"]
    assert refused["refused"] == "Nothing was restored: see above."


def test_a_moment_is_by_the_times_at_the_source(table, capsys):
    given = dict(table.document()["commits"])
    assert restore(capsys, table.uri, "--instant", "--at", given[4])["version"] in (4, 5)  # of one second, perhaps
    told = restore(capsys, table.uri, "--instant", "--at", "2001-01-01T00:00Z")
    assert "No version that can be restored was there at 2001-01-01 00:00:00 UTC." in told["refusal"]["reason"]
    told = restore(capsys, table.uri, "--instant", "--at", "2001-01-01T05:00+05:00")
    assert "No version that can be restored was there at 2001-01-01 00:00:00 UTC." in told["refusal"]["reason"]


def test_what_was_the_newest_after_the_last_known_commit_is_not_guessed(table, capsys):
    RestorePoint.objects.update(holds_until=table.point.holds_until)
    later = (table.point.holds_until + timedelta(seconds=1)).isoformat()
    reason = restore(capsys, table.uri, "--instant", "--at", later)["refusal"]["reason"]
    assert "Version 5 is the last before that moment that can be restored" in reason
    assert restore(capsys, table.uri, "--instant", "--at", table.point.holds_until.isoformat())["version"] == 5


def test_a_file_that_went_or_was_replaced_refuses_the_version(table, capsys):
    backup, key = table.backup, f"pool/{table.data_file}"
    data = backup.lake.get(backup.vault, key)
    backup.lake.put(backup.vault, key, data[:-1] + b"?")
    assert "is not the object that was proven any more" in restore(capsys, table.uri, "--instant")["refusal"]["reason"]
    backup.lake.delete(backup.vault, key)
    assert "it is not in the backup" in restore(capsys, table.uri, "--instant")["refusal"]["reason"]


def fewer_lines(data: bytes) -> bytes:
    return gzip.compress(b"".join(gzip.decompress(data).splitlines(keepends=True)[:-1]))


@pytest.mark.parametrize(
    ("what", "change", "says"),
    [
        ("list", fewer_lines, "The list of the objects of"),
        ("document", lambda data: data.replace(b'"files": 6', b'"files": 7'), "is not as a run has written it"),
        ("log", lambda data: data[::-1], "is not the object that was proven any more"),
    ],
)
def test_what_is_not_as_a_run_has_written_it_is_not_believed(table, capsys, what, change, says):
    backup, document = table.backup, table.document()
    keys = {
        "list": f"pool/{document['objects']}",
        "document": table.point.proof.removeprefix(f"s3a://{backup.vault}/"),
        "log": next(key for key, _ in backup.lake.list(backup.vault, "pool/_levee/points/") if "@log/" in key),
    }
    data = backup.lake.get(backup.vault, keys[what])
    assert change(data) != data
    backup.lake.put(backup.vault, keys[what], change(data))
    assert says in restore(capsys, table.uri, "--instant")["refusal"]["reason"]


def test_a_file_that_goes_after_the_plan_was_shown_stops_it_before_any_write(table, capsys, monkeypatch):
    read, key = jobs._read_again, f"pool/{table.data_file}"

    def goes(*words: Any) -> Any:
        table.backup.lake.delete(table.backup.vault, key)
        return read(*words)

    monkeypatch.setattr(jobs, "_read_again", goes)
    told = apply(capsys, table)
    assert told["job"]["error"]["code"] == "Moved"
    assert not [key for key, _ in table.backup.lake.list(table.backup.vault, "pool/_levee/points/") if "/@open/" in key]


def test_another_plan_than_the_one_that_was_shown_is_not_carried_out(table, capsys, monkeypatch):
    read = jobs._read_again

    def other(*words: Any) -> Any:
        found = read(*words)
        return replace(found, log=found.log[1:])

    monkeypatch.setattr(jobs, "_read_again", other)
    assert apply(capsys, table)["job"]["error"]["code"] == "Moved"


def test_an_object_of_the_log_that_changes_after_it_was_read_stops_the_write(table, capsys, monkeypatch):
    read, backup = jobs._read_again, table.backup
    key = next(key for key, _ in backup.lake.list(backup.vault, "pool/_levee/points/") if f"{4:020d}.json" in key)

    def changes(*words: Any) -> Any:
        found = read(*words)
        backup.lake.put(backup.vault, key, backup.lake.get(backup.vault, key) + b"\n")
        return found

    monkeypatch.setattr(jobs, "_read_again", changes)
    assert "is not the object that was read for the plan" in apply(capsys, table)["refused"]


def test_a_table_below_a_folder_whose_name_needs_escapes_opens(backup, tmp_path, capsys):
    folder = tmp_path / "t"
    for version in range(2):
        deltalake.write_deltalake(str(folder), pa.table({"id": pa.array([version])}), mode="append")
    backup.put_both(objects_of(tmp_path), below="a 50%/#b/")
    [point] = proven(copied_run(backup, ["a 50%/#b/t"])).points.all()
    told = restore(capsys, str(point.pk), "--instant", "--apply", "--here")
    assert told["job"]["error"]["code"] == "NoSpark"
    assert read_by_deltalake(TableUri.parse(told["to"]).url, options(backup))["rows"] == 2


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (f"{5:020d}.json", "holds something else"),
        (f"{9:020d}.json", "is there already"),
        ("_last_checkpoint", "is there already"),
    ],
)
def test_what_lies_where_the_log_would_go_is_left_alone(table, capsys, name, says):
    to = restore(capsys, table.uri, "--instant")["to"].removeprefix(f"s3a://{table.backup.vault}/")
    table.backup.lake.put(table.backup.vault, f"{to}/{LOG.removeprefix('t/')}{name}", b"{}")
    before = everything(table.backup.lake, table.backup.vault)
    assert says in apply(capsys, table)["refused"]
    assert everything(table.backup.lake, table.backup.vault) == before


def test_a_reader_that_sees_something_else_fails_the_restore(table, capsys, monkeypatch):
    told = apply(capsys, table)
    seen = read_by_deltalake(told["to"], options(table.backup)) | by_value(table.backup, told["to"])
    monkeypatch.setattr(SparkPipeline, "run", lambda *_: {**seen, "files": 7})
    told = apply(capsys, table)
    assert "Spark sees files 7, and 6 is expected." in told["refused"]
    assert (told["job"]["state"], told["job"]["ways"]) == ("failed", None)
    monkeypatch.setattr(SparkPipeline, "run", lambda *_: seen)
    assert apply(capsys, table)["job"]["state"] == "succeeded"


PLACES = [None, "a b", "50%/c=d", "ü+x", "a b"]


def partitioned(backup: Backup, folder: Path) -> RestorePoint:
    """A point of a table of a row for each of PLACES, one of them below a checkpoint that another follows."""
    uri = str(folder / "t")
    for number, place in enumerate(PLACES):
        row = pa.table({"id": pa.array([number]), "place": pa.array([place], pa.string())})
        deltalake.write_deltalake(uri, row, mode="append", partition_by=["place"])
        if number == 3:
            deltalake.DeltaTable(uri).create_checkpoint()
    backup.put_both({key: data for key, data in objects_of(folder).items() if not key.endswith("_last_checkpoint")})
    [point] = proven(copied_run(backup)).points.all()
    return point


def test_each_file_is_seen_with_its_place_and_partition_values(backup, tmp_path, capsys, by_deltalake):
    told = restore(capsys, str(partitioned(backup, tmp_path).pk), "--instant", "--apply", "--here")
    assert told["refused"] == ""
    seen = told["job"]["verified"]
    assert (seen["expected"]["rows"], seen["expected"]["partitions"]) == (5, 4)
    assert (seen["spark"]["files_equal"], seen["spark"]["partitions"]) == (True, 4)


CHANGES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "values": lambda add: {"partitionValues": {"place": None}},
    "null": lambda add: {"partitionValues": {"place": dict(add["partitionValues"])["place"] or ""}},
}


@pytest.mark.parametrize(
    ("lost", "where"), [("values", "commits"), *((one, "checkpoint") for one in CHANGES), ("place", "")]
)
def test_an_opened_log_that_names_a_file_otherwise_is_not_called_restored(
    backup, tmp_path, capsys, monkeypatch, by_deltalake, lost, where
):
    """Version, files, bytes, rows and columns are all as they should be."""
    point, row, column = partitioned(backup, tmp_path), LogOpener._row, LogOpener._column

    def of_commit(self: LogOpener, line: dict[str, Any]) -> dict[str, Any]:
        return row(self, {name: action | CHANGES[lost](action) for name, action in line.items()})

    def of_checkpoint(self: LogOpener, field: Any, values: Any) -> Any:
        made = column(self, field, values)
        rows = [one and one | CHANGES[lost](one) for one in made.to_pylist()] if field.name == "add" else []
        for one in filter(None, rows):
            one["partitionValues"] = list(dict(one["partitionValues"]).items())
        return pa.array(rows, field.type) if rows else made

    def elsewhere(self: OpenLog, path: str) -> str:
        return f"s3a://{self.backup.bucket}/{self.backup.prefix}t/{path.rpartition('/')[2]}"

    for key, _ in list(backup.lake.list(backup.vault, "pool/t/place=")):
        backup.lake.put(backup.vault, f"pool/t/{key.rpartition('/')[2]}", backup.lake.get(backup.vault, key))
    wrong = {"commits": (LogOpener, "_row", of_commit), "checkpoint": (LogOpener, "_column", of_checkpoint)}
    monkeypatch.setattr(*wrong.get(where, (OpenLog, "_place", elsewhere)))
    told = restore(capsys, str(point.pk), "--instant", "--apply", "--here")
    assert "Spark sees other data files than the log of the backup has" in told["refused"]
    assert told["job"]["verified"]["spark"]["files_equal"] is False


def test_a_log_that_does_not_tell_its_files_is_said_before_anything_is_written(table, capsys, monkeypatch):
    before = everything(table.backup.lake, table.backup.vault)
    monkeypatch.setattr(jobs, "file_marks", Mock(side_effect=LogUnreadable("Version 3 names a file oddly.")))
    told = apply(capsys, table)
    assert told["job"]["error"]["code"] == "LogUnreadable"
    assert "Version 3 names a file oddly." in told["refused"]
    assert everything(table.backup.lake, table.backup.vault) == before


def test_a_backup_that_was_copied_elsewhere_opens_there(table, capsys):
    """As a bucket that S3 replicates: its documents name the bucket that they were written for."""
    backup, elsewhere = table.backup, f"{table.backup.vault}-replica"
    backup.lake.create_bucket(elsewhere)
    for key, _ in list(backup.lake.list(backup.vault, "")):
        backup.lake.put(elsewhere, key, backup.lake.get(backup.vault, key))
        backup.lake.delete(backup.vault, key)
    table.point.proof = table.point.proof.replace(backup.vault, elsewhere)
    table.point.save()
    to = apply(capsys, table)["to"]
    assert to.startswith(f"s3a://{elsewhere}/pool/_levee/points/")
    assert table.rows(to) == list(range(6))


def test_a_table_at_the_root_of_its_bucket_opens(backup, tmp_path, capsys):
    folder = tmp_path / "root"
    for version in range(3):
        deltalake.write_deltalake(str(folder), pa.table({"id": pa.array([version])}), mode="append")
    backup.put_both(objects_of(folder))
    shutil.rmtree(folder)
    [point] = proven(copied_run(backup, [""])).points.all()
    told = restore(capsys, str(point.pk), "--instant", "--apply", "--here")
    assert told["job"]["error"]["code"] == "NoSpark"
    assert read_by_deltalake(told["to"], options(backup))["rows"] == 3


def test_a_version_of_another_history_with_the_same_id_is_not_opened(table, capsys, tmp_path):
    """As where a foreign writer replaced the log: the older point is of what is gone."""
    backup, replaced = table.backup, {}
    table.write(range(6, 9), 8)
    for key, data in objects_of(tmp_path).items():
        replaced[key] = data.replace(b'"operation":"WRITE"', b'"operation":"OTHER"') if key.endswith(".json") else data
    backup.put_both({key: data for key, data in replaced.items() if not key.endswith("_last_checkpoint")}, hours_ago=-1)
    [newer] = proven(copied_run(backup)).points.all()
    assert (newer.version, newer.incarnation) == (8, table.point.incarnation)
    told = restore(capsys, table.uri, "--instant", "--version", "4")
    assert "No restore point is known to lead to version 4 of this history" in told["refusal"]["reason"]


def test_a_point_of_another_table_is_no_earlier_one():
    """Even where two commits were written in one second."""
    place, commits = BucketPrefix("vault"), {4: datetime(2026, 11, 20, tzinfo=UTC)}
    one, other = (KeptPoint("", place, {"incarnation": name}, commits) for name in "ab")
    assert [is_earlier_of(one, other, 4), is_earlier_of(one, one, 4), is_earlier_of(one, one, 5)] == [
        False,
        True,
        False,
    ]


def test_a_document_that_cannot_be_read_hides_no_other(table, capsys):
    backup = table.backup
    table.go_on()
    folder = table.point.proof.removeprefix(f"s3a://{backup.vault}/").rpartition("@")[0]
    for number, wrong in enumerate(("{}", "[1]", '{"table": 1, "digest": ""}')):
        backup.lake.put(backup.vault, f"{folder}@4-{number:016d}.json", wrong.encode())
    assert restore(capsys, table.uri, "--instant", "--version", "4")["document"] == table.point.proof
    told = restore(capsys, table.uri, "--instant", "--version", "7")
    assert "Of 3 earlier ones" not in told["refusal"]["reason"]
    assert "Of 3 earlier ones" in restore(capsys, table.uri, "--instant", "--version", "2")["refusal"]["reason"]


def test_a_version_from_before_the_table_got_another_id_opens(backup, tmp_path, capsys):
    folder = tmp_path / "t"
    deltalake.write_deltalake(str(folder), pa.table({"id": pa.array([1])}))
    schema = deltalake.Schema([deltalake.schema.Field("id", deltalake.schema.PrimitiveType("long"))])
    deltalake.DeltaTable.create(str(folder), schema, mode="overwrite")
    deltalake.write_deltalake(str(folder), pa.table({"id": pa.array([2])}), mode="append")
    backup.put_both(objects_of(tmp_path))
    [point] = proven(copied_run(backup)).points.all()
    told = restore(capsys, str(point.pk), "--instant", "--apply", "--here", "--version", "0")
    assert told["job"]["error"]["code"] == "NoSpark"
    assert read_by_deltalake(told["to"], options(backup))["rows"] == 1


def test_what_is_opened_is_no_table_of_the_backup(table, capsys):
    apply(capsys, table)
    capsys.readouterr()
    call_command("prove", f"s3a://{table.backup.vault}", "--json")
    proofs = json.loads(capsys.readouterr().out)["points"]
    assert [one["table"] for one in proofs] == [f"s3a://{table.backup.vault}/pool/t"]


def test_deltalake_gets_nothing_of_aws_from_this_process(table, capsys, monkeypatch):
    to = apply(capsys, table)["to"]
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of somebody else")
    monkeypatch.setenv("AWS_ENDPOINT_URL", table.backup.lake.origin)
    assert read_by_deltalake(to, options(table.backup))["rows"] == 6
    nowhere = {name: value for name, value in options(table.backup).items() if name != "AWS_ENDPOINT_URL"}
    nowhere |= {"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9", "max_retries": "0", "timeout": "1s"}
    assert "reason" in read_by_deltalake(to, nowhere)
