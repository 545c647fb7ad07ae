"""Removing a restored copy: all of it and nothing else, and only what the backup has."""

import json
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest

from backups.queries.restores import restore_page
from backups.restores import actions, jobs, readers, removing
from coordinator.models import DeltaTable
from coordinator.observation.passes import observe_one_table
from dashboard.accounts.actor import Actor
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job
from lake.aws import copying
from lake.aws.access import open_lake
from lake.aws.s3 import S3
from lake.backup.objects import CLAIM
from lake.delta.opened_log import READ_ONLY
from lake.delta.uri import TableUri
from tests.backups.restores.restoring import Table, apply, everything, options, restore
from tests.backups.restores.test_new_path import below, stop_after, to
from tests.choosing import slowly
from tests.lazily import lazily

deltalake = lazily("deltalake")
pa = lazily("pyarrow")

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("by_deltalake")]

AT, LOG = "restored/t-5/", "restored/t-5/_delta_log/"
OF_SPARK = f"{LOG}{6:020d}.json"


def remove(capsys: Any, table: Table, *words: str) -> Any:
    return restore(capsys, to(table), "--remove", *words)


def lake(table: Table) -> dict[str, bytes]:
    return everything(table.backup.lake, table.backup.source, table.backup.vault)


def append(table: Table, opened: Any = None) -> None:
    deltalake.write_deltalake(
        opened or to(table), pa.table({"id": pa.array([99])}), mode="append", storage_options=options(table.backup)
    )


def test_everything_that_a_restore_wrote_is_removed_and_nothing_else(table, capsys):
    before = lake(table)
    apply(capsys, table)
    restored = lake(table)
    told = remove(capsys, table)
    assert (told["refused"], told["job"], told["plan"]["danger"]) == ("", None, "")
    assert told["plan"]["objects"] == len(below(table))
    assert told["plan"]["bytes"] == sum(len(data) for data in below(table).values())
    assert lake(table) == restored
    told = remove(capsys, table, "--apply")
    assert (told["refused"], told["job"]["state"]) == ("", "succeeded")
    assert told["job"]["message"] == f"12 objects removed. Nothing is left at {to(table)}/."
    assert lake(table) == before
    again = remove(capsys, table, "--apply")
    assert (again["refused"], again["job"]["message"]) == ("", f"Nothing is left at {to(table)}/.")
    assert apply(capsys, table)["job"]["state"] == "succeeded", "the path is free"


def add_file(table: Table) -> bytes:
    """The commit of Spark, with one more file."""
    added = {"add": {"path": "x.parquet", "partitionValues": {}, "size": 1, "modificationTime": 0, "dataChange": True}}
    return table.backup.lake.get(table.backup.source, OF_SPARK).rstrip() + b"\n" + json.dumps(added).encode()


@pytest.mark.parametrize(
    ("path", "data"),
    [
        (f"{6:020d}.crc", b"x"),  # beside the log, where that would be its own
        (f"_delta_log/{7:020d}.json", lambda table: table.backup.lake.get(table.backup.source, OF_SPARK)),
        (f"_delta_log/{6:020d}.json", b'{"commitInfo": {}}'),
        (f"_delta_log/{6:020d}.json", add_file),
        (
            f"_delta_log/{4:020d}.json",
            lambda table: table.backup.lake.get(table.backup.source, f"{LOG}{4:020d}.json")[::-1],
        ),
        (f"_delta_log/.tmp/{6:020d}.json.5b8a2d0e", b"{}"),
        (f"_delta_log/_staged_commits/{6:020d}.5b8a2d0e.json", b"{}"),
        ("_delta_log/.notes", b"{}"),
        (f"_delta_log/{9:020d}.checkpoint.parquet", b"x"),
        ("_delta_log/_sidecars/notes.txt", b"{}"),
        slowly("_delta_log", b"x"),
        slowly("_change_data/cdc-1.parquet", b"x"),
    ],
)
def test_where_anything_else_lies_nothing_is_removed(table, capsys, path, data):
    apply(capsys, table)
    table.backup.lake.put(table.backup.source, AT + path, data(table) if callable(data) else data)
    there = lake(table)
    told = remove(capsys, table, "--apply")
    assert told["refused"] == "Nothing was removed: see above."
    assert (
        f"{to(table)}/{path} is not as the restore wrote it: somebody has written to the table"
        in told["refusal"]["reason"]
    )
    assert lake(table) == there


