"""Long logs, full stores and many tables: what is kept, and what it costs the database."""

import pytest
from django.db import connection as database
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from coordinator.models import Commit, CommitStore, DeltaTable, Entry
from coordinator.observation import passes, surveys
from coordinator.observation.reading import Reading
from tests.builders.delta import log_store_item

pytestmark = pytest.mark.postgres("upserts")


def put_items(written, root: str, versions: range) -> None:
    for start in range(versions.start, versions.stop, 25):
        items = [log_store_item(v, written.uri(root)) for v in range(start, min(start + 25, versions.stop))]
        written.dynamodb.batch_write_item(
            RequestItems={written.log_store: [{"PutRequest": {"Item": item}} for item in items]}
        )


def test_entries_older_than_what_is_kept_are_removed_and_incomplete_ones_stay(written, observe, monkeypatch):
    monkeypatch.setattr(surveys, "NEWEST_KEPT", 50)
    written.table("sales/orders", commits=60)
    put_items(written, "sales/orders", range(60))
    written.entry("sales/orders", 1, complete={"S": "false"})

    observe()

    assert Entry.objects.filter(version=1, complete=False).exists()
    assert Entry.objects.count() == 51


@pytest.mark.slow
def test_a_commit_on_a_long_log_writes_few_rows(written, observe):
    written.table("sales/orders", commits=300)
    observe()
    written.commit("sales/orders", 300)

    with CaptureQueriesContext(
        database,
    ) as queries:
        observe(in_full=True)

    inserted = [query["sql"] for query in queries if 'INTO "coordinator_commit"' in query["sql"]]
    assert sum(sql.count("true") + sql.count(", 1, ") for sql in inserted) < 20
    assert Commit.objects.count() == 301


def test_queries_of_an_unchanged_pass_do_not_grow_with_the_tables(connection, observe, written, monkeypatch):
    def unchanged(lake, survey, target, *, in_full=False, looks=None):
        return Reading(target, timezone.now(), unchanged=True)

    monkeypatch.setattr(passes, "read_table", unchanged)
    counts = []
    for more in (10, 1_990):
        DeltaTable.objects.all().delete()
        DeltaTable.objects.bulk_create(
            DeltaTable(connection=connection, bucket=written.bucket, prefix=f"t{number}", published_version=1)
            for number in range(more)
        )
        with CaptureQueriesContext(database) as queries:
            assert observe().tables_seen == more
        counts.append(len(queries))

    assert counts[1] - counts[0] <= 5


def test_a_look_at_one_table_scans_no_log_store(written, guard, connection, guarded):
    from coordinator.observation.passes import observe_one_table
    from lake.delta.uri import TableUri

    uri = written.table("sales/orders", log_store=True)

    observe_one_table(connection, guarded, TableUri.parse(uri))

    assert guard.count("Scan") == 0
    assert DeltaTable.objects.get().mechanism == "log_store"
    assert CommitStore.objects.get().scanned_at is None


def test_a_store_of_many_tables_keeps_fewer_entries_of_each(written, observe, monkeypatch):
    monkeypatch.setattr(surveys, "MANY_PARTITIONS", 0)
    monkeypatch.setattr(surveys, "NEWEST_KEPT_OF_MANY", 5)
    written.table("sales/orders", commits=20, log_store=True)

    observe()

    table = DeltaTable.objects.get()
    assert (table.published_version, table.oldest_version, table.state) == (19, 0, "healthy")
    assert Entry.objects.count() == 5
