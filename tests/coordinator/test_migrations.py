"""What migrations make of rows that are there already."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from coordinator.models import CommitStore, DeltaTable
from tests.builders.lake import make_connection, make_entry, make_store, make_table

BEFORE = [("coordinator", "0003_record_ttl_migrations")]
PATH = "s3a://lake/sales/orders"


@pytest.fixture
def migrate(transactional_db):
    """Migrate the coordinator's tables, to the newest state where none is named; that is brought back at the end."""

    def to(target=None):
        executor = MigrationExecutor(connection)
        executor.migrate(target or executor.loader.graph.leaf_nodes())

    yield to
    to()


def known_before(migrate, *paths):
    """Store lock domains as they were stored before stores were told apart."""
    DeltaTable.objects.update(lock_domains=[{"store": "", "path": path} for path in paths])
    migrate(BEFORE)
    migrate()
    return DeltaTable.objects.get().domains


def test_a_lock_domain_gets_the_store_of_its_entries(migrate):
    connection = make_connection()
    table = make_table(connection=connection, store=make_store("delta_log", connection=connection))
    make_entry(table, store=make_store("delta_log_eu", connection=connection), lock_domain="s3://lake/sales/orders")

    stores = {one.path: one.store for one in known_before(migrate, PATH, "s3://lake/sales/orders")}

    assert stores == {PATH: "delta_log", "s3://lake/sales/orders": "delta_log_eu"}


def test_a_quiet_table_of_a_coordinator_gets_the_only_log_store_there_is(migrate):
    connection = make_connection()
    make_store("delta_log", connection=connection)
    commits = make_store("commits", connection=connection, kind=CommitStore.Kind.COMMIT_COORDINATOR)
    make_table(connection=connection, store=commits)

    [domain] = known_before(migrate, PATH)

    assert domain.store == "delta_log"


def test_a_store_that_nothing_tells_is_not_guessed(migrate):
    connection = make_connection()
    for name in ("delta_log", "delta_log_eu"):
        make_store(name, connection=connection)
    make_table(connection=connection, store=None)

    [domain] = known_before(migrate, PATH)

    assert domain.store == ""
