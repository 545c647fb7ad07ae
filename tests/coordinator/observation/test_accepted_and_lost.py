"""Accepted commits of which nothing but Levee's own record speaks any more: they are told of, and no others."""

import json
import time

import pytest

from coordinator.models import Bucket, CommitStore, ProvenanceRow
from tests.builders.delta import (
    EPOCH_MS,
    add,
    commit_bytes,
    commit_info,
    first_commit_bytes,
    metadata,
    protocol,
    registration_item,
)
from tests.coordinator.observation.accepted_and_lost import (
    ORDERS,
    accept,
    coordinated,
    criticals,
    drop,
    expire_after,
    file,
    in_a_day,
    log,
    staged,
    state,
    wipe,
)

DOWNGRADE = commit_bytes(commit_info("DROP FEATURE", in_commit_timestamp=EPOCH_MS + 6), metadata(), protocol())
DELTA_RS = "_commit_{}f0a3b0c-7f7e-4c5e-9d57-1d2b5f0a9c11.json.tmp"


def test_the_commit_that_takes_a_table_from_its_coordinator_is_accepted_like_any_other(written, connection, observe):
    store, item = coordinated(written, connection)
    accept(written, store, item, 6, DOWNGRADE, last=True)
    observe()
    written.dynamodb.put_item(TableName=store, Item=item)

    observe(in_full=True)

    assert criticals() == [("vanished", 6)]


def test_a_downgrade_that_was_shown_to_be_replaced_stays_so_after_its_items_have_gone(written, connection, observe):
    store, item = coordinated(written, connection)
    accept(written, store, item, 6, DOWNGRADE, last=True)
    observe()
    written.commit(ORDERS, 6, commit_bytes(commit_info("OTHER"), metadata(), protocol()))
    observe()
    written.dynamodb.delete_item(TableName=store, Key={"tableId": item["tableId"]})
    written.delete(staged(6))

    observe(in_full=True)

    assert state() == "unsafe"


def test_a_rule_that_takes_the_last_copy_of_a_downgrade_keeps_its_deadline(written, connection, observe, monkeypatch):
    for module in ("bucket_tables", "waiting_files", "buckets"):
        monkeypatch.setattr(f"coordinator.protocols.{module}.GRACE_SECONDS", -1, raising=False)
    store, item = coordinated(written, connection)
    expire_after(written, log("_staged_commits/"))
    accept(written, store, item, 6, DOWNGRADE, last=True)
    observe(in_full=True)
    written.dynamodb.put_item(TableName=store, Item=item)

    observe(in_full=True)

    assert Bucket.objects.get().state != "healthy"


def test_a_store_that_refuses_and_has_nothing_to_do_with_the_table_hides_no_loss(
    written, guard, connection, observe_guarded
):
    other = written.coordinator("refused")
    connection.stores.create(name=other, kind="commit_coordinator")
    written.table(ORDERS, commits=3, log_store=True)
    written.pending(ORDERS, 3)
    observe_guarded()
    drop(written, 3)
    for request in ("Scan", "GetItem", "DescribeTable"):
        guard.deny(request, other)

    observe_guarded(in_full=True)
    observe_guarded(in_full=True)

    assert criticals() == [("vanished", 3)]


@pytest.mark.parametrize("gone", ["removed from the list", "refused"])
def test_while_its_own_store_is_not_read_a_loss_is_neither_told_nor_denied(
    written, guard, connection, observe_guarded, gone
):
    second = written.second_log_store()
    connection.stores.create(name=second, kind="log_store")
    written.table(ORDERS, commits=3)
    for version in range(3):
        written.entry(ORDERS, version, store=second)
    written.pending(ORDERS, 3, store=second)
    observe_guarded()
    if gone == "refused":
        for request in ("Scan", "Query", "GetItem"):
            guard.deny(request, second)
    else:
        CommitStore.objects.filter(name=second).delete()

    observe_guarded(in_full=True)

    assert criticals() == []
    assert state() == "not_checked"


