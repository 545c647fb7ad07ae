"""Removing a restored copy: all of it and nothing else, and only what the backup has."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from backups.restores import removing
from coordinator.models import DeltaTable
from coordinator.observation.passes import observe_one_table
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
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
    assert told["job"]["message"] == f"13 objects removed. Nothing lies at {to(table)} any more."
    assert lake(table) == before
    again = remove(capsys, table, "--apply")
    assert again["refusal"]["reason"] == f"Nothing is removed. Nothing lies at {to(table)} any more."
    assert apply(capsys, table)["job"]["state"] == "succeeded", "the path is free"


def add_file(table: Table) -> bytes:
    """The commit of Spark, with one more file."""
    added = {"add": {"path": "x.parquet", "partitionValues": {}, "size": 1, "modificationTime": 0, "dataChange": True}}
    return table.backup.lake.get(table.backup.source, OF_SPARK) + json.dumps(added).encode()


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("part-of-somebody.parquet", b"x"),
        (f"_delta_log/{7:020d}.json", b"{}"),
        (f"_delta_log/{6:020d}.json", b'{"commitInfo": {}}'),
        (f"_delta_log/{6:020d}.json", add_file),
        (
            f"_delta_log/{4:020d}.json",
            lambda table: table.backup.lake.get(table.backup.source, f"{LOG}{4:020d}.json")[::-1],
        ),
        (f"_delta_log/.tmp/{6:020d}.json.5b8a2d0e", b"{}"),
        (f"_delta_log/_staged_commits/{6:020d}.5b8a2d0e.json", b"{}"),
        (CLAIM, b"{}"),
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


def before_its_listing(monkeypatch: pytest.MonkeyPatch, number: int, act: Callable[[], Any]) -> None:
    """Act before one of the listings: 1 that of the plan, 2 of the job's own plan, 3 of its call, 4 once it closed the
    log, 5 when the log is removed, 6 at the end."""
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
    assert ("keeps writers out" in told["error"]["text"]) == (len(lake(table)) == len(there) + 2) == (number == 4)


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
    assert f"Nothing was removed, but {7:020d}.json keeps writers out: delete it where the table is to be kept." in told
    assert table.rows(to(table)) == list(range(6))
    table.backup.lake.delete(table.backup.source, f"{LOG}{7:020d}.json")
    append(table)
    assert table.rows(to(table)) == [*range(6), 99]


def test_a_commit_that_comes_while_the_log_is_removed_keeps_its_data_files(table, capsys, monkeypatch):
    apply(capsys, table)
    files = {key for key in below(table) if "_delta_log" not in key}
    commit = f"{LOG}{0:020d}.json"
    before_its_listing(monkeypatch, 5, lambda: table.backup.lake.put(table.backup.source, commit, b"{}"))
    told = remove(capsys, table, "--apply")["job"]
    assert f"{commit.removeprefix(AT)} was written by now: somebody writes to the table." in told["error"]["text"]
    assert set(below(table)) == files | {commit}


@pytest.mark.parametrize("every", [4, slowly(1)])
def test_a_stop_at_any_write_is_gone_on_from_and_loses_nothing_else(table, capsys, monkeypatch, every):
    before = lake(table)
    for most in range(0, 15, every):  # the closing commit, what was restored, and the closing commit again
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
    assert "Of the data files 6 objects cannot be compared with the backup." in plan["danger"]
    assert (
        remove(capsys, table, "--apply")["refused"]
        == "This can lose a commit: type the name, restored.t-5, to confirm it."
    )
    assert remove(capsys, table, "--apply", "--confirm", "restored.t-5")["job"]["state"] == "succeeded"
    assert lake(table) == before


def test_a_table_that_was_removed_has_not_vanished(table, capsys):
    apply(capsys, table)
    prod = Connection.objects.get(name="prod")
    with open_lake(lake_access(prod)) as of_prod:
        observe_one_table(prod, of_prod, TableUri.parse(to(table)))
        observe_one_table(prod, of_prod, TableUri.parse(table.uri))
    remove(capsys, table, "--apply")
    assert [*DeltaTable.objects.values_list("uri", flat=True)] == [table.uri]


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
