"""Tables whose log store shows in temp files alone: first sight, later looks, and what ends it."""

from collections.abc import Callable
from typing import Any

import pytest

from coordinator.models import CommitStore, DeltaTable
from tests.builders.delta import UUID, commit_bytes, commit_info, first_commit_bytes, metadata, protocol
from tests.builders.moto_lake import MotoLake

ROOT = "sales/orders"


def the_table() -> DeltaTable:
    return DeltaTable.objects.get()


def temp(version: int) -> str:
    return f"{ROOT}/_delta_log/.tmp/{version:020d}.json.{UUID}"


def published(written: MotoLake, version: int) -> bytes:
    key = f"{ROOT}/_delta_log/{version:020d}.json"
    return written.s3.get_object(Bucket=written.bucket, Key=key)["Body"].read()


@pytest.fixture
def quiet(written: MotoLake, observe: Callable[..., Any]) -> DeltaTable:
    """Versions 0 to 2 with the temp files that a log store left, and no entry; as observed at first sight."""
    written.table(ROOT)
    for version in range(3):
        written.put(temp(version), published(written, version))
    observe()
    return the_table()


def codes() -> set[str]:
    return set(the_table().findings.filter(resolved_at=None).values_list("code", flat=True))


def test_a_quiet_table_at_first_sight_is_one_of_a_log_store_that_is_not_known(quiet) -> None:
    assert (quiet.mechanism, quiet.store, quiet.lock_domains) == ("log_store", None, [])
    assert codes() == {"unknown-log-store"}


def test_its_next_commit_shows_its_store(written, observe, quiet) -> None:
    written.commit(ROOT, 3)
    written.entry(ROOT, 3)

    observe()

    table = the_table()
    assert (table.mechanism, table.store.name) == ("log_store", written.log_store)
    assert table.state == "healthy"
    assert codes() == set()


def test_a_commit_past_every_store_that_is_asked_leaves_it_unknown(written, observe, quiet) -> None:
    """The look at the log's tail alone would not show that this version has no temp file."""
    written.commit(ROOT, 3)

    observe()

    assert (the_table().mechanism, the_table().state) == ("log_store", "not_checked")
    assert "the newest left of version 2" in the_table().summary


def test_a_clean_up_of_its_temp_files_makes_it_no_single_drivers_table(written, observe, quiet) -> None:
    for version in range(3):
        written.delete(temp(version))

    observe(in_full=True)

    assert (the_table().mechanism, codes()) == ("log_store", {"unknown-log-store"})


def test_a_table_made_again_in_its_place_is_another(written, observe, quiet) -> None:
    for version in range(3):
        written.delete(temp(version))
        written.delete(f"{ROOT}/_delta_log/{version:020d}.json")
    written.commit(ROOT, 0, first_commit_bytes(table_id="another"))

    observe(in_full=True)

    assert the_table().mechanism == "single_driver"


def test_a_store_that_refuses_is_said_before_anything_is_said_of_its_entries(
    written, guard, observe_guarded, connection
) -> None:
    written.endpoint = guard.url
    written.table(ROOT)
    written.put(temp(2), published(written, 2))
    guard.deny("Scan", written.log_store)

    observe_guarded()

    assert (the_table().mechanism, the_table().state) == ("log_store", "not_checked")
    assert codes() == {"not-read"}


def test_a_table_that_left_its_coordinator_is_looked_at_whole_for_what_guards_it_now(
    written, observe, connection
) -> None:
    coordinator = written.coordinator()
    CommitStore.objects.create(connection=connection, name=coordinator, kind="commit_coordinator")
    written.coordinated(ROOT, coordinator)
    written.put(temp(0), b"x")
    observe()
    assert the_table().mechanism == "coordinated_commits"
    item = written.dynamodb.scan(TableName=coordinator)["Items"][0]
    closed = {"acceptingCommits": {"BOOL": False}, "tableVersion": {"N": "3"}}
    written.dynamodb.put_item(TableName=coordinator, Item=item | closed)
    written.commit(ROOT, 3, commit_bytes(commit_info("DROP FEATURE"), metadata(), protocol()))

    observe()

    assert the_table().mechanism == "log_store"
