"""Accepted commits of which nothing but Levee's own record speaks any more: they are told of, and no others."""

import time

import pytest

from coordinator.models import CommitStore, ProvenanceRow
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
    log,
    staged,
    state,
)

DOWNGRADE = commit_bytes(commit_info("DROP FEATURE", in_commit_timestamp=EPOCH_MS + 6), metadata(), protocol())


def test_the_commit_that_takes_a_table_from_its_coordinator_is_accepted_like_any_other(written, connection, observe):
    store, item = coordinated(written, connection)
    accept(written, store, item, 6, DOWNGRADE, last=True)
    observe()
    written.dynamodb.put_item(TableName=store, Item=item)

    observe(in_full=True)

    assert criticals() == [("vanished", 6)]


def test_a_store_that_refuses_and_has_nothing_to_do_with_the_table_hides_no_loss(
    written, guard, connection, observe_guarded
):
    other = written.coordinator("refused")
    connection.stores.create(name=other, kind="commit_coordinator")
    written.table(ORDERS, commits=3, log_store=True)
    written.pending(ORDERS, 3)
    observe_guarded()
    written.drop_entries(ORDERS, 3)
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


UNUSED = {"hasAcceptedCommits": {"BOOL": False}, "tableTimestamp": None}
LEFT_BY_A_DROPPED_TABLE = {"acceptingCommits": {"BOOL": False}, "tableTimestamp": {"N": "1"}}


@pytest.mark.parametrize("registration", [UNUSED, LEFT_BY_A_DROPPED_TABLE], ids=["unused", "of a dropped table"])
def test_a_registration_of_no_commit_of_this_table_speaks_of_no_version(written, coordinator, observe, registration):
    written.table(ORDERS, commits=3, log_store=True)
    written.pending(ORDERS, 3)
    item = registration_item(3, path={"S": written.uri(ORDERS)}, **registration)
    written.dynamodb.put_item(TableName=coordinator, Item=item)
    observe()
    written.drop_entries(ORDERS, 3)

    observe(in_full=True)

    assert ("vanished", 3) in criticals()


def test_entries_that_a_dropped_table_left_are_no_commits_of_the_one_made_in_its_place(written, observe):
    written.table(ORDERS, commits=6, log_store=True)
    observe()
    written.wipe(ORDERS)
    written.commit(ORDERS, 0, first_commit_bytes(table_id="another"))
    written.commit(ORDERS, 1, commit_bytes(commit_info("MERGE")))
    observe()
    written.drop_entries(ORDERS, *range(6))

    observe(in_full=True)

    assert criticals() == []
    assert not ProvenanceRow.objects.filter(version=5).exclude(store="").exists()


def test_a_table_made_where_one_without_a_known_id_had_other_versions_is_another(written, observe):
    for version in (3, 4, 5):
        written.commit(ORDERS, version, commit_bytes(commit_info(f"MERGE {version}")))
    written.put(log(f"{3:020d}.checkpoint.parquet"), b"not parquet")
    observe()
    written.wipe(ORDERS)
    made = metadata("another")
    made["metaData"]["createdTime"] = int(time.time() * 1_000) + 1
    written.commit(ORDERS, 0, commit_bytes(commit_info("CREATE TABLE"), protocol(), made))
    written.commit(ORDERS, 1, commit_bytes(commit_info("WRITE")))

    observe()
    observe(in_full=True)

    assert criticals() == []


def test_another_commit_in_the_place_of_an_accepted_one_is_not_called_healthy(written, connection, observe):
    store, item = coordinated(written, connection)

    def stand_at(version: int, milliseconds: int) -> None:
        time_of_it = {"tableVersion": {"N": str(version)}, "tableTimestamp": {"N": str(EPOCH_MS + milliseconds)}}
        written.dynamodb.put_item(TableName=store, Item={**item, **time_of_it})

    stand_at(6, 600)
    observe(in_full=True)
    written.dynamodb.put_item(TableName=store, Item=item)
    observe(in_full=True)
    body = commit_bytes(commit_info("OTHER", in_commit_timestamp=EPOCH_MS + 1_006), add("other"))
    written.put(staged(6), body)
    written.commit(ORDERS, 6, body)
    stand_at(6, 1_006)

    observe(in_full=True)

    assert state() == "not_checked"


def make_anew(written) -> None:
    """Another table in the place of the dropped one, with two commits."""
    written.wipe(ORDERS)
    made = metadata("another")
    made["metaData"]["createdTime"] = int(time.time() * 1_000)
    written.commit(ORDERS, 0, commit_bytes(commit_info("CREATE TABLE"), made, protocol()))
    written.commit(ORDERS, 1)


def test_a_table_made_again_beside_the_open_registration_of_the_dropped_one_raises_no_alarm(
    written, connection, observe
):
    store, item = coordinated(written, connection)
    an_hour_ago = int(time.time() * 1_000) - 3_600_000
    written.dynamodb.put_item(TableName=store, Item={**item, "tableTimestamp": {"N": str(an_hour_ago)}})
    make_anew(written)
    raised = []
    for version in range(2, 8):
        written.commit(ORDERS, version)
        observe()
        raised += criticals()

    observe(in_full=True)

    assert [*raised, *criticals()] == []


@pytest.mark.parametrize("closed", [True, False])
def test_the_list_that_a_dropped_tables_registration_still_holds_is_none_of_the_new_table(
    written, connection, observe, closed
):
    store, item = coordinated(written, connection)
    accept(written, store, item, 6, commit_bytes(commit_info("WRITE")), last=closed)
    make_anew(written)

    observe()

    assert criticals() == []


def test_a_table_copied_over_one_whose_id_was_never_read_is_not_taken_for_that_one(written, observe):
    for version in range(6):
        written.commit(ORDERS, version, commit_bytes(commit_info(f"MERGE {version}")))
    observe()
    written.wipe(ORDERS)
    written.commit(ORDERS, 0, first_commit_bytes(table_id="another"))
    written.commit(ORDERS, 1)

    observe()
    observe(in_full=True)

    assert criticals() == []
