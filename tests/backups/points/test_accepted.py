"""Commits that only DynamoDB knows: what of them counts as accepted, and which of them a backup restores."""

from dataclasses import replace
from typing import Any

import pytest

from backups import jobs as jobs_of_runs
from backups.points import jobs
from coordinator.models import CommitStore
from coordinator.observation import accepted
from dashboard.connections.accepted import LeftBehind, StoreItem
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from lake.aws.access import open_lake
from lake.aws.dynamodb import DynamoDB
from lake.aws.errors import AwsError
from lake.delta.facts import ReadingProblem
from lake.delta.names import commit_name
from lake.delta.uri import TableUri
from tests.backups.points.commit_stores import Stores, body, coordinated, old, part, proven, shape, staged, stores, temp
from tests.backups.points.conftest import Backup
from tests.backups.points.ended_runs import copied_run, restored
from tests.backups.points.ended_runs import proven as ended
from tests.builders.copies import LOG, appended
from tests.builders.delta import (
    UUID,
    incomplete_item,
    log_store_item,
)

__all__ = ["proven", "stores"]
pytestmark = pytest.mark.django_db

OTHER = "00000000-0000-4000-8000-000000000000"


@pytest.mark.parametrize(("is_copied", "shown"), [(True, ("proven", 3, 3, [3])), (False, ("behind", 2, 3, []))])
def test_an_accepted_commit_that_is_not_published_counts_from_its_temp_file(backup, stores, proven, is_copied, shown):
    old(backup, appended(range(3)))
    old(backup, {temp(3): body(3)} | part(3), copied=is_copied)
    stores.put(stores.log_store, incomplete_item(3, stores.path))

    point = proven()

    assert shape(point) == shown
    assert point["accepted_at"] is not None
    assert ("accepted and not published" in point["sentence"]) is is_copied
    if is_copied:
        assert point["unpublished"][0]["key"] == temp(3)


def test_an_accepted_commit_is_published_in_its_restore_point(backup, stores):
    old(backup, appended(range(3)))
    old(backup, {temp(3): body(3)} | part(3))
    stores.put(stores.log_store, incomplete_item(3, stores.path))
    [point] = ended(copied_run(backup)).points.all()
    kept = restored(backup, point.proof)
    assert {key: kept[key] for key in kept if LOG in key}.keys() == {LOG + commit_name(version) for version in range(4)}
    assert kept[LOG + commit_name(3)] == body(3)


def test_the_temp_file_of_another_writer_is_not_what_was_accepted(backup, stores, proven):
    old(backup, appended(range(3)))
    old(backup, {temp(3, OTHER): body(3)} | part(3))
    old(backup, {temp(3): body(3)}, copied=False)
    stores.put(stores.log_store, incomplete_item(3, stores.path))
    assert shape(proven()) == ("behind", 2, 3, [])


def test_a_temp_file_that_no_entry_names_was_not_accepted(backup, stores, proven):
    old(backup, appended(range(3)) | {temp(3): body(3)})
    stores.put(stores.log_store, log_store_item(2, stores.path))
    assert shape(proven()) == ("proven", 2, 2, [])


def test_an_accepted_commit_whose_file_is_gone_leaves_the_newest_version_unknown(backup, stores, proven):
    old(backup, appended(range(3)) | {temp(3, OTHER): body(3)})
    stores.put(stores.log_store, incomplete_item(3, stores.path))
    point = proven()
    assert shape(point) == ("unprovable", 2, None, [])
    assert "its temp file is gone" in point["sentence"]


def test_where_no_store_knows_the_table_it_is_not_known_whether_a_file_waits(backup, stores, proven):
    old(backup, appended(range(3)) | {temp(3): body(3)})
    point = proven()
    assert shape(point) == ("unprovable", 2, None, [])
    assert "no DynamoDB table that Levee asks holds an entry of this table" in point["sentence"]