def test_a_registration_that_accepted_nothing_speaks_of_no_version(written, connection, observe):
    store = written.coordinator()
    connection.stores.create(name=store, kind="commit_coordinator")
    written.table(ORDERS, commits=3, log_store=True)
    unused = registration_item(
        3, path={"S": written.uri(ORDERS)}, hasAcceptedCommits={"BOOL": False}, tableTimestamp=None
    )
    written.dynamodb.put_item(TableName=store, Item=unused)
    written.commit(ORDERS, 3)
    written.entry(ORDERS, 3)
    observe()
    written.delete(file(3))
    drop(written, *range(4))

    observe(in_full=True)

    assert ("vanished", 3) in criticals()


def test_a_registration_that_a_dropped_table_left_speaks_of_no_version(written, connection, observe):
    store = written.coordinator()
    connection.stores.create(name=store, kind="commit_coordinator")
    written.table(ORDERS, commits=3, log_store=True)
    written.pending(ORDERS, 3)
    closed = {"acceptingCommits": {"BOOL": False}, "tableTimestamp": {"N": "1"}}
    left = registration_item(3, path={"S": written.uri(ORDERS)}, **closed)
    written.dynamodb.put_item(TableName=store, Item=left)
    observe()
    drop(written, 3)

    observe(in_full=True)

    assert ("vanished", 3) in criticals()


def test_entries_that_a_dropped_table_left_are_no_commits_of_the_one_made_in_its_place(written, observe):
    written.table(ORDERS, commits=6, log_store=True)
    observe()
    wipe(written)
    written.commit(ORDERS, 0, first_commit_bytes(table_id="another"))
    written.commit(ORDERS, 1, commit_bytes(commit_info("MERGE")))
    observe()
    drop(written, *range(6))

    observe(in_full=True)

    assert criticals() == []
    assert not ProvenanceRow.objects.filter(version=5).exclude(identity=None).exists()


def test_a_table_that_grows_over_entries_left_by_a_dropped_one_was_not_accepted_twice(written, observe):
    written.table(ORDERS, commits=6)
    for version in (4, 5):
        written.entry(ORDERS, version, expireTime=in_a_day())
    observe()
    wipe(written)
    written.commit(ORDERS, 0, first_commit_bytes(table_id="another"))
    written.entry(ORDERS, 0, expireTime=in_a_day())
    observe()
    drop(written, 4, 5)
    for version in range(1, 7):
        body = commit_bytes(commit_info(f"MERGE {version}"))
        temp = f".tmp/{version:020d}.json.new{version}"
        written.commit(ORDERS, version, body)
        written.put(log(temp), body)
        written.entry(ORDERS, version, tempPath={"S": temp}, expireTime=in_a_day())

    observe(in_full=True)

    assert criticals() == []


def test_a_commit_of_delta_rs_that_is_tried_again_was_not_accepted_twice(written, observe):
    written.table(ORDERS, commits=3, log_store=True)
    first, second = DELTA_RS.format(8), DELTA_RS.format(9)
    written.put(log(first), commit_bytes(commit_info("WRITE")))
    written.entry(ORDERS, 3, complete={"S": "false"}, expireTime=None, tempPath={"S": first})
    observe()
    drop(written, 3)
    written.delete(log(first))
    observe(in_full=True)
    written.commit(ORDERS, 3, commit_bytes(commit_info("WRITE"), add("a")))
    written.entry(ORDERS, 3, tempPath={"S": second}, expireTime=in_a_day())

    observe(in_full=True)

    assert criticals() == []


def test_a_table_copied_over_one_whose_id_was_never_read_is_not_taken_for_that_one(written, observe):
    for version in range(6):
        written.commit(ORDERS, version, commit_bytes(commit_info(f"MERGE {version}")))
    observe()
    wipe(written)
    written.commit(ORDERS, 0, first_commit_bytes(table_id="another"))
    written.commit(ORDERS, 1)

    observe()
    observe(in_full=True)

    assert criticals() == []


