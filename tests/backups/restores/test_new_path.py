"""Restoring a version to a path of its own: where to, on which evidence, and what a stop at any place leaves."""

from collections.abc import Callable
from typing import Any

import pytest

from backups.models import Plan, RestorePoint
from backups.restores import jobs, readers
from backups.restores.copying import CopyFiles
from backups.runs.spark_pipeline import SparkPipeline
from dashboard.accounts.roles import Role
from dashboard.connections.accepted import LeftBehind, StoreItem
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobFailed
from dashboard.jobs.models import Job
from lake.aws import copying
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.backup.objects import CLAIM
from lake.spark.jobs import write_once
from tests.backups.points.ended_runs import copied_run, proven
from tests.backups.restores.restoring import Table, apply, everything, options, restore
from tests.builders.copies import LOG
from tests.builders.people import signed_in
from tests.choosing import slowly
from tests.dashboard.web.markup import flat
from tests.lake.delta.test_restorable_model import objects_of
from tests.lazily import lazily

deltalake = lazily("deltalake")
pa = lazily("pyarrow")

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("by_deltalake")]


def to(table: Table, path: str = "restored/t-5") -> str:
    return f"s3a://{table.backup.source}/{path}"


def refusal(capsys: Any, table: Table, uri: str) -> str:
    told = restore(capsys, table.uri, "--to", uri)
    assert told["refused"] == "Nothing was restored: see above."
    return str(told["refusal"]["reason"])


def below(table: Table, path: str = "restored/") -> dict[str, bytes]:
    lake, bucket = table.backup.lake, table.backup.source
    return {key: lake.get(bucket, key) for key, _ in list(lake.list(bucket, path))}


def test_a_plan_says_what_it_copies_and_changes_nothing(table, capsys):
    before = everything(table.backup.lake, table.backup.source, table.backup.vault)
    told = restore(capsys, table.uri)
    assert (told["refused"], told["job"], told["refusal"], told["kind"]) == ("", None, None, "full")
    assert (told["version"], told["to"]) == (5, to(table))
    # The claim, six files, a checkpoint, commits 3 to 5.
    assert (told["plan"]["objects"], told["plan"]["seconds"]) == (11, None)
    assert told["plan"]["bytes"] > table.point.bytes
    assert everything(table.backup.lake, table.backup.source, table.backup.vault) == before


def test_the_table_has_its_rows_takes_a_write_and_nothing_else_is_changed(table, capsys):
    before = everything(table.backup.lake, table.backup.source, table.backup.vault)
    told = apply(capsys, table)
    assert (told["refused"], told["job"]["state"]) == ("", "succeeded")
    seen = told["job"]["verified"]
    counts = {"rows": 6, "partitions": 0, "vectors": 0}
    assert seen["expected"] == {"version": 5, "files": 6, "bytes": table.point.bytes, **counts}
    assert seen["spark"]["files_equal"]
    assert (seen["spark"]["wrote"], seen["spark"]["version"], seen["deltalake"]["rows"]) == (True, 5, 6)
    assert table.rows(to(table)) == list(range(6))
    after = everything(table.backup.lake, table.backup.source, table.backup.vault)
    assert before.items() <= after.items()
    new = {key.removeprefix(f"{table.backup.source}/restored/t-5/") for key in after.keys() - before.keys()}
    log = {f"{version:020d}.json" for version in (3, 4, 5, 6)} | {f"{3:020d}.checkpoint.parquet"}
    assert {name for name in new if name.startswith("_delta_log/")} == {f"_delta_log/{name}" for name in log}
    assert CLAIM in new
    assert len(new) == len(log) + 7
    source = table.backup.source
    for name in log - {f"{6:020d}.json"}:  # to the byte
        assert after[f"{source}/restored/t-5/_delta_log/{name}"] == before[f"{source}/{LOG}{name}"]
    deltalake.write_deltalake(
        to(table), pa.table({"id": pa.array([99])}), mode="append", storage_options=options(table.backup)
    )
    assert table.rows(to(table)) == [*range(6), 99]
    assert table.rows(table.uri) == list(range(6))


