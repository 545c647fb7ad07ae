"""Logs that do not simply grow: made again, rewound, cleaned up, vanishing while they are read."""

import time

import pytest

from coordinator.models import Commit, ProvenanceRow
from tests.builders.delta import add, checkpoint_bytes, commit_bytes, commit_info, crc_bytes, first_commit_bytes
from tests.builders.moto_lake import commit_body
from tests.coordinator.observation.accepted_and_lost import ORDERS, file, log, state, temp, the_table


def test_a_table_made_again_leaves_nothing_of_the_old_one(written, observe):
    written.table(ORDERS, commits=50, log_store=True)
    observe()
    written.wipe(ORDERS)
    written.drop_entries(ORDERS, *range(50))
    written.commit(ORDERS, 0, first_commit_bytes({"delta.appendOnly": "true"}, table_id="another"))

    observe()

    table = the_table()
    assert (table.published_version, table.accepted_version, table.oldest_version) == (0, 0, 0)
    assert (table.commits.count(), table.entries.count()) == (1, 0)
    assert list(ProvenanceRow.objects.values_list("version", "store", "absent_at")) == [(0, "", None)]
    assert table.properties == {"delta.appendOnly": "true"}
    assert (table.mechanism, table.store, table.lock_domains) == ("single_driver", None, [])


def test_a_table_made_again_does_not_ask_for_the_store_of_the_old_one(written, observe):
    written.table(ORDERS, commits=2, log_store=True)
    observe()
    written.wipe(ORDERS)
    written.dynamodb.delete_table(TableName=written.log_store)
    written.commit(ORDERS, 0, first_commit_bytes(table_id="another"))

    observe(in_full=True)

    assert (the_table().error_code, the_table().published_version) == ("", 0)


def test_a_table_made_again_and_grown_past_the_old_one_is_read_anew(written, observe):
    written.table(ORDERS, commits=20)
    observe()
    written.wipe(ORDERS)
    written.commit(ORDERS, 0, first_commit_bytes({"delta.appendOnly": "true"}, table_id="another"))
    for version in range(1, 30):
        written.commit(ORDERS, version, commit_bytes(commit_info("MERGE"), add(f"{version}.parquet")))

    observe()

    assert the_table().properties == {"delta.appendOnly": "true"}
    assert Commit.objects.get(version=19).operation in {"", "MERGE"}
    assert Commit.objects.get(version=29).operation == "MERGE"
    assert state() == "healthy"


def test_a_log_put_anew_keeps_its_lock_domains_and_shows_a_foreign_writer(written, observe):
    written.table(ORDERS, commits=4, log_store=True)
    observe()
    written.drop_entries(ORDERS, *range(4))
    # Restored into parts, or encrypted with another key: equal bytes and another ETag.
    written.put_in_parts(file(3), commit_body(3))
    observe()
    table = the_table()
    assert [domain.store for domain in table.domains] == [written.log_store]
    assert (table.mechanism, table.store.name) == ("log_store", written.log_store)
    written.commit(ORDERS, 4, commit_bytes(commit_info(timestamp=int(time.time() * 1_000))))

    observe()

    assert the_table().state == "unsafe"
    assert the_table().findings.filter(code="foreign-writer", version=4, resolved_at=None).exists()


def test_a_log_put_anew_is_replayed_from_its_beginning(written, observe):
    written.table(ORDERS, commits=4)
    observe()
    written.commit(ORDERS, 0, first_commit_bytes({"delta.appendOnly": "true"}))
    written.put_in_parts(file(3), commit_body(3))

    observe()

    assert the_table().properties == {"delta.appendOnly": "true"}


def test_log_clean_up_between_two_passes_is_noticed_when_all_is_listed(written, observe):
    written.table(ORDERS, commits=30)
    observe()
    written.put(log(f"{20:020d}.checkpoint.parquet"), checkpoint_bytes())
    for version in range(20):
        written.delete(file(version))
    observe()

    observe(in_full=True)

    table = the_table()
    assert (table.oldest_version, table.checkpoint_version, table.state) == (20, 20, "healthy")
    assert Commit.objects.count() == 10


def test_a_checkpoint_beside_a_known_commit_is_noted(written, observe):
    written.table(ORDERS, commits=3)
    observe()
    written.put(log(f"{2:020d}.checkpoint.parquet"), checkpoint_bytes())

    observe()

    commit = Commit.objects.get(version=2)
    assert (commit.has_checkpoint, commit.operation) == (True, "WRITE")


def test_a_commit_that_vanishes_after_the_listing_is_no_error(written, guard, observe_guarded):
    written.table(ORDERS, commits=3)

    def vanish(call):
        if call.operation == "GetObject" and call.target.endswith(f"{2:020d}.json"):
            written.delete(file(2))

    guard.before = vanish

    assert observe_guarded().tables_failed == 0
    guard.before = lambda call: None
    observe_guarded()
    assert the_table().published_version == 1


def test_a_checkpoint_that_vanishes_after_the_listing_gives_way_to_another_start(written, guard, observe_guarded):
    written.table(ORDERS, commits=3)
    written.put(log(f"{2:020d}.checkpoint.parquet"), checkpoint_bytes())

    def vanish(call):
        if call.operation == "GetObject" and "checkpoint" in call.target:
            written.delete(log(f"{2:020d}.checkpoint.parquet"))

    guard.before = vanish

    assert observe_guarded().tables_failed == 0
    assert the_table().reader_version == 1


def test_copies_that_vanish_before_they_are_compared_are_not_called_equal(written, guard, observe_guarded):
    written.table(ORDERS, commits=3, log_store=True)
    written.pending(ORDERS, 3)
    written.commit(ORDERS, 3)

    def vanish(call):
        if call.operation == "GetObject" and ".tmp/" in call.target:
            written.delete(temp(3))

    guard.before = vanish

    observe_guarded()

    assert the_table().findings.get(code="C4").evidence["bytes_equal"] is None


@pytest.mark.slow
def test_unreadable_checksums_are_not_tried_without_end(written, guard, observe_guarded):
    written.table(ORDERS, commits=40)
    for version in range(40):
        written.put(log(f"{version:020d}.crc"), b"{broken")

    observe_guarded()

    assert sum(call.operation == "GetObject" and call.target.endswith(".crc") for call in guard.calls) <= 10
    assert the_table().published_version == 39


def test_a_checksum_spares_the_commits_below_it(written, guard, observe_guarded):
    written.table(ORDERS, commits=40)
    written.put(log(f"{39:020d}.crc"), crc_bytes())

    observe_guarded()

    assert the_table().reader_version == 1
    assert sum(call.operation == "GetObject" and call.target.endswith(".json") for call in guard.calls) == 10


def test_a_commit_made_between_the_scan_and_the_listing_is_no_foreign_one(written, guard, observe_guarded):
    written.table(ORDERS, commits=3, log_store=True)

    def commit(call):
        if call.operation == "ListObjectsV2" and "_delta_log" in call.target:
            guard.before = lambda call: None
            written.entry(ORDERS, 3)
            written.commit(ORDERS, 3)

    guard.before = commit

    observe_guarded()

    assert (the_table().published_version, the_table().state) == (3, "healthy")
    looks = [call for call in guard.calls if call.operation == "ListObjectsV2" and "_delta_log" in call.target]
    assert len(looks) == 1, "what was scanned is read on, which takes no second look"