def test_where_a_data_file_has_another_size_nothing_is_removed(table, capsys):
    apply(capsys, table)
    file = next(key for key in below(table) if key.endswith(".parquet") and not key.startswith(LOG))
    table.backup.lake.put(table.backup.source, file, b"x")
    there = lake(table)
    reason = remove(capsys, table, "--apply", "--confirm", "restored.t-5")["refusal"]["reason"]
    assert f"{to(table)}/{file.removeprefix(AT)} is not as the restore wrote it" in reason
    assert lake(table) == there


def before_its_listing(monkeypatch: pytest.MonkeyPatch, number: int, act: Callable[[], Any]) -> None:
    """Act before one of the listings: 1 that of the plan, 2 of the job's own plan, 3 of its call, 4 once it closed the
    log, 5 when the log is removed but for what closes it, 6 at the end."""
    read, calls = removing.listed, list[int]()

    def listed(*words: Any) -> Any:
        calls.append(0)
        if len(calls) == number:
            act()
        return read(*words)

    monkeypatch.setattr(removing, "listed", listed)


@pytest.mark.parametrize("number", [3, 4])
def test_a_file_that_somebody_puts_there_meanwhile_stops_it_before_anything_is_removed(
    table, capsys, monkeypatch, number
):
    apply(capsys, table)
    there = lake(table)
    before_its_listing(monkeypatch, number, lambda: table.backup.lake.put(table.backup.source, f"{AT}x", b"x"))
    told = remove(capsys, table, "--apply")["job"]
    assert (told["state"], told["error"]["code"]) == ("failed", "Moved")
    assert f"{to(table)}/x was written by now. Nothing was removed" in told["error"]["text"]
    assert there.items() <= lake(table).items()
    assert ("writers are kept out" in told["error"]["text"]) == (len(lake(table)) == len(there) + 2) == (number == 4)


def test_who_commits_before_the_log_is_closed_keeps_the_table(table, capsys, monkeypatch):
    apply(capsys, table)
    put = S3.put

    def after_a_commit(self: S3, bucket: str, key: str, *words: Any, **more: Any) -> Any:
        append(table)
        return put(self, bucket, key, *words, **more)

    monkeypatch.setattr(S3, "put", after_a_commit)
    told = remove(capsys, table, "--apply")["job"]
    assert f"/_delta_log/{7:020d}.json was written by now. Nothing was removed" in told["error"]["text"]
    assert table.rows(to(table)) == [*range(6), 99]
    assert "somebody has written to the table since" in remove(capsys, table)["refusal"]["reason"]


def test_who_has_the_table_open_cannot_commit_once_the_log_is_closed(table, capsys, monkeypatch):
    apply(capsys, table)
    opened = deltalake.DeltaTable(to(table), storage_options=options(table.backup))
    refused = list[str]()

    def write() -> None:
        for one, says in ((opened, "Protocol changed since last commit"), (None, READ_ONLY)):
            with pytest.raises(Exception, match=says):
                append(table, one)
            refused.append(says)

    before_its_listing(monkeypatch, 4, write)
    told = remove(capsys, table, "--apply")["job"]["error"]["text"]
    assert len(refused) == 2
    assert f"Nothing was removed, but writers are kept out by {7:020d}.json: delete that to keep the table." in told
    assert table.rows(to(table)) == list(range(6))
    table.backup.lake.delete(table.backup.source, f"{LOG}{7:020d}.json")
    append(table)
    assert table.rows(to(table)) == [*range(6), 99]


@pytest.mark.parametrize(("number", "keeps"), [(5, True), (6, False)])
def test_a_commit_that_comes_while_the_log_is_removed_keeps_its_data_files(table, capsys, monkeypatch, number, keeps):
    apply(capsys, table)
    files = {key for key in below(table) if "_delta_log" not in key} | {f"{LOG}{7:020d}.json"}
    commit = f"{LOG}{0:020d}.json"
    before_its_listing(monkeypatch, number, lambda: table.backup.lake.put(table.backup.source, commit, b"{}"))
    told = remove(capsys, table, "--apply")["job"]
    assert f"{commit.removeprefix(AT)} was written by now: somebody writes to the table." in told["error"]["text"]
    assert set(below(table)) == {commit, *(files if keeps else ())}