def test_a_plan_says_what_may_be_missing_of_the_newest_version_alone(table, capsys):
    assert not [said for said in restore(capsys, table.uri)["plan"]["consequences"] if "missing" in said]
    RestorePoint.objects.update(accepted_version=None, sentence="More was accepted, or may have been.")
    for to_where in ((), ("--instant",)):
        first, said, *_ = restore(capsys, table.uri, *to_where)["plan"]["consequences"]
        assert said.startswith("Later commits may be missing, by the proof of ")
        assert said.endswith(" UTC: More was accepted, or may have been.")
        assert "missing" not in first
    older = restore(capsys, table.uri, "--version", "4")["plan"]["consequences"]
    assert not [said for said in older if "missing" in said]


def test_a_table_with_a_feature_that_spark_does_not_write_is_restored_and_said_to_be_unwritten(
    table, capsys, monkeypatch
):
    run, code, why = SparkPipeline.run, "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE", "It lacks the writer feature x."

    def refusing(self: SparkPipeline, kind: str, params: Any) -> Any:
        if kind == write_once.KIND:
            raise JobFailed(code, why)
        return run(self, kind, params)

    monkeypatch.setattr(SparkPipeline, "run", refusing)
    told = apply(capsys, table)
    assert told["job"]["state"] == "succeeded"
    assert told["job"]["verified"]["spark"].items() >= {"wrote": False, "reason": why}.items()
    assert "written to" not in told["job"]["message"]
    assert told["job"]["message"].endswith(f"Spark did not write to it: {why}")
    page = flat(signed_in(Role.VIEWER).get(Job.objects.get(kind="restore-table").result["shown_at"]))
    assert "Version 5 is restored.</h2>" in page
    assert "Whether it can be written to is not known" in page
    code = "DELTA_OTHER"
    assert apply(capsys, table, "--version", "4")["job"]["state"] == "failed", "any other refusal is one"


