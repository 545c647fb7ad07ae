"""Tables whose log store shows in temp files alone: first sight, later looks, and what ends it."""

from collections.abc import Callable
from typing import Any

import pytest

from coordinator.models import DeltaTable
from tests.builders.delta import commit_bytes, commit_info, metadata, protocol
from tests.builders.moto_lake import MotoLake, commit_body
from tests.coordinator.observation.accepted_and_lost import ORDERS, open_codes, temp, the_table


@pytest.fixture
def quiet(written: MotoLake, observe: Callable[..., Any]) -> DeltaTable:
    """Versions 0 to 2 with the temp files that a log store left, and no entry; as observed at first sight."""
    written.table(ORDERS)
    for version in range(3):
        written.put(temp(version), commit_body(version))
    observe()
    return the_table()


def test_a_quiet_table_at_first_sight_is_one_of_a_log_store_that_is_not_known(quiet) -> None:
    assert (quiet.mechanism, quiet.store, quiet.lock_domains) == ("log_store", None, [])
    assert open_codes() == {"unknown-log-store"}


def test_its_next_commit_shows_its_store(written, observe, quiet) -> None:
    written.commit(ORDERS, 3)
    written.entry(ORDERS, 3)

    observe()

    table = the_table()
    assert (table.mechanism, table.store.name) == ("log_store", written.log_store)
    assert table.state == "healthy"
    assert open_codes() == set()


def test_a_commit_past_every_store_that_is_asked_leaves_it_unknown(written, observe, quiet) -> None:
    """The look at the log's tail alone would not show that this version has no temp file."""
    written.commit(ORDERS, 3)

    observe()

    assert (the_table().mechanism, the_table().state) == ("log_store", "not_checked")
    assert "the newest left of version 2" in the_table().summary


def test_a_clean_up_of_its_temp_files_makes_it_no_single_drivers_table(written, observe, quiet) -> None:
    for version in range(3):
        written.delete(temp(version))

    observe(in_full=True)

    assert (the_table().mechanism, open_codes()) == ("log_store", {"unknown-log-store"})


def test_a_table_that_left_its_coordinator_is_looked_at_whole_for_what_guards_it_now(
    written, observe, coordinator
) -> None:
    written.coordinated(ORDERS, coordinator)
    written.put(temp(0), b"x")
    observe()
    assert the_table().mechanism == "coordinated_commits"
    item = written.dynamodb.scan(TableName=coordinator)["Items"][0]
    closed = {"acceptingCommits": {"BOOL": False}, "tableVersion": {"N": "3"}}
    written.dynamodb.put_item(TableName=coordinator, Item=item | closed)
    written.commit(ORDERS, 3, commit_bytes(commit_info("DROP FEATURE"), metadata(), protocol()))

    observe()

    assert the_table().mechanism == "log_store"