@pytest.mark.parametrize("number", [5, 6])
def test_no_writer_can_commit_until_the_data_files_are_gone(table, capsys, monkeypatch, number):
    apply(capsys, table)
    seen = list[set[str]]()
    before_its_listing(monkeypatch, number, lambda: seen.append({key.removeprefix(AT) for key in below(table)}))
    assert remove(capsys, table, "--apply")["job"]["state"] == "succeeded"
    [left] = seen
    log = {name for name in left if name.startswith("_delta_log/")}
    assert log == ({f"_delta_log/{7:020d}.json"} if number == 5 else set())
    assert (CLAIM in left) == (number == 5)


def test_what_closes_the_log_goes_after_the_data_files_and_the_claim_is_the_last(table, capsys, monkeypatch):
    apply(capsys, table)
    delete, keys = S3.delete, list[str]()

    def noted(self: S3, bucket: str, key: str, **more: Any) -> Any:
        keys.append(key.removeprefix(AT))
        return delete(self, bucket, key, **more)

    monkeypatch.setattr(S3, "delete", noted)
    remove(capsys, table, "--apply")
    assert len(keys) == 13
    assert keys[-2:] == [f"_delta_log/{7:020d}.json", CLAIM]
    assert all(name.startswith("_delta_log/") for name in keys[:5])


def test_a_table_that_spark_did_not_write_to_is_closed_at_the_version_that_a_writer_would_take(
    table, capsys, monkeypatch
):
    monkeypatch.setattr(readers, "after_writing", lambda *_: ["It was killed."])
    apply(capsys, table)
    table.backup.lake.delete(table.backup.source, OF_SPARK)
    refused = list[str]()

    def write() -> None:
        with pytest.raises(Exception, match=READ_ONLY):
            append(table)
        refused.append(READ_ONLY)

    before_its_listing(monkeypatch, 4, write)
    told = remove(capsys, table, "--apply")
    assert f"Ends the log by {6:020d}.json and {7:020d}.json, which keeps" in told["plan"]["calls"][0]["says"]
    assert (refused, told["job"]["state"], below(table)) == ([READ_ONLY], "succeeded", {})


def test_a_restore_and_a_removal_of_one_path_exclude_each_other(table, capsys):
    apply(capsys, table)
    removal = remove(capsys, table, "--apply", "--enqueue")["job"]
    assert removal["state"] == "queued"
    told = apply(capsys, table)["job"]["error"]
    assert (told["code"], f"job {removal['id']} works at {to(table)} too" in told["text"]) == ("Busy", True)
    Job.objects.filter(pk=removal["id"]).update(state="cancelled")
    restoring = restore(capsys, table.uri, "--apply", "--enqueue")["job"]
    told = remove(capsys, table, "--apply")["job"]["error"]
    assert (told["code"], f"job {restoring['id']} works at {to(table)} too" in told["text"]) == ("Busy", True)
    assert table.rows(to(table)) == list(range(6))


@pytest.mark.parametrize("every", [4, slowly(1)])
def test_a_stop_at_any_write_is_gone_on_from_and_loses_nothing_else(table, capsys, monkeypatch, every):
    before = lake(table)
    for most in range(0, 14, every):  # the closing commit, what was restored, and the closing commit again
        assert apply(capsys, table)["job"]["state"] == "succeeded"
        with monkeypatch.context() as stopping:
            stop_after(stopping, most)
            assert remove(capsys, table, "--apply")["job"]["error"]["code"] == "ConnectionFailed"
        assert before.items() <= lake(table).items()
        assert remove(capsys, table, "--apply")["job"]["state"] == "succeeded"
        assert lake(table) == before


def test_a_restore_that_did_not_end_is_removed(table, capsys, monkeypatch):
    before = lake(table)
    for most in (1, 5, 10):
        with monkeypatch.context() as stopping:
            stop_after(stopping, most)
            assert apply(capsys, table)["job"]["state"] == "failed"
        assert len(below(table)) == most
        assert remove(capsys, table, "--apply")["job"]["state"] == "succeeded"
        assert lake(table) == before


