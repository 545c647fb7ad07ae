"""A pass over a lake on moto: what is found, what is stored, what it costs."""

import pytest

from coordinator.models import Commit, CommitStore, DeltaTable, Entry, ObservationPass, Watch
from tests.builders.delta import checkpoint_bytes, commit_bytes, commit_info, first_commit_bytes

pytestmark = pytest.mark.postgres("upserts")


def the_table() -> DeltaTable:
    return DeltaTable.objects.get()


def test_a_single_driver_table_is_found_below_a_watched_prefix(written, observe):
    uri = written.table("sales/orders", commits=3)

    observe()

    table = the_table()
    assert (table.uri, table.name, table.mechanism) == (uri, "sales.orders", "single_driver")
    assert (table.published_version, table.state) == (2, "healthy")
    assert table.commits.count() == 3


def test_a_pending_commit_is_stored_with_its_entry_and_temp_file(written, observe):
    written.table("sales/orders", commits=3, log_store=True)
    written.pending("sales/orders", 3)

    observe()

    table = the_table()
    assert (table.mechanism, table.published_version, table.accepted_version) == ("log_store", 2, 3)
    entry = Entry.objects.get(version=3)
    assert (entry.code, entry.complete, entry.published, entry.file_present) == ("C2", False, False, True)
    assert table.findings.get(code="C2").resolved_at is None


def test_a_table_known_only_to_the_log_store_is_found(written, observe):
    Watch.objects.all().delete()
    written.table("elsewhere/clicks", log_store=True)

    observe()

    assert the_table().uri == written.uri("elsewhere/clicks")


def test_an_unchanged_table_costs_at_most_two_requests(written, observe, lake):
    for number in range(10):
        written.table(f"sales/t{number}", log_store=True)
    observe()
    CommitStore.objects.update(scanned_items=1_000_000)  # too large to be scanned in every pass
    before = lake.requests.total

    result = observe()

    assert result.tables_changed == 0
    passes_own = 3  # the watched prefix, its one folder, and the bucket's settings are looked at once for all
    assert lake.requests.total - before <= 2 * 10 + passes_own


def test_a_new_commit_is_read_from_the_tail_alone(written, observe):
    written.table("sales/orders", commits=3)
    observe()
    written.commit("sales/orders", 3)

    result = observe()

    assert (result.tables_changed, the_table().published_version) == (1, 3)
    assert list(Commit.objects.values_list("version", flat=True)) == [3, 2, 1, 0]


def test_a_published_commit_resolves_its_finding(written, observe):
    written.table("sales/orders", commits=3, log_store=True)
    written.pending("sales/orders", 3)
    observe()
    written.commit("sales/orders", 3)
    written.entry("sales/orders", 3)

    observe()

    table = the_table()
    assert (table.state, table.unpublished_count) == ("healthy", 0)
    assert table.findings.get(code="C2").resolved_at is not None


def test_a_vanished_table_is_kept_and_marked_gone(written, observe):
    written.table("sales/orders", commits=1)
    observe()
    written.delete("sales/orders/_delta_log/00000000000000000000.json")

    observe()

    assert the_table().gone_at is not None


def test_a_table_that_comes_back_is_no_longer_gone(written, observe):
    written.table("sales/orders", commits=1)
    observe()
    written.delete("sales/orders/_delta_log/00000000000000000000.json")
    observe()
    written.table("sales/orders", commits=2)

    observe()

    assert (the_table().gone_at, the_table().published_version) == (None, 1)


def test_a_table_made_again_at_its_place_is_read_anew(written, observe):
    written.table("sales/orders", commits=2)
    observe()
    written.commit("sales/orders", 0, first_commit_bytes({"delta.appendOnly": "true"}))
    written.commit("sales/orders", 1, commit_bytes(commit_info("OPTIMIZE"), newline=True))
    written.commit("sales/orders", 2)

    observe()

    assert the_table().properties == {"delta.appendOnly": "true"}
    assert Commit.objects.get(version=1).operation == "OPTIMIZE"


def test_names_with_spaces_and_unicode_are_read(written, observe):
    uri = written.table("vertrieb/aufträge 2026 +50%")

    observe()

    assert (the_table().uri, the_table().published_version) == (uri, 2)


def test_a_missing_bucket_is_said_and_the_rest_goes_on(written, observe, connection):
    Watch.objects.create(connection=connection, uri="s3a://no-such-bucket-anywhere/")
    written.table("sales/orders")

    result = observe()

    assert "NoSuchBucket" in Watch.objects.get(uri__contains="no-such").error_code
    assert any("no-such-bucket-anywhere" in problem for problem in result.problems)
    assert the_table().state == "healthy"


def test_a_missing_commit_store_is_that_stores_trouble(written, observe, connection):
    CommitStore.objects.create(connection=connection, name="never_made", kind="log_store")
    written.table("sales/orders", log_store=True)

    observe()

    store = CommitStore.objects.get(name="never_made")
    assert (store.state, store.error_code) == ("not_checked", "ResourceNotFoundException")
    assert the_table().state == "healthy"


def test_a_malformed_item_is_a_finding_of_its_table(written, observe):
    written.table("sales/orders", log_store=True)
    written.entry("sales/orders", 2, complete={"BOOL": True})

    observe()

    assert "complete" in the_table().findings.exclude(severity="info").first().summary


def test_an_item_of_no_place_in_s3_is_said_by_the_pass(written, observe):
    written.dynamodb.put_item(
        TableName=written.log_store, Item={"tablePath": {"S": "hdfs://nowhere"}, "fileName": {"S": "x"}}
    )

    assert any("hdfs://nowhere" in problem for problem in observe().problems)


def test_an_unparsable_line_is_a_finding_that_names_it(written, observe):
    written.table("sales/orders")
    written.commit("sales/orders", 3, b'{"commitInfo":{}}\n{broken\n')

    observe()

    assert {
        "place": "00000000000000000003.json line 2",
        "reason": the_table().problems[0]["reason"],
    } in the_table().problems
    assert the_table().published_version == 3


def test_a_truncated_checkpoint_does_not_hide_the_table(written, observe):
    written.table("sales/orders", commits=3)
    written.put("sales/orders/_delta_log/00000000000000000002.checkpoint.parquet", checkpoint_bytes()[:300])

    observe()

    table = the_table()
    assert (table.published_version, table.reader_version) == (2, 1)
    assert any("checkpoint.parquet" in problem["place"] for problem in table.problems)


def test_a_pass_records_what_it_cost(written, observe, connection):
    written.table("sales/orders")

    result = observe()

    record = ObservationPass.objects.get(connection=connection)
    assert record.finished_at is not None
    assert (record.tables_seen, record.requests) == (1, result.requests)


@pytest.mark.parametrize("versions", [[0, 1], [5, 6, 7]])
def test_only_the_commits_that_the_log_holds_are_kept(written, observe, versions):
    written.table("sales/orders", commits=8)
    observe()
    for version in set(range(8)) - set(versions):
        written.delete(f"sales/orders/_delta_log/{version:020d}.json")

    observe(in_full=True)

    assert sorted(Commit.objects.values_list("version", flat=True)) == versions


def test_two_copies_that_differ_are_evidence_with_their_first_difference(written, observe):
    written.table("sales/orders", commits=3, log_store=True)
    written.pending("sales/orders", 3)
    written.commit("sales/orders", 3, b'{"commitInfo":{"operation":"OTHER"}}\n')

    observe()

    finding = the_table().findings.get(code="C4")
    assert (finding.state, finding.evidence["bytes_equal"]) == ("unsafe", False)
    assert finding.evidence["first_difference"] > 0