def refuse_store(monkeypatch: pytest.MonkeyPatch, store: str) -> None:
    ask = DynamoDB.ask

    def refuse(self: DynamoDB, operation: str, given: dict[str, Any]) -> dict[str, Any]:
        if given.get("TableName") == store:
            raise AwsError("AccessDeniedException", "it said", operation=operation, target=given["TableName"])
        return ask(self, operation, given)

    monkeypatch.setattr(DynamoDB, "ask", refuse)


@pytest.mark.parametrize(("store", "state"), [("log_store", "unprovable"), ("other", "unprovable"), ("none", "proven")])
def test_a_log_store_that_may_not_be_read_leaves_it_unknown(backup, stores, proven, monkeypatch, store, state):
    other = Connection.objects.get(name="prod").stores.create(name="other", kind=CommitStore.Kind.LOG_STORE)
    old(backup, appended(range(3)) | {temp(3): body(3)} | part(3))
    stores.put(stores.log_store, incomplete_item(3, stores.path))
    refuse_store(monkeypatch, {"log_store": stores.log_store, "other": other.name, "none": ""}[store])
    assert shape(proven())[0] == state


def test_a_coordinator_that_may_not_be_read_leaves_it_unknown(backup, stores, proven, monkeypatch):
    old(backup, coordinated(stores) | staged(3) | part(3))
    stores.register(3, staged(3))
    refuse_store(monkeypatch, stores.coordinator)
    point = proven()
    assert shape(point) == ("unprovable", 2, None, [])
    assert "AccessDenied" in point["sentence"]


def test_a_file_of_another_size_than_was_accepted_is_not_it(backup, stores, proven):
    old(backup, coordinated(stores) | staged(3) | part(3))
    stores.register(3, {name: data + b" " for name, data in staged(3).items()})
    assert shape(proven()) == ("unprovable", 2, None, [])


def test_of_two_stores_that_accepted_one_version_neither_is_believed(backup, stores, proven):
    second = f"second-{stores.log_store}"
    stores.create(second, CommitStore.Kind.LOG_STORE, tablePath="HASH", fileName="RANGE")
    old(backup, appended(range(3)) | {temp(3): body(3), temp(3, OTHER): body(3)} | part(3))
    stores.put(stores.log_store, incomplete_item(3, stores.path))
    name = f".tmp/{commit_name(3)}.{OTHER}"
    stores.put(second, incomplete_item(3, stores.path, tempPath={"S": name}))
    assert shape(proven()) == ("unprovable", 2, None, [])


def without(reading: Any, **facts: Any) -> Any:
    return replace(reading, facts=replace(reading.facts, **facts))


@pytest.mark.parametrize(
    "changed",
    [
        lambda reading: replace(reading, has_moved=True),
        lambda reading: without(reading, protocol=None),
        lambda reading: without(reading, problems=(ReadingProblem("2.json", "It is cut."),)),
    ],
)
def test_a_reading_that_is_not_whole_leaves_it_unknown(backup, stores, proven, monkeypatch, changed):
    old(backup, appended(range(3)) | {temp(3): body(3)})
    stores.put(stores.log_store, log_store_item(2, stores.path))
    look = accepted.read_table
    monkeypatch.setattr(accepted, "read_table", lambda *asked, **how: changed(look(*asked, **how)))
    assert shape(proven()) == ("unprovable", 2, None, [])


def test_what_a_dropped_table_left_in_a_store_is_no_commit_of_what_lies_there_now(backup, stores, proven):
    old(backup, {temp(0): body(0), temp(1): body(1)})
    for version in (0, 1):
        stores.put(stores.log_store, log_store_item(version, stores.path))
    point = proven()
    assert (point["state"], point["unpublished"]) == ("unprovable", [])


@pytest.mark.parametrize(("copied", "shown"), [([3, 4], ("proven", 4, 4, [3, 4])), ([3], ("behind", 3, 4, [3]))])
def test_commits_that_wait_to_be_backfilled_count_from_their_staged_files(backup, stores, proven, copied, shown):
    old(backup, coordinated(stores) | part(3) | part(4))
    for version in (3, 4):
        old(backup, staged(version), copied=version in copied)
    stores.register(4, staged(3, 4))

    assert shape(proven()) == shown