def stop_after(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Let S3 take so many requests that write, and no more; -1 for all."""
    ask, writes = S3.ask, list[str]()

    def asked(self: S3, operation: str, bucket: str, key: str, **more: Any) -> Any:
        if more.get("method", "GET") not in ("GET", "HEAD"):
            if 0 <= most <= len(writes):  # of several threads
                raise AwsError("ConnectionFailed", "it stopped", "", operation, "", key)
            writes.append(key)
        return ask(self, operation, bucket, key, **more)

    monkeypatch.setattr(S3, "ask", asked)


@pytest.mark.parametrize(("checkpoint", "every"), [(3, 5), slowly(3, 1), slowly(None, 1)])
def test_a_stop_at_any_write_leaves_nothing_that_opens_and_the_next_try_ends_it(
    backup, tmp_path, capsys, monkeypatch, checkpoint, every
):
    table = Table(backup, tmp_path, checkpoint)
    backup.put_in_one_part(table.data_file, backup.lake.get(backup.vault, f"pool/{table.data_file}"))
    [table.point] = proven(copied_run(backup)).points.all()  # of a file by an ETag that no copy has
    writes = 1 + 6 + (4 if checkpoint else 6)
    for most in range(0, writes, every):
        with monkeypatch.context() as stopping:
            stop_after(stopping, most)
            assert apply(capsys, table)["job"]["error"]["code"] == "ConnectionFailed"
        with pytest.raises(Exception, match=r"(?i)no files in log segment|not a delta|version|metadata"):
            deltalake.DeltaTable(to(table), storage_options=options(backup))
        if most in (0, 4, 5, writes - 1):
            assert apply(capsys, table)["job"]["state"] == "succeeded"
            assert table.rows(to(table)) == list(range(6))
        for key in below(table):
            backup.lake.delete(backup.source, key)


def test_what_was_restored_may_be_restored_again(table, capsys):
    apply(capsys, table)
    again = apply(capsys, table)["job"]
    assert again["state"] == "succeeded"
    assert [one["outcome"] for one in again["calls"]] == ["already", "already"]


def test_a_restored_table_that_somebody_has_written_to_is_not_restored_over(table, capsys):
    apply(capsys, table)
    deltalake.write_deltalake(
        to(table), pa.table({"id": pa.array([99])}), mode="append", storage_options=options(table.backup)
    )
    assert "is there already. Nothing is overwritten: choose another path." in refusal(capsys, table, to(table))
    assert table.rows(to(table)) == [*range(6), 99]


def test_a_restore_goes_on_after_the_next_backup(table, capsys, monkeypatch):
    with monkeypatch.context() as stopping:
        stop_after(stopping, 4)
        apply(capsys, table)
    table.write(range(6, 9), None)
    new = {key: data for key, data in objects_of(table.folder.parent).items() if not key.endswith("_last_checkpoint")}
    table.backup.put_both(new)
    [table.point] = proven(copied_run(table.backup)).points.all()
    assert table.point.version == 8
    assert apply(capsys, table, "--version", "5")["job"]["state"] == "succeeded"
    assert table.rows(to(table)) == list(range(6))


def test_a_stop_after_spark_s_write_is_gone_on_from(table, capsys, monkeypatch):
    with monkeypatch.context() as stopping:
        stopping.setattr(readers, "after_writing", lambda *_: ["It was killed."])
        assert apply(capsys, table)["job"]["error"]["code"] == "NotProven"
    left = f"restored/t-5/_delta_log/.{6:020d}.crc.00000000-0000-4000-8000-000000000000.tmp"
    table.backup.lake.put(table.backup.source, left, b"{}")  # as S3A leaves it
    told = apply(capsys, table)["job"]
    seen = told["verified"]["spark"]
    assert (told["state"], seen["wrote"], seen["version"]) == ("succeeded", True, 6)


def test_nothing_is_restored_inside_another_restore(table, capsys, monkeypatch):
    with monkeypatch.context() as stopping:
        stop_after(stopping, 4)
        apply(capsys, table)
    inner = to(table, "restored/t-5/inner")
    assert "where something was restored, or is" in refusal(capsys, table, inner)
    for key in below(table):
        table.backup.lake.delete(table.backup.source, key)
    claim = f"restored/t-5/{CLAIM}"
    after_the_last_look(monkeypatch, lambda: table.backup.lake.put(table.backup.source, claim, b"{}"))
    assert "where something was restored, or is" in apply(capsys, table, "--to", inner)["refused"]
    assert not [key for key in below(table) if not key.endswith(CLAIM)]


@pytest.mark.parametrize("key", ["restored/t-5/notes.txt", f"restored/t-5/_delta_log/{7:020d}.json"])
def test_a_path_where_something_lies_is_refused_and_left_alone(table, capsys, key):
    table.backup.lake.put(table.backup.source, key, b"{}")
    assert f"{key} is there already" in refusal(capsys, table, to(table))
    assert below(table) == {key: b"{}"}


def test_a_copy_of_another_size_is_not_made_over(table, capsys, monkeypatch):
    with monkeypatch.context() as stopping:
        stop_after(stopping, 4)
        apply(capsys, table)
    key = next(key for key in below(table) if key.endswith(".parquet"))
    table.backup.lake.put(table.backup.source, key, b"of somebody else")
    assert f"{key} has another size. Nothing is overwritten" in refusal(capsys, table, to(table))
    assert below(table)[key] == b"of somebody else"


def test_folders_that_a_console_made_are_no_objects(table, capsys):
    for key in ("restored/t-5/", "restored/t-5/_delta_log/"):
        table.backup.lake.put(table.backup.source, key, b"")
    assert apply(capsys, table)["job"]["state"] == "succeeded"


def test_a_file_of_the_same_name_is_not_taken_for_a_copy(table, capsys):
    table.backup.lake.put(table.backup.source, table.data_file.replace("t/", "restored/t-5/", 1), b"of somebody else")
    assert "holds another restore, or part of one" in refusal(capsys, table, to(table))


def after_the_last_look(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Act when the path was looked at for the last time before it is claimed."""
    check, there = jobs.check_shown, CopyFiles.there

    def looked(self: CopyFiles, s3: S3) -> Any:
        found = there(self, s3)
        act()
        return found

    def shown(*words: Any) -> None:
        check(*words)
        monkeypatch.setattr(CopyFiles, "there", looked)

    monkeypatch.setattr(jobs, "check_shown", shown)


def test_of_two_restores_to_one_path_the_second_stops(table, capsys, monkeypatch):
    lake, claim = table.backup.lake, f"restored/t-5/{CLAIM}"
    after_the_last_look(monkeypatch, lambda: lake.put(table.backup.source, claim, b"{}"))
    assert "holds another restore" in apply(capsys, table)["refused"]
    assert below(table) == {f"restored/t-5/{CLAIM}": b"{}"}


def test_who_writes_to_the_path_while_it_is_copied_stops_it(table, capsys, monkeypatch):
    copy, stranger = copying.copy_object, "restored/t-5/part-0.parquet"

    def copied(s3: S3, one: copying.Copy) -> str:
        if one.key.endswith(table.data_file[2:]):  # once: of two writers at a time moto answers one with 500
            table.backup.lake.put(table.backup.source, stranger, b"PAR1")
        return copy(s3, one)

    monkeypatch.setattr(copying, "copy_object", copied)
    assert f"{stranger} is there already" in apply(capsys, table)["refused"]
    assert not [key for key in below(table) if "_delta_log/" in key]


@pytest.mark.parametrize(("is_copied", "says"), [(False, "is not there"), (True, "is not what was copied")])
def test_a_copy_that_is_not_found_as_s3_said_stops_it(table, capsys, monkeypatch, is_copied, says):
    copy, name = copying.copy_object, table.data_file.removeprefix("t/")

    def copied(s3: S3, one: copying.Copy) -> str:
        if not one.key.endswith(name):
            return copy(s3, one)
        if is_copied:  # with as many other bytes
            table.backup.lake.put(table.backup.source, one.key, b"?" * one.size)
        return "0" * 32

    monkeypatch.setattr(copying, "copy_object", copied)
    assert f"{name} {says}" in apply(capsys, table)["refused"]
    assert not [key for key in below(table) if "_delta_log/" in key]


def test_a_file_that_was_replaced_after_the_last_look_is_not_copied(table, capsys, monkeypatch):
    lake, vault, key = table.backup.lake, table.backup.vault, f"pool/{table.data_file}"
    other = lake.get(vault, key)[:-1] + b"?"
    after_the_last_look(monkeypatch, lambda: lake.put(vault, key, other))
    assert "is not the object any more" in apply(capsys, table)["refused"]


def test_a_path_that_cannot_be_a_table_s_own_is_refused(table, capsys):
    table.backup.lake.put(table.backup.source, f"other/_delta_log/{0:020d}.json", b"{}")
    vault, paths = table.backup.vault, ("", "a/../t", "a//t", "a/_delta_log", ".hidden/t")
    assert [path for path in paths if "is no path for a table" not in refusal(capsys, table, to(table, path))] == []
    for path in ("t", "t/restored"):
        assert "is where the table itself is, or was" in refusal(capsys, table, to(table, path))
    assert "lies inside the table" in refusal(capsys, table, to(table, "other/restored/t"))
    table.backup.lake.put(table.backup.vault, f"_delta_log/{0:020d}.json", b"{}")
    assert "lies inside the table" in refusal(capsys, table, f"s3a://{vault}/restored/t")
    assert "could not be looked at" in refusal(capsys, table, "s3a://no-such-bucket-0/t")
    assert "is too long for the names below it" in refusal(capsys, table, to(table, "long" * 250))
    for path in ("pool/restored/t", "pool"):
        assert "lies where a backup does" in refusal(capsys, table, f"s3a://{vault}/{path}")
    Plan.objects.filter(pk=table.backup.plan.pk).update(name="moved", destination=f"s3a://{vault}/elsewhere/")
    assert "lies where a backup does" in refusal(capsys, table, f"s3a://{vault}/elsewhere/t")
    assert "lies where a backup does" in refusal(capsys, table, f"s3a://{vault}/pool/restored/t")


def test_the_bucket_of_the_backup_may_be_restored_to_beside_it(table, capsys):
    uri = f"s3a://{table.backup.vault}/restored/t"
    assert apply(capsys, table, "--to", uri)["job"]["state"] == "succeeded"
    assert table.rows(uri) == list(range(6))


def test_an_older_version_is_restored_without_what_came_after_it(table, capsys):
    table.go_on()
    assert apply(capsys, table, "--version", "4")["job"]["state"] == "succeeded"
    assert table.rows(to(table, "restored/t-4")) == list(range(5))
    versions = {key[-25:] for key in below(table) if key.endswith(".json") and "_delta_log/" in key}
    assert f"{5:020d}.json" in versions  # the write of this very restore
    assert f"{6:020d}.json" not in versions
    assert b"levee.restoredFrom" in below(table)[f"restored/t-4/_delta_log/{5:020d}.json"]


def test_log_stores_are_asked_for_entries_of_the_path(table, capsys, monkeypatch):
    said = LeftBehind(not_known=("Whether delta_log has entries of this path is not known: it said no.",))
    monkeypatch.setattr(jobs, "left_behind", lambda *_: said)
    consequences = restore(capsys, table.uri)["plan"]["consequences"]
    assert said.not_known[0] in consequences
    monkeypatch.setattr(jobs, "left_behind", lambda *_: LeftBehind((StoreItem("delta_log", {}),)))
    assert "The log store delta_log has entries of" in refusal(capsys, table, to(table))


def test_a_table_whose_log_names_files_in_full_is_opened_and_not_copied(backup, tmp_path, capsys):
    folder = tmp_path / "t"
    deltalake.write_deltalake(str(folder), pa.table({"id": pa.array([1])}))
    objects = objects_of(tmp_path)
    commit = next(key for key in objects if key.endswith(".json"))
    file = next(key for key in objects if key.endswith(".parquet"))
    row = f'"path":"{file.removeprefix("t/")}"'.encode()
    assert row in objects[commit]
    elsewhere = file.replace("t/", "other/", 1)
    objects[elsewhere] = objects.pop(file)
    objects[commit] = objects[commit].replace(row, f'"path":"s3a://{backup.source}/{elsewhere}"'.encode())
    backup.put_both(objects)
    [point] = proven(copied_run(backup)).points.all()
    assert "names 1 object in full" in restore(capsys, str(point.pk))["refusal"]["reason"]
    assert restore(capsys, str(point.pk), "--instant")["plan"]["archived"] == 0
    put = {"Bucket": backup.vault, "Key": f"pool/{elsewhere}", "Body": objects[elsewhere]}
    backup.boto().put_object(**put, StorageClass="GLACIER")
    assert restore(capsys, str(point.pk), "--instant")["plan"]["archived"] == 1


def test_a_write_that_cannot_be_seen_is_none(table, capsys, monkeypatch):
    run = SparkPipeline.run
    monkeypatch.setattr(SparkPipeline, "run", lambda self, _, params: run(self, "read_table", params))
    told = apply(capsys, table)
    assert told["job"]["error"]["code"] == "NotProven"
    assert "After its write Spark does not see it." in told["refused"]
    assert (told["job"]["verified"]["spark"]["wrote"], told["job"]["ways"]) == (None, None)


def test_the_bucket_of_a_connection_that_is_read_only_is_not_written_to(table, capsys):
    Connection.objects.filter(name="prod").update(read_only=True)
    vault = Connection.objects.create(name="vault", region="us-east-1", endpoint_url=table.backup.lake.origin)
    Plan.objects.update(vault_connection=vault)
    assert "The connection prod is read-only" in apply(capsys, table)["refused"]
    assert below(table) == {}
    elsewhere = f"s3a://{table.backup.vault}/restored/t"
    assert apply(capsys, table, "--to", elsewhere)["job"]["state"] == "succeeded"


def test_keys_of_source_and_backup_are_used_where_they_belong(table, capsys, monkeypatch):
    restored, kept = (f"arn:aws:kms:us-east-1:123456789012:key/{name}" for name in ("of-the-source", "of-the-backup"))
    Plan.objects.update(source_key=restored, encryption_key=kept)
    permissions = restore(capsys, table.uri)["plan"]["permissions"]
    of_keys = [one for one in permissions if one.startswith("kms:")]
    assert of_keys == [f"kms:Decrypt on {kept}", f"kms:Decrypt on {restored}", f"kms:GenerateDataKey on {restored}"]
    ask, keys = S3.ask, dict[str, str]()

    def asked(self: S3, operation: str, bucket: str, key: str, **more: Any) -> Any:
        if more.get("method") == "PUT":
            keys[key] = more["headers"].get("x-amz-server-side-encryption-aws-kms-key-id", "")
        return ask(self, operation, bucket, key, **more)

    monkeypatch.setattr(S3, "ask", asked)
    assert apply(capsys, table)["job"]["state"] == "succeeded"
    assert len(keys) == 11
    assert set(keys.values()) == {restored}
    elsewhere = restore(capsys, table.uri, "--to", f"s3a://{table.backup.vault}/restored/t")["plan"]["permissions"]
    assert [one for one in elsewhere if one.startswith("kms:")] == [f"kms:Decrypt on {kept}"]


def test_how_long_it_takes_is_told_by_the_last_table_that_was_copied(table, capsys):
    apply(capsys, table)
    apply(capsys, table)  # copies nothing, and tells nothing
    first = Job.objects.filter(kind="restore-table").earliest("created_at")
    assert first.result["after"]["copied"] == 6
    first.result |= {"seconds": 10, "copied_in": 4, "after": {"copied": 3}}
    first.save()
    assert restore(capsys, table.uri, "--to", to(table, "again"))["plan"]["seconds"] == 14
    assert restore(capsys, table.uri, "--instant")["plan"]["seconds"] is None
