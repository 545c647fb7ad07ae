"""Coordinators too large for a scan in each pass: what is known of a table's registrations in the passes between."""

import pytest

from coordinator.models import CommitStore, DeltaTable, Entry, TableFinding
from tests.builders.delta import EPOCH_MS, add, commit_bytes, commit_info, registration_item
from tests.coordinator.observation.accepted_and_lost import ORDERS, coordinated, criticals, file, staged, state

pytestmark = pytest.mark.django_db

LARGE = 1_000_000
SPLIT = [("two-coordinators", None)]


def split(written, connection, table_id: str = "other") -> str:
    """A table with a second coordinator, which it does not name and which accepts its commits; returns that one."""
    coordinated(written, connection)
    name = written.coordinator("second")
    connection.stores.create(name=name, kind="commit_coordinator")
    item = registration_item(
        3, tableId={"S": table_id}, path={"S": written.uri(ORDERS)}, tableTimestamp={"N": str(EPOCH_MS + 3)}
    )
    written.dynamodb.put_item(TableName=name, Item=item)
    return name


@pytest.fixture
def second(written, connection) -> str:
    return split(written, connection)


def grow() -> None:
    """From now on no pass scans a store, unless it reads everything."""
    CommitStore.objects.update(scanned_items=LARGE)


def remove(written, store: str) -> None:
    written.dynamodb.delete_item(TableName=store, Key={"tableId": {"S": "other"}})


def not_read() -> list[str]:
    return list(TableFinding.objects.filter(resolved_at=None, code="not-read").values_list("summary", flat=True))


def test_two_coordinators_stay_found_without_a_scan_at_one_request_more_for_each_registration_that_is_not_named(
    written, observe, second, lake
):
    observe()
    grow()
    observe()
    assert (criticals(), state()) == (SPLIT, "unsafe")
    before = dict(lake.requests.by_operation)

    assert observe().tables_changed == 0

    counted = lake.requests.by_operation
    asked = {name: many - before.get(name, 0) for name, many in counted.items() if many != before.get(name)}
    assert {name: many for name, many in asked.items() if "Item" in name or "Scan" in name or "Query" in name} == {
        "dynamodb:GetItem": 2
    }


def test_a_second_coordinator_that_was_deleted_holds_no_registration(written, observe, second):
    observe()
    grow()
    written.dynamodb.delete_table(TableName=second)

    observe()

    assert (criticals(), not_read()) == ([], [])


def test_while_a_second_registration_is_refused_the_table_is_not_healthy(written, connection, observe_guarded, guard):
    written.endpoint = guard.url
    second = split(written, connection)
    observe_guarded()
    grow()
    guard.deny("GetItem", within=second)

    for _ in range(2):
        observe_guarded()
        assert (criticals(), state()) == (SPLIT, "not_checked")
        assert f"DynamoDB table {second} could not be read" in not_read()[0]

    guard.allow_all()
    observe_guarded()
    assert (criticals(), not_read()) == (SPLIT, [])


def test_a_second_registration_whose_name_cannot_be_kept_is_not_taken_for_gone(written, connection, observe):
    split(written, connection, "ot\0her")
    observe()
    grow()
    written.commit(ORDERS, 6)

    observe()

    assert ("two-coordinators", None) in criticals()
    assert "only a scan finds it" in not_read()[0]


def test_what_rests_on_no_registration_is_over_while_one_is_refused(written, connection, observe_guarded, guard):
    written.endpoint = guard.url
    second = split(written, connection)
    kept = written.s3.get_object(Bucket=written.bucket, Key=file(3))["Body"].read()
    written.delete(file(3))
    observe_guarded()
    assert ("version-hole", 3) in criticals()
    written.put(file(3), kept)
    guard.deny("Scan", within=second)

    observe_guarded(in_full=True)

    assert (criticals(), state()) == (SPLIT, "not_checked")


def test_a_second_registration_whose_coordinator_is_not_declared_any_more_asks_for_it(
    written, connection, observe, second
):
    observe()
    connection.stores.get(name=second).delete()

    for in_full in (False, True):
        observe(in_full=in_full)
        assert (criticals(), state()) == (SPLIT, "not_checked")
        assert not_read() == [
            f"DynamoDB table {second} could not be read: It held a registration of this table and is not declared "
            "as a coordinator's: declare it."
        ]


def test_a_critical_finding_of_the_named_registration_stands_while_its_coordinator_is_not_declared(
    written, connection, observe
):
    store, _ = coordinated(written, connection)
    written.commit(ORDERS, 6)
    observe()
    before = criticals()
    connection.stores.get(name=store).delete()

    observe(in_full=True)

    assert (before, criticals(), state()) == ([("K9", 5)], [("K9", 5)], "not_checked")


@pytest.fixture
def listed(written, coordinator) -> str:
    """A coordinator that the table does not name, and whose item lists version 3 as accepted."""
    written.table(ORDERS, commits=3)
    body = commit_bytes(commit_info("X", in_commit_timestamp=EPOCH_MS), add("x.parquet"))
    written.put(staged(3), body)
    item = registration_item(3, (3,), tableId={"S": "other"}, path={"S": written.uri(ORDERS)})
    item["commits"]["L"][0]["M"]["fsLength"] = {"N": str(len(body))}
    written.dynamodb.put_item(TableName=coordinator, Item=item)
    return coordinator


def test_a_commit_that_an_item_lists_is_lost_once_its_registration_is_gone_and_stays_lost(written, observe, listed):
    observe()
    before = criticals(), state()
    assert list(Entry.objects.values_list("version", "store__name", "code")) == [(3, listed, "K3")]
    grow()
    for _ in range(2):
        observe()
        assert (criticals(), state()) == before
    remove(written, listed)

    for _ in range(3):
        observe()
        assert criticals() == [("vanished", 3)]
        DeltaTable.objects.update(fingerprint="")  # the next look reads everything again


def test_a_pending_commit_is_undecided_once_its_store_is_declared_as_another_kind(written, observe):
    written.table(ORDERS, commits=3, log_store=True)
    written.pending(ORDERS, 3)
    observe()
    CommitStore.objects.update(kind="commit_coordinator")

    for in_full in (False, True):
        observe(in_full=in_full)
        assert criticals() == []
        assert state() == "not_checked"
