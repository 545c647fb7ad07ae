"""Tables of every mechanism: two lock domains, registrations, and what an unchanged one costs in large stores."""

import pytest

from coordinator.models import CommitStore, DeltaTable, Entry, ProvenanceRow
from lake.delta.facts import LockDomain
from tests.builders.delta import EPOCH_MS, UUID, registration_item
from tests.builders.moto_lake import commit_body
from tests.coordinator.observation.accepted_and_lost import the_table

LARGE = 1_000_000


@pytest.fixture
def cost_of_a_look(written, observe, lake):
    """Requests that a pass makes for its tables alone, with stores too large to be scanned each time."""

    def cost() -> int:
        CommitStore.objects.update(scanned_items=LARGE)
        observe()  # what a scan saw and a question sees may differ once
        CommitStore.objects.update(scanned_items=LARGE)
        before = dict(lake.requests.by_operation)
        result = observe()
        assert result.tables_changed == 0
        asked = {name: count - before.get(name, 0) for name, count in lake.requests.by_operation.items()}
        assert "dynamodb:Scan" not in {name for name, count in asked.items() if count}
        return sum(asked.values()) - _folders_listed()

    return cost


def _folders_listed() -> int:
    """The watched prefix and the folders above the tables, once for all of them."""
    return 1 + len({table.prefix.rsplit("/", 1)[0] for table in DeltaTable.objects.filter(gone_at=None)})


def test_an_unchanged_log_store_table_costs_two_requests_however_it_is_spelled(written, observe, cost_of_a_look):
    schemes = ("s3", "s3a", "s3n")
    written.table("sales/orders", commits=5)
    for version in range(5):
        written.entry("sales/orders", version, scheme=schemes[version % len(schemes)])
    observe()

    assert cost_of_a_look() == 2
    spelled = [f"{scheme}://{written.bucket}/sales/orders" for scheme in schemes]
    assert the_table().domains == tuple(LockDomain(written.log_store, path) for path in spelled)


def test_an_unchanged_table_with_entries_and_a_registration_costs_two_requests(
    written, observe, coordinator, cost_of_a_look
):
    written.coordinated("sales/orders", coordinator)
    written.entry("sales/orders", 1)
    observe()

    assert cost_of_a_look() == 2


def test_a_single_driver_table_costs_one_request_and_one_that_has_gone_as_well(written, observe, cost_of_a_look):
    written.table("sales/orders", commits=1)
    observe()
    assert cost_of_a_look() == 1
    written.delete(f"sales/orders/_delta_log/{0:020d}.json")
    observe()

    assert cost_of_a_look() == 1


def test_a_new_pending_commit_is_seen_in_a_large_store_under_either_spelling(written, observe):
    written.table("sales/orders", commits=3, log_store=True)
    written.entry("sales/orders", 2, scheme="s3")
    observe()
    for version, scheme in ((3, "s3a"), (4, "s3")):
        written.entry("sales/orders", version, scheme=scheme, complete={"S": "false"})
        CommitStore.objects.update(scanned_items=LARGE)

        observe()

        assert the_table().accepted_version == version


def test_an_item_whose_name_sorts_last_does_not_hide_a_pending_commit(written, observe):
    written.table("sales/orders", commits=3, log_store=True)
    written.entry("sales/orders", 0, fileName={"S": "zzz"})
    observe()
    CommitStore.objects.update(scanned_items=LARGE)
    written.pending("sales/orders", 3)

    observe()

    assert the_table().accepted_version == 3


@pytest.mark.slow
def test_one_commit_under_two_schemes_is_two_findings_and_two_entries(written, observe):
    written.table("sales/orders", commits=3, log_store=True)
    written.pending("sales/orders", 3)
    written.entry("sales/orders", 3, scheme="s3", complete={"S": "false"})

    observe()
    observe(in_full=True)

    assert Entry.objects.filter(version=3).count() == 2
    open_keys = list(the_table().findings.filter(resolved_at=None).values_list("key", flat=True))
    assert len(open_keys) == len(set(open_keys))