def test_a_table_made_where_one_without_a_known_id_had_other_versions_is_another(written, observe):
    for version in (3, 4, 5):
        written.commit(ORDERS, version, commit_bytes(commit_info(f"MERGE {version}")))
    written.put(log(f"{3:020d}.checkpoint.parquet"), b"not parquet")
    observe()
    wipe(written)
    made = metadata("another")
    made["metaData"]["createdTime"] = int(time.time() * 1_000) + 1
    written.commit(ORDERS, 0, commit_bytes(commit_info("CREATE TABLE"), protocol(), made))
    written.commit(ORDERS, 1, commit_bytes(commit_info("WRITE")))

    observe()
    observe(in_full=True)

    assert criticals() == []


@pytest.mark.parametrize("through_the_coordinator", [True, False])
def test_another_commit_in_the_place_of_an_accepted_one_is_not_called_healthy(
    written, connection, observe, through_the_coordinator
):
    store, item = coordinated(written, connection)

    def stand_at(version: int, milliseconds: int) -> None:
        time_of_it = {"tableVersion": {"N": str(version)}, "tableTimestamp": {"N": str(EPOCH_MS + milliseconds)}}
        written.dynamodb.put_item(TableName=store, Item={**item, **time_of_it})

    stand_at(6, 600)
    observe(in_full=True)
    written.dynamodb.put_item(TableName=store, Item=item)
    observe(in_full=True)
    body = commit_bytes(commit_info("OTHER", in_commit_timestamp=EPOCH_MS + 1_006), add("other"))
    if through_the_coordinator:
        written.put(staged(6), body)
    written.commit(ORDERS, 6, body)
    stand_at(6, 1_006)

    observe(in_full=True)

    assert state() == "not_checked"


@pytest.mark.parametrize("coordinated_again", [False, True])
def test_a_table_made_again_beside_the_open_registration_of_the_dropped_one_raises_no_alarm(
    written, connection, observe, coordinated_again
):
    store, item = coordinated(written, connection)
    now = int(time.time() * 1_000)
    written.dynamodb.put_item(TableName=store, Item={**item, "tableTimestamp": {"N": str(now - 3_600_000)}})
    wipe(written)
    made = metadata("another", properties=_named(store, written.endpoint) if coordinated_again else None)
    made["metaData"]["createdTime"] = now
    raised = []
    for version in range(8):
        actions = (made, protocol()) if version == 0 else (add(f"n{version}"),)
        written.commit(ORDERS, version, commit_bytes(commit_info(in_commit_timestamp=now + version), *actions))
        if coordinated_again:
            stands = {"tableId": {"S": "new"}, "tableTimestamp": {"N": str(now + version)}}
            new = registration_item(version, path={"S": written.uri(ORDERS)}, **stands)
            written.dynamodb.put_item(TableName=store, Item=new)
        observe()
        raised += criticals()

    observe(in_full=True)

    assert [*raised, *criticals()] == []


def _named(store: str, endpoint: str) -> dict[str, str]:
    """Properties of a table that is coordinated as `new`."""
    prefix = "delta.coordinatedCommits."
    return {
        f"{prefix}commitCoordinator-preview": "dynamodb",
        f"{prefix}commitCoordinatorConf-preview": json.dumps(
            {"dynamoDBTableName": store, "dynamoDBEndpoint": endpoint}
        ),
        f"{prefix}tableConf-preview": json.dumps({"tableId": "new"}),
    }


@pytest.mark.parametrize("closed", [True, False])
def test_the_list_that_a_dropped_tables_registration_still_holds_is_none_of_the_new_table(
    written, connection, observe, closed
):
    store, item = coordinated(written, connection)
    accept(written, store, item, 6, commit_bytes(commit_info("WRITE")), last=closed)
    wipe(written)
    made = metadata("another")
    made["metaData"]["createdTime"] = int(time.time() * 1_000)
    written.commit(ORDERS, 0, commit_bytes(commit_info("CREATE TABLE"), made, protocol()))
    written.commit(ORDERS, 1)

    observe()

    assert criticals() == []