def test_what_the_backup_has_not_any_more_is_not_removed(table, capsys):
    apply(capsys, table)
    table.backup.lake.delete(table.backup.vault, f"pool/{table.data_file}")
    there = lake(table)
    reason = remove(capsys, table, "--apply")["refusal"]["reason"]
    assert f"Version 5 cannot be restored now. It lacks {table.data_file}" in reason
    assert lake(table) == there


def test_where_etags_do_not_tell_that_the_backup_has_the_bytes_the_name_is_typed(table, capsys, monkeypatch):
    before = lake(table)
    with monkeypatch.context() as in_parts:
        in_parts.setattr(copying, "COPY_LIMIT", 1)
        apply(capsys, table)
    plan = remove(capsys, table)["plan"]
    assert plan["can_lose"]
    assert plan["danger"].startswith("Of 6 objects it is not known whether the backup has the same bytes.")
    assert not [one for one in plan["consequences"] if "were compared" in one]
    assert (
        remove(capsys, table, "--apply")["refused"]
        == "This can lose a commit: type the name, restored.t-5, to confirm it."
    )
    assert remove(capsys, table, "--apply", "--confirm", "restored.t-5")["job"]["state"] == "succeeded"
    assert lake(table) == before


def test_a_table_that_was_removed_has_not_vanished(table, capsys, monkeypatch):
    apply(capsys, table)
    prod = Connection.objects.get(name="prod")
    with open_lake(lake_access(prod)) as of_prod:
        observe_one_table(prod, of_prod, TableUri.parse(to(table)))
        observe_one_table(prod, of_prod, TableUri.parse(table.uri))
    elsewhere = Connection.objects.create(name="other", region="us-east-1", endpoint_url="http://127.0.0.1:1")
    own = DeltaTable.objects.get(uri=to(table))
    DeltaTable.objects.create(connection=elsewhere, bucket=own.bucket, prefix=own.prefix, name="t-5", uri=own.uri)
    with monkeypatch.context() as stopping:
        stopping.setattr(jobs, "forget_table", Mock(side_effect=KeyError))
        assert remove(capsys, table, "--apply")["job"]["state"] == "failed"
    assert remove(capsys, table, "--apply")["job"]["state"] == "succeeded", "although nothing is left there"
    known = DeltaTable.objects.order_by("pk").values_list("uri", "connection__name")
    assert [*known] == [(table.uri, "prod"), (to(table), "other")]


def test_the_restore_that_wrote_is_removed_and_not_one_that_was_refused_since(table, capsys):
    before, command = lake(table), Actor.command()
    planned = actions.plan_restore(command, table.point, 4, to=to(table), here=True)
    apply(capsys, table)
    refused = actions.restore(command, table.point, planned, planned.result["plan"]["digest"], here=True)
    assert refused.error_text.startswith("Stopped before any change")
    assert restore_page(table.point, planned).copy is None
    assert remove(capsys, table, "--apply")["job"]["state"] == "succeeded"
    assert lake(table) == before


def test_another_restore_that_is_there_is_not_removed(table, capsys, monkeypatch):
    apply(capsys, table)
    table.backup.lake.put(table.backup.source, AT + CLAIM, b"{}")
    there = lake(table)
    for small in (removing.SMALL, 1):
        monkeypatch.setattr(removing, "SMALL", small)
        assert "another restore is there" in remove(capsys, table, "--apply")["refusal"]["reason"]
    assert lake(table) == there


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["s3a://lake/restored/t-5"], "Levee knows of nothing that it has restored to s3a://lake/restored/t-5"),
        ([], "--remove goes with the URI"),
        (["s3a://lake/restored/t-5", "--at", "2026-11-20T10:00Z"], "--remove goes with the URI"),
    ],
)
def test_what_cannot_be_removed_is_said(table, capsys, words, says):
    assert says in restore(capsys, *words, "--remove")["refused"]


def test_what_is_open_in_the_backup_is_not_removed_so(table, capsys):
    opened = apply(capsys, table, "--instant")["to"]
    assert "knows of nothing that it has restored to" in restore(capsys, opened, "--remove")["refused"]
