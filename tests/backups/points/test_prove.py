"""`levee prove`: backups in S3, with and without the plan that made them."""

import time

import pytest
from django.core.management import CommandError, call_command

from backups.contract import ProveJson
from lake.delta.names import commit_name
from tests.backups.points.conftest import refuse
from tests.builders.copies import LOG, appended, commit, without
from tests.builders.delta import EPOCH_MS, add, checkpoint_bytes, first_commit_bytes
from tests.json_types import missing

pytestmark = pytest.mark.django_db

OTHER = "00000000-0000-4000-8000-000000000000"


def test_each_table_below_the_place_is_proven_by_itself(backup, prove):
    backup.put(appended(range(3)), copied=True)
    backup.put(without(appended(range(4)), "t/part-3.parquet"), copied=True, below="a b/")

    points = prove(backup.uri)

    assert missing({"points": points}, ProveJson) == []
    assert [(one["table"], one["state"], one["version"], one["ranges"]) for one in points] == [
        (f"{backup.uri}/a b/t", "behind", 2, [[0, 2]]),
        (f"{backup.uri}/t", "proven", 2, [[0, 2]]),
    ]
    assert [(one["version"], one["key"]) for one in points[0]["blocked"]] == [(3, "a b/t/part-3.parquet")]
    assert {(one["anchored"], one["holds_until"]) for one in points} == {(False, None)}


def test_one_table_is_proven_by_its_own_uri(backup, prove):
    backup.put(appended(range(3)), copied=True)
    backup.put(appended(range(4)), copied=True, below="t2/")
    for words in ([f"{backup.uri}/t"], [backup.uri, "--table", "t"], [backup.uri, "--table", f"{backup.uri}/t/"]):
        assert [(one["table"], one["version"]) for one in prove(*words)] == [(f"{backup.uri}/t", 2)]


def test_with_its_plan_a_copy_is_compared_with_the_source(backup, prove):
    backup.put(appended(range(5)) | commit(4, timestamp=EPOCH_MS + 90_000), copied=False)
    backup.put(appended(range(4)), copied=True)

    [point] = prove(backup.uri, "--plan", "warehouse-daily")

    assert (point["state"], point["version"], point["accepted_version"]) == ("proven", 3, 4)
    assert (point["anchored"], point["plan"]) == (True, "warehouse-daily")
    assert point["rpo_seconds"] == 90


def test_with_its_plan_a_table_younger_than_the_objective_breaks_no_promise(backup, capsys):
    backup.put(appended(range(2)), copied=False)
    backup.put(commit(1, add("part-1.parquet")), copied=True)
    call_command("prove", backup.uri, "--plan", "warehouse-daily")
    assert "The table is younger than the objective of the plan" in capsys.readouterr().out


def test_a_copy_of_a_table_dropped_and_made_anew_is_no_version_of_the_new_one(backup, prove):
    new = {LOG + commit_name(0): first_commit_bytes(table_id=OTHER)} | commit(1, add("new.parquet"))
    backup.put(new, copied=False)
    backup.put(appended(range(6)) | new | {"t/new.parquet": b"x" * 500}, copied=True)

    [point] = prove(f"{backup.uri}/t", "--plan", "warehouse-daily")

    assert (point["state"], point["version"], point["ranges"]) == ("proven", 1, [[0, 1]])
    assert point["incarnation"] == OTHER


@pytest.mark.parametrize(
    ("name", "state"),
    [
        (f".tmp/{commit_name(3)}.{OTHER}", "unprovable"),
        (f"_staged_commits/{3:020d}.{OTHER}.json", "unprovable"),
        (f"_commit_{OTHER}.json.tmp", "unprovable"),
        (f".tmp/{commit_name(2)}.{OTHER}", "proven"),
    ],
)
def test_where_a_commit_waits_only_dynamodb_tells_which_version_is_the_newest(backup, prove, name, state):
    backup.put(appended(range(3)), copied=False, hours_ago=40.5)
    backup.put({LOG + name: b"x"}, copied=False, hours_ago=40)
    backup.put(appended(range(3)), copied=True)

    [point] = prove(backup.uri, "--plan", "warehouse-daily")

    assert (point["state"], point["version"]) == (state, 2)
    assert (point["accepted_version"], point["rpo_seconds"]) == ((2, 0) if state == "proven" else (None, None))
    assert (name in point["sentence"]) is (state == "unprovable")


def test_a_commit_that_waits_in_a_backup_leaves_its_newest_version_unknown_without_a_plan(backup, prove):
    backup.put(appended(range(3)) | {f"{LOG}_staged_commits/{3:020d}.{OTHER}.json": b"x"}, copied=True)
    assert [(one["state"], one["version"]) for one in prove(backup.uri)] == [("unprovable", 2)]


def test_the_same_bytes_under_another_etag_are_the_source_s(backup, prove):
    objects = appended(range(3))
    backup.put(objects, copied=False)
    backup.put(objects, copied=True)
    key, body = LOG + commit_name(1), objects[LOG + commit_name(1)]
    backup.put_in_one_part(key, body)
    assert [one["version"] for one in prove(backup.uri, "--plan", "warehouse-daily")] == [2]

    backup.put_in_one_part(key, body.replace(b"part-1", b"part-2"))
    assert [one["version"] for one in prove(backup.uri, "--plan", "warehouse-daily")] == [0]