def test_an_unbackfilled_commit_is_stored_with_its_staged_file_until_it_is_backfilled(written, observe, coordinator):
    written.coordinated("sales/orders", coordinator, commits=2, unbackfilled=(2, 3))

    observe()

    table = the_table()
    assert (table.mechanism, table.published_version, table.accepted_version) == ("coordinated_commits", 1, 3)
    assert (table.state, table.unpublished_count, table.store.name) == ("unbackfilled", 2, coordinator)
    entries = Entry.objects.filter(table=table, store__name=coordinator).order_by("version")
    assert list(entries.values_list("version", "code", "published", "file_present")) == [
        (2, "K3", False, True),
        (3, "K3", False, True),
    ]
    waiting = ProvenanceRow.objects.get(version=3)
    assert (waiting.store, waiting.file_name) == (coordinator, f"{3:020d}.{UUID}.json")
    assert (waiting.accepted_timestamp, waiting.accepted_size) == (EPOCH_MS + 3, len(commit_body(3)))

    for version in (2, 3):
        written.commit("sales/orders", version)
    item = written.dynamodb.scan(TableName=coordinator)["Items"][0] | {"commits": {"L": []}}
    written.dynamodb.put_item(TableName=coordinator, Item=item)
    observe()

    table = the_table()
    assert (table.state, table.published_version, table.entries.count()) == ("healthy", 3, 0)
    assert not table.findings.filter(resolved_at=None, severity__in=["warning", "critical"]).exists()


def test_a_registration_of_a_path_never_seen_makes_a_table_of_it(written, observe, coordinator):
    path = written.uri("sales/never")
    written.dynamodb.put_item(TableName=coordinator, Item=registration_item(2, path={"S": path}))

    observe()

    table = the_table()
    assert (table.uri, table.published_version, len(table.registrations)) == (path, None, 1)


def test_a_new_coordinated_table_is_not_called_lost_where_its_store_is_not_scanned(written, observe, coordinator):
    observe()
    CommitStore.objects.update(scanned_items=LARGE)
    written.coordinated("sales/orders", coordinator)

    observe()

    assert (the_table().mechanism, the_table().state) == ("coordinated_commits", "healthy")


def test_a_table_upgraded_since_the_scan_is_not_called_lost(written, guard, observe_guarded, coordinator):
    def upgrade(call):
        if call.operation == "ListObjectsV2" and "_delta_log" in call.target:
            guard.before = lambda call: None
            written.coordinated("sales/orders", coordinator)

    written.endpoint = guard.url
    written.table("sales/orders")
    guard.before = upgrade

    observe_guarded()

    assert the_table().state == "healthy"


def test_a_coordinator_that_is_not_declared_is_asked_for_by_name(written, observe):
    written.coordinated("sales/orders", written.coordinator())

    observe()

    table = the_table()
    assert table.mechanism == "coordinated_commits"
    assert any("declare it" in problem["reason"] for problem in table.problems)
    assert not table.findings.filter(state="blocked").exists()


def test_an_item_in_another_dynamodb_than_the_coordinators_is_not_believed(written, observe, coordinator):
    """Neither one that says that all is well, nor its absence, which anywhere else blocks the table."""
    written.endpoint = "https://dynamodb.ap-south-1.amazonaws.com"
    written.coordinated("sales/orders", coordinator, unbackfilled=[3])
    written.coordinated("sales/lost", written.store(f"empty-{written.bucket}", tableId="HASH"))

    observe()

    for table in DeltaTable.objects.all():
        (found,) = table.findings.filter(state="not_checked")
        assert (table.state, found.code, found.repairs) == ("not_checked", "not-read", [])
        assert "registrations could not be read: The endpoint" in found.summary
        assert (table.mechanism, table.accepted_version) == ("coordinated_commits", 2)


def test_a_refused_coordinator_concerns_its_own_tables_alone(written, guard, observe_guarded, coordinator, connection):
    written.endpoint = guard.url
    written.coordinated("sales/orders", coordinator)
    other = written.store(f"other-{written.bucket}", tableId="HASH")
    CommitStore.objects.create(connection=connection, name=other, kind="commit_coordinator")
    observe_guarded()
    guard.deny("Scan", other)

    observe_guarded()

    assert (the_table().state, the_table().error_code) == ("healthy", "")
