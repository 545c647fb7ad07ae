"""Putting a version back where its table is, or was: what is set aside, in which order, and what a stop leaves."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any
from unittest.mock import Mock

import pytest

from backups.models import Plan
from backups.restores import clearing, copying, jobs, path_contents
from backups.restores.path_contents import PathContents, require_paused
from backups.restores.readers import Readers
from backups.runs.spark_pipeline import SparkPipeline
from changes.calls import LakeCall, Stop
from coordinator.models import DeltaTable
from coordinator.observation.passes import observe_one_table
from dashboard.connections.accepted import LeftBehind
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job
from lake.aws.access import open_lake
from lake.aws.dynamodb import DynamoDB
from lake.aws.list_page import ObjectSummary
from lake.aws.s3 import S3
from lake.backup.objects import CLAIM
from lake.delta.uri import TableUri
from lake.points.reading import NotRestorable
from lake.spark.jobs import copy_files
from sandbox.log_store_writer import LogStoreTable
from tests.backups.points.conftest import refuse
from tests.backups.points.test_accepted import Stores
from tests.backups.restores.restoring import Table, everything, options, restore
from tests.backups.restores.test_new_path import stop_after
from tests.builders.copies import LOG
from tests.builders.delta import UUID, incomplete_item, log_store_item
from tests.choosing import slowly
from tests.lazily import lazily

deltalake = lazily("deltalake")

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _readers(monkeypatch: pytest.MonkeyPatch, by_deltalake: None) -> None:
    monkeypatch.setattr(path_contents, "WRITERS_PAUSE", timedelta(0))


def put_back(capsys: Any, table: Table, *words: str) -> Any:
    return restore(capsys, table.uri, "--in-place", "--version=5", "--apply", "--here", "--confirm", "t", *words)


def at_source(table: Table) -> dict[str, bytes]:
    return {key.partition("/")[2]: data for key, data in everything(table.backup.lake, table.backup.source).items()}


def replace_source(table: Table, objects: dict[str, bytes]) -> None:
    for key in at_source(table):
        table.backup.lake.delete(table.backup.source, key)
    table.backup.put(objects, copied=False)


@pytest.fixture
def gone_on(table: Table) -> Table:
    """The table at version 8, and its restore point at 5."""
    table.go_on()
    return table


def files_of(objects: dict[str, bytes]) -> dict[str, bytes]:
    return {key: data for key, data in objects.items() if not key.startswith(LOG)}


def before_call(monkeypatch: pytest.MonkeyPatch, call: type[LakeCall], act: Callable[[], None]) -> None:
    """Act when a restore comes to a call of this kind."""
    send = call.send

    def sent(self: Any, sending: Any) -> Any:
        act()
        return send(self, sending)

    monkeypatch.setattr(call, "send", sent)


def test_a_table_that_somebody_dropped_is_back_at_its_path_and_takes_a_write(table, capsys):
    replace_source(table, {"another/table": b"stays"})
    vault = everything(table.backup.lake, table.backup.vault)
    told = put_back(capsys, table)
    assert (told["refused"], told["kind"], told["to"], told["aside"]) == ("", "in_place", table.uri, "")
    assert (told["job"]["state"], told["job"]["verified"]["spark"]["wrote"]) == ("succeeded", True)
    assert table.rows(table.uri) == list(range(6))
    after = at_source(table)
    assert after.pop("another/table") == b"stays"
    assert all(key.startswith("t/") and not key.endswith(CLAIM) for key in after)
    assert everything(table.backup.lake, table.backup.vault) == vault


def test_its_name_has_to_be_typed_even_where_nothing_is_lost(table, capsys):
    replace_source(table, {})
    assert "type the name, t, to confirm it" in put_back(capsys, table, "--confirm", "T")["refused"]
    assert at_source(table) == {}


def test_what_is_there_is_set_aside_to_the_byte_and_only_its_log_is_taken_away(gone_on, capsys):
    before, vault = at_source(gone_on), everything(gone_on.backup.lake, gone_on.backup.vault)
    told = put_back(capsys, gone_on)
    assert (told["refused"], told["job"]["state"]) == ("", "succeeded")
    assert "takes versions 6 to 8 out of the table" in told["plan"]["danger"]
    assert told["plan"]["can_lose"]
    assert gone_on.rows(gone_on.uri) == list(range(6))
    after, aside = at_source(gone_on), told["aside"].removeprefix(f"s3a://{gone_on.backup.source}/")
    assert aside.startswith("t.before-restore-")
    log = {key: data for key, data in before.items() if key.startswith(LOG)}
    for key, data in log.items():
        assert after.pop(f"{aside}log/{key.removeprefix(LOG)}") == data
    after.pop(f"{aside}{CLAIM}")
    files = before.keys() - log.keys()
    assert sum(key.endswith(".parquet") for key in files) == 9  # those of versions 6 to 8 stay
    assert {key: after.pop(key) for key in files} == {key: before[key] for key in files}
    own = {f"{version:020d}.json" for version in (3, 4, 5, 6)} | {f"{3:020d}.checkpoint.parquet"}
    assert {key.removeprefix(LOG) for key in after} == own
    assert b"levee.restoredFrom" in after[f"{LOG}{6:020d}.json"]
    assert everything(gone_on.backup.lake, gone_on.backup.vault) == vault


def test_files_that_are_not_there_are_copied_and_one_of_another_etag_is_told(table, capsys):
    before, by_parts = at_source(table), table.data_file
    lacking = next(key for key in before if key.endswith(".parquet") and key != by_parts and LOG not in key)
    table.backup.put_in_one_part(by_parts, before[by_parts], copied=False)
    table.backup.lake.delete(table.backup.source, lacking)
    told = put_back(capsys, table)
    assert (told["job"]["state"], at_source(table)[lacking]) == ("succeeded", before[lacking])
    assert any(call["says"].startswith("Copies 1 object of") for call in told["plan"]["calls"])
    assert any("1 object have another ETag" in sentence for sentence in told["plan"]["consequences"])


def test_what_another_connection_copies_than_spark_s_is_copied_without_spark(table, capsys, monkeypatch):
    asked = Mock(side_effect=Stop("Spark does not start."))
    monkeypatch.setattr(Readers, "run", asked)
    monkeypatch.setattr(copying, "MANY", 1)
    table.backup.lake.delete(table.backup.source, table.data_file)
    assert "Spark does not start." in put_back(capsys, table)["refused"]
    theirs = Connection.objects.create(name="lake", region="us-east-1", endpoint_url=table.backup.lake.origin)
    Plan.objects.update(connection=theirs)
    assert put_back(capsys, table)["job"]["state"] == "succeeded"
    assert [call.args[0].kind for call in asked.call_args_list] == [copy_files.KIND]


def test_a_file_of_another_size_is_not_overwritten(table, capsys):
    key = table.data_file
    table.backup.lake.put(table.backup.source, key, b"of somebody else")
    told = restore(capsys, str(table.point.pk), "--in-place")
    assert f"{key} has another size than in the backup, and nothing is overwritten" in told["refusal"]["reason"]


@pytest.mark.parametrize("every", [9, slowly(1)])
def test_a_stop_at_any_write_leaves_the_table_as_it_was_or_none_and_the_next_try_ends_it(
    gone_on, capsys, monkeypatch, every
):
    before = at_source(gone_on)
    in_log = sum(key.startswith(LOG) for key in before)
    for most in range(0, 1 + in_log + in_log + 4, every):
        with monkeypatch.context() as stopping:
            stop_after(stopping, most)
            assert put_back(capsys, gone_on)["job"]["error"]["code"] == "ConnectionFailed"
        try:
            seen = gone_on.rows(gone_on.uri)
        except Exception as error:  # noqa: BLE001 - whatever deltalake says of no table
            seen = str(error)
        assert seen == list(range(9)) or isinstance(seen, str), (most, seen)
        assert put_back(capsys, gone_on)["job"]["state"] == "succeeded"
        assert gone_on.rows(gone_on.uri) == list(range(6))
        replace_source(gone_on, before)


@pytest.mark.parametrize("version", [8, 9])  # written anew, and one more
def test_who_commits_after_the_plan_keeps_the_commit_and_nothing_is_removed(gone_on, capsys, monkeypatch, version):
    before, commit, lake = at_source(gone_on), f"{LOG}{version:020d}.json", gone_on.backup.lake
    before_call(monkeypatch, clearing.RemoveLog, lambda: lake.put(gone_on.backup.source, commit, b"{}\n"))
    refused = put_back(capsys, gone_on)["refused"]
    assert f"{commit.removeprefix('t/')} was written by now: somebody writes to the table" in refused
    assert (before | {commit: b"{}\n"}).items() <= at_source(gone_on).items()


def test_who_commits_while_the_log_is_put_back_is_not_passed_over(gone_on, capsys, monkeypatch):
    commit, lake, maker = f"{LOG}{9:020d}.json", gone_on.backup.lake, clearing.PutLog._maker

    def made(self: Any) -> Any:
        def one(name: str, data: bytes) -> bytes:
            lake.put(gone_on.backup.source, commit, b"{}\n")
            return bytes(maker(self)(name, data))

        return one

    monkeypatch.setattr(clearing.PutLog, "_maker", made)
    assert f"{commit} is there already. Nothing is overwritten" in put_back(capsys, gone_on)["refused"]


def test_a_file_that_goes_while_the_log_is_put_back_is_missed(table, capsys, monkeypatch):
    lake, gone = table.backup.lake, table.data_file
    before_call(monkeypatch, clearing.PutLog, lambda: lake.delete(table.backup.source, gone))
    assert f"{gone.removeprefix('t/')} has gone: stop VACUUM" in put_back(capsys, table)["refused"]


def test_a_file_that_is_written_after_the_plan_is_not_overwritten(table, capsys, monkeypatch):
    lake, changed = table.backup.lake, table.data_file
    before_call(monkeypatch, clearing.PutBack, lambda: lake.put(table.backup.source, changed, b"of somebody else"))
    assert f"{changed} has another size. Nothing is overwritten" in put_back(capsys, table)["refused"]
    assert at_source(table)[changed] == b"of somebody else"


def test_a_plan_changes_nothing_and_has_the_same_digest_in_each_process(gone_on, capsys, monkeypatch):
    before, plans, plan = everything(gone_on.backup.lake, gone_on.backup.source), list[Any](), jobs.plan_in_place
    monkeypatch.setattr(jobs, "plan_in_place", lambda *words: plans.append(plan(*words)) or plans[-1])
    assert restore(capsys, str(gone_on.point.pk), "--in-place")["job"] is None
    assert "set(" not in repr(plans[0].calls)  # whose order is another in each
    assert everything(gone_on.backup.lake, gone_on.backup.source) == before


def test_of_two_points_of_a_table_one_is_put_back_at_a_time(gone_on, capsys):
    put_back(capsys, gone_on)
    job = Job.objects.get(kind="restore-table", target_type="table-in-place", target_label=gone_on.uri)
    assert job.target_id != str(gone_on.point.pk)


def test_a_log_goes_so_that_no_older_version_can_be_read_of_it(gone_on, capsys, monkeypatch):
    deleted, delete = list[str](), S3.delete

    def noted(self: S3, bucket: str, key: str, **more: Any) -> Any:
        deleted.append(key.removeprefix(LOG))
        return delete(self, bucket, key, **more)

    monkeypatch.setattr(S3, "delete", noted)
    put_back(capsys, gone_on)
    commits = [f"{version:020d}.json" for version in range(9)]
    first = deleted.index(commits[0])
    assert {*deleted[:first]} >= {f"{3:020d}.checkpoint.parquet", f"{8:020d}.checkpoint.parquet"}
    assert {*deleted[first:]} == {*commits}


def test_nothing_is_removed_of_which_no_copy_lies_aside(gone_on, capsys, monkeypatch):
    before = at_source(gone_on)

    def lose() -> None:
        for key in at_source(gone_on):
            if "/log/" in key and key.endswith(f"{4:020d}.json"):
                gone_on.backup.lake.delete(gone_on.backup.source, key)

    before_call(monkeypatch, clearing.RemoveLog, lose)
    assert "is not set aside. Nothing was removed." in put_back(capsys, gone_on)["refused"]
    assert before.items() <= at_source(gone_on).items()


def test_entries_of_the_path_go_newest_first_and_are_kept_as_json(backup, gone_on, capsys, monkeypatch):
    stores, path, deleted, through = Stores(backup), f"s3a://{backup.source}/t", list[str](), list[str]()
    entries = [log_store_item(4, path), log_store_item(8, path), incomplete_item(9, path)]
    for item in (*entries, log_store_item(8, f"{path}2")):
        stores.put(stores.log_store, item)
    monkeypatch.setattr("backups.restores.readers.require_log_store_class", lambda _: None)
    run, delete = SparkPipeline.run, DynamoDB.delete_item

    def ran(self: Any, *words: Any) -> Any:
        through.append(self._log_store)
        return run(self, *words)

    def noted(self: DynamoDB, table: str, key: Any, **more: Any) -> Any:
        answer = delete(self, table, key, **more)
        deleted.append(key["fileName"]["S"])
        return answer

    monkeypatch.setattr(SparkPipeline, "run", ran)
    monkeypatch.setattr(DynamoDB, "delete_item", noted)
    told = put_back(capsys, gone_on)
    assert told["job"]["state"] == "succeeded"
    assert "takes versions 6 to 9 out of the table" in told["plan"]["danger"]
    assert deleted == [f"{version:020d}.json" for version in (9, 8, 4)]
    left = backup.lake.dynamodb("Scan", TableName=stores.log_store)["Items"]
    assert left == [log_store_item(8, f"{path}2")]
    kept = json.loads(backup.lake.get(backup.source, f"{told['aside'].partition(backup.source)[2][1:]}{CLAIM}"))
    assert [one["item"] for one in kept["entries"]] == entries
    assert set(through) == {stores.log_store}
    writer, mark = LogStoreTable(backup.lake, stores.log_store, backup.source, "t"), at_source(gone_on)
    for version in (7, 8, 9):  # as upstream commits: an entry that was left would make it try the version for ever
        writer.refresh()
        writer.commit(version, mark[f"{LOG}{6:020d}.json"])
    assert gone_on.rows(gone_on.uri) == list(range(6))
    assert deltalake.DeltaTable(gone_on.uri, storage_options=options(backup)).version() == 9


def test_without_the_log_store_s_class_nothing_is_begun(backup, gone_on, capsys):
    stores = Stores(backup)
    stores.put(stores.log_store, log_store_item(8, f"s3a://{backup.source}/t"))
    before = at_source(gone_on)
    refused = put_back(capsys, gone_on)["refused"]
    assert refused.startswith("Stopped before any change: Spark's class path lacks")
    assert at_source(gone_on) == before


def test_an_entry_that_a_writer_has_changed_stops_it_before_anything_is_removed(backup, gone_on, capsys, monkeypatch):
    stores, path, before = Stores(backup), f"s3a://{backup.source}/t", at_source(gone_on)
    stores.put(stores.log_store, incomplete_item(9, path))
    monkeypatch.setattr("backups.restores.readers.require_log_store_class", lambda _: None)
    newer = log_store_item(9, path)
    before_call(monkeypatch, clearing.ClearStores, lambda: stores.put(stores.log_store, newer))
    assert "is another by now: somebody writes to the table" in put_back(capsys, gone_on)["refused"]
    assert backup.lake.dynamodb("Scan", TableName=stores.log_store)["Items"] == [newer]
    assert files_of(before).items() <= at_source(gone_on).items()


def test_a_registration_of_the_path_is_closed_and_its_version_is_not_lowered(backup, gone_on, capsys):
    stores = Stores(backup)
    stores.register(9, {f"{LOG}_staged_commits/{9:020d}.{UUID}.json": b"{}\n"})
    [was] = backup.lake.dynamodb("Scan", TableName=stores.coordinator)["Items"]
    told = put_back(capsys, gone_on)
    assert told["job"]["state"] == "succeeded"
    [item] = backup.lake.dynamodb("Scan", TableName=stores.coordinator)["Items"]
    assert item == was | {"acceptingCommits": {"BOOL": False}, "commits": {"L": []}}
    kept = json.loads(backup.lake.get(backup.source, f"{told['aside'].partition(backup.source)[2][1:]}{CLAIM}"))
    assert [one["item"] for one in kept["registrations"]] == [was]


def test_registrations_read_in_another_order_make_the_same_plan(backup, gone_on, capsys, monkeypatch):
    stores, scan, digests = Stores(backup), DynamoDB.scan, set[str]()
    for name in ("one", "two"):
        stores.register(8, {}, tableId={"S": name})
    for order in (1, -1):
        monkeypatch.setattr(DynamoDB, "scan", lambda *of, by=order: [sorted(chain(*scan(*of)), key=repr)[::by]])
        digests.add(restore(capsys, str(gone_on.point.pk), "--in-place")["plan"]["digest"])
    assert len(digests) == 1


def test_a_registration_that_a_writer_has_moved_stops_it(backup, gone_on, capsys, monkeypatch):
    stores, before = Stores(backup), at_source(gone_on)
    stores.register(8, {})
    before_call(monkeypatch, clearing.ClearStores, lambda: stores.register(9, {}))
    assert "is another by now" in put_back(capsys, gone_on)["refused"]
    [item] = backup.lake.dynamodb("Scan", TableName=stores.coordinator)["Items"]
    assert (item["tableVersion"], item["acceptingCommits"]) == ({"N": "9"}, {"BOOL": True})
    assert files_of(before).items() <= at_source(gone_on).items()


def test_a_commit_that_waits_to_be_published_is_named_by_its_store_until_its_log_is_aside(
    backup, gone_on, capsys, monkeypatch
):
    stores, path = Stores(backup), f"s3a://{backup.source}/t"
    waiting = incomplete_item(9, path)
    backup.lake.put(backup.source, f"{LOG}{waiting['tempPath']['S']}", b"{}\n")
    stores.put(stores.log_store, waiting)
    stores.register(9, {f"{LOG}_staged_commits/{9:020d}.{UUID}.json": b"{}\n"})
    [registered] = backup.lake.dynamodb("Scan", TableName=stores.coordinator)["Items"]
    monkeypatch.setattr("backups.restores.readers.require_log_store_class", lambda _: None)
    refuse(monkeypatch, "delete", "AccessDenied")
    told = put_back(capsys, gone_on)
    assert told["job"]["error"]["code"] == "AccessDenied"
    assert backup.lake.dynamodb("Scan", TableName=stores.log_store)["Items"] == [waiting]
    assert backup.lake.dynamodb("Scan", TableName=stores.coordinator)["Items"] == [registered]


def test_a_commit_store_that_cannot_be_read_refuses_it(backup, table, capsys):
    stores = Stores(backup)
    backup.lake.dynamodb("DeleteTable", TableName=stores.log_store)
    told = restore(capsys, str(table.point.pk), "--in-place")
    assert f"What {stores.log_store} has of this path is not known" in told["refusal"]["reason"]


NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def stands(name: str, ago: timedelta, uri: str = "s3a://lake/t") -> PathContents:
    log = {name: ObjectSummary(f"{uri}/_delta_log/{name}", 3, NOW - ago, "etag")}
    return PathContents(log, frozenset(), 0, LeftBehind())


def test_a_log_that_was_written_to_lately_is_left_alone_but_for_what_the_restore_itself_wrote(monkeypatch):
    monkeypatch.setattr(path_contents, "WRITERS_PAUSE", timedelta(minutes=10))
    own = [("3.json", 3)]
    with pytest.raises(NotRestorable, match=r"_delta_log/4\.json was written at 2026-11-20 11:50:01 UTC: stop"):
        require_paused(stands("4.json", timedelta(minutes=9, seconds=59)), own, NOW)
    require_paused(stands("4.json", timedelta(minutes=10)), own, NOW)
    require_paused(stands("3.json", timedelta(0)), own, NOW)
    require_paused(PathContents({}, frozenset(), 0, LeftBehind()), own, NOW)


def test_what_was_taken_out_on_purpose_is_no_loss_to_the_next_look(backup, gone_on, capsys, monkeypatch):
    stores, prod = Stores(backup), Connection.objects.get(name="prod")
    for version in range(3, 9):
        stores.put(stores.log_store, log_store_item(version, gone_on.uri, expireTime={"N": "1900000000"}))
    monkeypatch.setattr("backups.restores.readers.require_log_store_class", lambda _: None)

    def look() -> list[tuple[str, int | None]]:
        with open_lake(lake_access(prod)) as lake:
            observe_one_table(prod, lake, TableUri.parse(gone_on.uri))
        return [*DeltaTable.objects.filter(uri=gone_on.uri).values_list("state", "published_version")]

    assert look() == [("healthy", 8)]
    put_back(capsys, gone_on)
    stores.put(stores.log_store, log_store_item(6, gone_on.uri, expireTime={"N": "1900000000"}))  # as Spark leaves it
    assert look() + look() == [("healthy", 6)] * 2