def test_what_is_claimed_of_staged_files_opens_once_they_are_put_into_the_log(backup, stores, proven, tmp_path):
    deltalake = pytest.importorskip("deltalake")
    old(backup, coordinated(stores) | part(3) | part(4) | staged(3, 4) | staged(5, unique=OTHER))
    stores.register(4, staged(3, 4))
    point = proven()

    for key, _ in backup.lake.list(backup.vault, "pool/"):
        file = tmp_path / key.removeprefix("pool/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(backup.lake.get(backup.vault, key))
    for one in point["unpublished"]:
        (tmp_path / LOG / commit_name(one["version"])).write_bytes((tmp_path / one["key"]).read_bytes())

    table = deltalake.DeltaTable(tmp_path / "t")
    assert (table.version(), point["version"], point["state"]) == (4, 4, "proven")
    assert {one.rpartition("/")[2] for one in table.file_uris()} == {
        f"part-{version}.parquet" for version in range(1, 5)
    }


def test_a_staged_file_that_the_registration_does_not_list_was_not_accepted(backup, stores, proven):
    old(backup, coordinated(stores) | staged(3))
    stores.register(2, {})
    assert shape(proven()) == ("proven", 2, 2, [])


def test_without_its_registration_it_is_not_known_what_a_table_has_accepted(backup, stores, proven):
    old(backup, coordinated(stores) | staged(3))
    assert shape(proven())[0] == "unprovable"


@pytest.mark.parametrize(
    ("version", "listed", "changed"),
    [
        (4, [3, 4], {"schemaVersion": {"N": "2"}}),
        (4, [3, 4], {"hasAcceptedCommits": {"S": "true"}}),
        (4, [3, 4], {"hasAcceptedCommits": {"BOOL": False}}),
        (4, [3, 4], {"tableVersion": {"S": "4"}}),
        (5, [3, 4], {}),  # it has accepted a version that it does not list
        (5, [3, 4, 5], {}),  # the file of the last one is gone
        (4, [], {}),  # its list was cleared too early
        (1, [], {}),  # it was put back from an older copy
    ],
)
def test_a_registration_that_does_not_tell_all_is_believed_in_nothing(backup, stores, proven, version, listed, changed):
    old(backup, coordinated(stores) | staged(3, 4) | part(3) | part(4))
    stores.register(version, staged(*listed), **changed)
    assert shape(proven()) == ("unprovable", 2, None, [])


def test_entries_of_old_alone_do_not_tell_where_new_ones_are(backup, stores, proven):
    old(backup, appended(range(3)) | {temp(3): body(3)})
    stores.put(stores.log_store, log_store_item(1, stores.path))
    point = proven()
    assert shape(point) == ("unprovable", 2, None, [])
    assert "No entry of version 2 was found" in point["sentence"]


def test_what_an_earlier_table_left_in_its_place_is_not_claimed(backup, stores, proven):
    old(backup, {temp(version): body(version) for version in range(4)} | part(2) | part(3))
    for version in range(4):
        stores.put(stores.log_store, log_store_item(version, stores.path))
    old(backup, appended(range(2)))
    assert shape(proven()) == ("unprovable", 1, None, [])


def test_a_temp_file_that_is_older_than_the_version_before_it_is_not_claimed(backup, stores, proven):
    backup.put_both({temp(2): body(2)} | part(2))
    backup.put({temp(2): body(2)}, copied=False, hours_ago=50)
    old(backup, appended(range(2)))
    stores.put(stores.log_store, incomplete_item(2, stores.path))
    assert shape(proven()) == ("unprovable", 1, None, [])


def test_a_store_that_is_declared_as_what_it_is_not_leaves_it_unknown(backup, stores, proven):
    old(backup, appended(range(3)) | {temp(3): body(3)})
    stores.put(stores.log_store, log_store_item(2, stores.path))
    keys = {"key_schema": [["tablePath", "HASH", "S"], ["fileName", "RANGE", "S"]]}
    CommitStore.objects.filter(name=stores.coordinator).update(facts=keys)
    assert shape(proven()) == ("unprovable", 2, None, [])


def test_a_table_whose_path_ends_in_a_slash_is_not_asked_for_under_its_neighbour_s(backup, stores):
    old(backup, {key.replace("t/", "t//", 1): data for key, data in (appended(range(3)) | {temp(3): body(3)}).items()})
    stores.put(stores.log_store, log_store_item(2, stores.path))
    [point] = ended(copied_run(backup, ["t/"])).points.all()
    assert (point.state, point.version) == ("unprovable", 2)


def test_a_commit_of_an_earlier_table_in_the_pool_is_not_taken_for_what_was_accepted(backup, stores, proven):
    old(backup, appended(range(3)))
    old(backup, {temp(3): body(3)} | part(3), copied=False)
    backup.put({LOG + commit_name(3): body(3)}, copied=True)
    stores.put(stores.log_store, incomplete_item(3, stores.path))
    assert shape(proven()) == ("behind", 2, 3, [])


def test_a_commit_that_is_published_between_the_two_looks_leaves_it_unknown(backup, stores, proven, monkeypatch):
    old(backup, appended(range(3)) | {temp(3): body(3)})
    stores.put(stores.log_store, log_store_item(2, stores.path))
    whole = jobs.accepted_reader

    def reader(*given: Any) -> Any:
        read = whole(*given)

        def late(uri: Any) -> Any:
            backup.put({LOG + commit_name(3): body(3)}, copied=False)
            stores.put(stores.log_store, log_store_item(3, stores.path))
            return read(uri)

        return late

    monkeypatch.setattr(jobs, "accepted_reader", reader)
    point = proven()
    assert shape(point) == ("unprovable", 2, None, [])
    assert "Its log was read twice, and differed." in point["sentence"]


def test_a_run_keeps_what_is_accepted_and_not_published_with_its_point(backup, stores):
    old(backup, coordinated(stores) | staged(3) | part(3))
    stores.register(3, staged(3))
    [point] = ended(copied_run(backup)).points.all()
    assert (point.state, point.version, point.unpublished) == (
        "proven",
        3,
        [{"version": 3, "key": f"{LOG}_staged_commits/{3:020d}.{UUID}.json"}],
    )


def test_a_run_whose_plan_may_not_ask_the_stores_ends_and_says_why(backup, stores, monkeypatch):
    old(backup, coordinated(stores) | staged(3) | part(3))
    stores.register(3, staged(3))
    opened = iter([jobs_of_runs.open_lake])

    def open_once(*given: Any, **more: Any) -> Any:
        try:
            return next(opened)(*given, **more)
        except StopIteration:
            raise AwsError("AccessDenied", "no role", operation="sts:AssumeRole", target="levee") from None

    monkeypatch.setattr(jobs_of_runs, "open_lake", open_once)
    run = ended(copied_run(backup))
    [point] = run.points.all()
    assert (run.state, point.state) == ("complete_with_gaps", "unprovable")
    assert "AccessDenied" in point.sentence


def test_what_stores_have_of_a_path_is_found_in_each_spelling(backup: Backup) -> None:
    stores = Stores(backup)
    prod, uri = Connection.objects.get(name="prod"), TableUri.parse(f"s3a://{backup.source}/new t")
    with open_lake(lake_access(prod)) as lake:
        assert accepted.left_at(prod, lake, uri) == LeftBehind()
        item = log_store_item(0, table_path=f"s3://{backup.source}/new%20t/")
        stores.put(stores.log_store, item)
        assert accepted.left_at(prod, lake, uri) == LeftBehind((StoreItem(stores.log_store, item),))
        backup.lake.dynamodb("DeleteTable", TableName=stores.log_store)
        [said] = accepted.left_at(prod, lake, uri).not_known
        assert said.startswith(f"What {stores.log_store} has of this path is not known: ")