def test_a_copy_that_can_neither_be_told_by_its_etag_nor_be_read_is_not_the_source_s(backup, prove, monkeypatch):
    objects = appended(range(3))
    backup.put_both(objects)
    backup.put_in_one_part(LOG + commit_name(1), objects[LOG + commit_name(1)])
    refuse(monkeypatch, "get", "AccessDenied", lambda bucket, key: bucket == backup.vault and commit_name(1) in key)
    [point] = prove(backup.uri, "--plan", "warehouse-daily")
    assert (point["version"], "not known to be the source's" in point["problems"][0]) == (0, True)


def test_a_table_that_the_source_no_longer_has_is_not_proven_with_the_plan_and_is_without(backup, prove):
    backup.put(appended(range(3)), copied=True)
    assert [one["state"] for one in prove(backup.uri, "--plan", "warehouse-daily")] == ["unprovable"]
    assert [one["state"] for one in prove(backup.uri)] == ["proven"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("s3a://elsewhere/x", "--plan", "warehouse-daily"), "does not lie in the destination"),
        (("{uri}-of-another-plan".replace("vault-", "foreign-"), "--plan", "warehouse-daily"), "does not lie in the"),
        (("nowhere",), "is not a URI"),
        (("{uri}", "--plan", "none"), "There is no plan"),
        (("s3a://no-such-bucket-at-all/",), "NoSuchBucket"),
    ],
)
def test_what_cannot_be_read_is_said(backup, words, said):
    with pytest.raises(CommandError, match=said):
        call_command("prove", *(word.format(uri=backup.uri) for word in words))


def test_for_people_it_says_what_stands_in_the_way(backup, capsys):
    backup.put(without(appended(range(4)), "t/part-3.parquet"), copied=True)
    with pytest.raises(CommandError, match="1 of 1 tables are not proven at their newest version"):
        call_command("prove", backup.uri)
    out, err = capsys.readouterr()
    assert "Version 2 can be restored; its log in the backup is at version 3." in out
    assert "Needed by versions 3 to 3: t/part-3.parquet: it is not in the backup." in out
    assert "Without --plan there is no source to compare with" in err


def test_a_clone_is_proven_by_its_own_uri_too(backup, prove):
    clone = {
        LOG + commit_name(0): first_commit_bytes(table_id=OTHER),
        **commit(1, add(f"s3a://{backup.source}/t/part-1.parquet")),
    }
    for copied in (False, True):
        backup.put(appended(range(2)), copied=copied)
        backup.put(clone, copied=copied, below="clones/")
    uri = f"{backup.uri}/clones/t"
    for words in ([uri], [f"{uri}/_delta_log"], [backup.uri, "--table", "clones/t"]):
        [point] = prove(*words, "--plan", "warehouse-daily")
        assert (point["table"], point["state"]) == (uri, "proven")


def test_a_commit_that_is_not_the_source_s_is_named(backup, prove):
    backup.put(appended(range(3)), copied=False, hours_ago=40)
    backup.put(appended(range(3)) | commit(2, add("foreign")), copied=True)
    [point] = prove(backup.uri, "--plan", "warehouse-daily")
    assert (point["state"], point["version"]) == ("behind", 1)
    assert point["problems"] == [f"{commit_name(2)}: It is not known to be the source's object of that name."]


def test_a_time_beyond_every_calendar_is_not_known(backup, prove):
    backup.put(appended(range(2)) | commit(1, add("part-1.parquet"), timestamp=2**63 - 1), copied=True)
    [point] = prove(backup.uri)
    assert (point["state"], point["committed_at"]) == ("proven", None)


@pytest.mark.parametrize(("path", "state"), [("pool/t/part-9.parquet", "proven"), ("other/part-9.parquet", "behind")])
def test_without_a_plan_a_whole_name_counts_where_it_leads_into_the_place(backup, prove, path, state):
    backup.put(appended(range(2)) | commit(2, add(f"s3a://{backup.vault}/{path}")), copied=True)
    for key in ("t/part-9.parquet", "/part-9.parquet", "other/part-9.parquet"):
        backup.lake.put(backup.vault, f"pool/{key}", b"x" * 500)
    assert [one["state"] for one in prove(backup.uri)] == [state]


def test_what_a_writer_left_behind_long_before_the_newest_commit_does_not_wait(backup, prove):
    backup.put(appended(range(3)), copied=True)
    long_ago = time.time() - 7_200
    backup.lake.put(backup.vault, f"pool/{LOG}_commit_{OTHER}.json.tmp", b"x", modified_at=long_ago)
    assert [one["state"] for one in prove(backup.uri)] == ["proven"]


def test_a_source_whose_commits_are_gone_is_at_the_version_of_its_checkpoint(backup, prove):
    checkpoint = {f"{LOG}{2:020d}.checkpoint.parquet": checkpoint_bytes()}
    backup.put(checkpoint, copied=False)
    backup.put(appended(range(3)) | checkpoint, copied=True)
    [point] = prove(backup.uri, "--plan", "warehouse-daily")
    assert (point["state"], point["version"], point["accepted_version"]) == ("unprovable", None, 2)


def test_an_archived_commit_ends_its_own_table_alone(backup, prove, monkeypatch):
    for below in ("", "b/"):
        backup.put(appended(range(3)), copied=True, below=below)
    refuse(monkeypatch, "get", "InvalidObjectState", lambda _, key: key.endswith(f"b/{LOG}{commit_name(2)}"))
    assert [(one["state"], one["version"]) for one in prove(backup.uri)] == [("behind", 1), ("proven", 2)]


def test_trouble_that_is_not_one_object_s_proves_nothing(backup, monkeypatch):
    backup.put(appended(range(3)), copied=True)
    refuse(monkeypatch, "get", "InternalError", lambda _, key: key.endswith(commit_name(2)))
    with pytest.raises(CommandError, match="InternalError"):
        call_command("prove", backup.uri)
