"""Entries and registrations in several stores, and under several spellings, on S3 and DynamoDB."""

import pytest

from coordinator.models import CommitStore, DeltaTable, Entry
from coordinator.observation.passes import observe_one_table
from lake.delta.facts import LockDomain
from lake.delta.uri import TableUri
from tests.builders.delta import UUID
from tests.coordinator.observation.accepted_and_lost import ORDERS, open_codes, the_table

LARGE = 10_000_000
DELTA_RS = {"S": f"_commit_{UUID}.json.tmp"}


@pytest.fixture
def second(written, connection) -> str:
    """A second log store of the connection."""
    name = written.second_log_store()
    CommitStore.objects.create(connection=connection, name=name, kind=CommitStore.Kind.LOG_STORE)
    return name


def stored() -> list[tuple[int, str, str]]:
    rows = Entry.objects.order_by("version", "store__name").values_list("version", "store__name", "code")
    return [(version, store, code) for version, store, code in rows]


def test_entries_of_one_path_in_two_stores_are_unsafe_and_both_kept(written, observe, second):
    written.table(ORDERS, 3, log_store=True)
    written.pending(ORDERS, 3, store=second)

    observe()

    table = the_table()
    assert (table.state, table.accepted_version, table.published_version) == ("unsafe", 3, 2)
    assert open_codes() == {"two-log-stores", "C2"}
    assert stored() == [(version, written.log_store, "C5") for version in range(3)] + [(3, second, "C2")]
    assert {domain.store for domain in table.domains} == {written.log_store, second}


def test_an_old_version_in_a_second_store_is_noticed_although_nothing_else_has_changed(written, observe, second):
    written.table(ORDERS, 5, log_store=True)
    observe()
    written.entry(ORDERS, 1, store=second, tempPath={"S": f".tmp/{1:020d}.json.other"})

    observe()

    assert the_table().state == "unsafe"


@pytest.mark.slow
def test_a_commit_in_either_of_two_large_stores_is_seen_at_the_next_look(written, observe, second):
    written.table(ORDERS, 3, log_store=True)
    written.entry(ORDERS, 2, store=second)
    observe()
    for store in (second, written.log_store):
        CommitStore.objects.update(scanned_items=LARGE)
        newest = the_table().accepted_version + 1
        written.entry(ORDERS, newest, store=store, complete={"S": "false"})

        observe()

        assert the_table().accepted_version == newest


def test_a_table_is_not_judged_by_one_of_its_two_stores_alone(written, observe, observe_guarded, guard, second):
    written.table(ORDERS, 3, log_store=True)
    written.entry(ORDERS, 2, store=second, tempPath={"S": f".tmp/{2:020d}.json.other"})
    observe()
    guard.deny("Scan", second)

    observe_guarded(in_full=True)

    table = the_table()
    assert (table.state, table.error_code) == ("not_checked", "AccessDeniedException")
    assert "two-log-stores" in open_codes()


def test_a_second_store_that_was_deleted_holds_nothing(written, observe, second):
    written.table(ORDERS, 3, log_store=True)
    written.entry(ORDERS, 2, store=second)
    observe()
    written.dynamodb.delete_table(TableName=second)

    observe(in_full=True)

    assert the_table().state == "healthy"


def test_an_entry_under_a_path_with_a_slash_is_found_for_a_table_looked_at_by_itself(written, connection, lake):
    written.table(ORDERS, 3)
    written.entry(ORDERS, 3, tablePath={"S": written.uri(f"{ORDERS}/")}, complete={"S": "false"})

    observe_one_table(connection, lake, TableUri.parse(written.uri(ORDERS)))

    assert the_table().domains == (LockDomain(written.log_store, written.uri(f"{ORDERS}/")),)


def test_a_url_of_delta_rs_is_no_table_of_its_own(written, observe):
    written.table("my table", 2)
    for version in range(2):
        written.entry("my%20table", version, scheme="s3", tempPath=DELTA_RS)

    observe()

    table = the_table()
    assert (table.uri, table.mechanism, table.state) == (written.uri("my table"), "log_store", "healthy")


def test_one_text_is_two_tables_where_two_writers_mean_two(written, observe):
    written.table("my table", 1)
    written.table("my%20table", 2)
    written.entry("my%20table", 0, tempPath=DELTA_RS)
    written.entry("my%20table", 1)

    observe()

    found = {table.prefix: table for table in DeltaTable.objects.all()}
    assert {name: list(table.entries.values_list("version", flat=True)) for name, table in found.items()} == {
        "my table": [0],
        "my%20table": [1],
    }


@pytest.mark.parametrize("alone", [True, False])
def test_a_url_of_delta_rs_is_asked_for_where_no_scan_has_shown_it(written, connection, observe, lake, alone):
    written.table("my table", 2)
    written.entry("my%20table", 1, tempPath=DELTA_RS, complete={"S": "false"})
    written.entry("my%20table", 7, complete={"S": "false"})
    CommitStore.objects.update(scanned_items=LARGE, scanned_at="2999-01-01T00:00:00Z")

    if alone:
        observe_one_table(connection, lake, TableUri.parse(written.uri("my table")))
    else:
        observe()

    assert [(one.version, one.code) for one in Entry.objects.all()] == [(1, "C4")]
