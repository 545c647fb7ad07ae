"""Tables in every state that commits may be in: backed up, destroyed, restored, read and written to by real Spark.

What each holds is known from what its writers were told, not from any reading of the backup.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from backups.models import Run
from coordinator.models import CommitStore
from coordinator.observation.passes import observe_one_table
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from lake.aws.access import open_lake
from lake.delta.uri import TableUri
from lake.spark.sql import delta_path
from sandbox.client import Body
from sandbox.ground import DELTA_LOG_FINANCE
from sandbox.ground import STORES as COMMIT_STORES
from sandbox.log_store_tables import SAMPLES
from sandbox.log_store_writer import file_name
from sandbox.spark_tables import RECIPES, SparkLake
from tests.backups.points.conftest import Backup
from tests.backups.points.ended_runs import copied_run, proven
from tests.backups.restores.restoring import copy_all, everything, open_by, restore, rows
from tests.choosing import slowly
from tests.conformance import coordinated, logged
from tests.conformance.coordinated import Coordinated
from tests.conformance.logged import Logged
from tests.sparksession import spark_lake

__all__ = ["spark_lake"]
pytestmark = [pytest.mark.django_db, pytest.mark.spark]

Plant = Callable[[SparkLake, str, str], object]
"""Makes a table in its state, in a bucket and of a key."""
OWN_ROOT = "t"
"""Of a table that is no sample."""
CLOSED = {"acceptingCommits": {"BOOL": False}, "commits": {"L": []}}
"""What a table that was put back in place leaves of its registrations."""


@dataclass(frozen=True)
class State:
    """A table, and what a backup of it gives back: `version` with so many rows. `lacks` is whether a later version was
    accepted that the backup does not have, or not provably; `is_written` whether this Spark knows all features of its
    writers; `expires` whether TTL takes its entries between the first look and the last."""

    root: str
    plant: Plant
    version: int
    rows: int
    lacks: bool = False
    is_written: bool = True
    expires: bool = False


def sample(key: str, version: int, **more: Any) -> State:
    """A sample that the sandbox writes without Spark: 20 rows in each commit but the first."""
    [one] = (one for one in SAMPLES if one.key == key)
    return State(
        key, lambda lake, bucket, _: replace(one, bucket=bucket).make(lake.client), version, 20 * version, **more
    )


def recipe(key: str, version: int, rows: int, *, lacks: bool = False) -> State:
    """A sample that the sandbox lets Spark write."""
    [(uri, make, _)] = (one for one in RECIPES if one[0].endswith(key))
    root = TableUri.parse(uri).key
    return State(root, lambda lake, bucket, _: make(lake, f"s3a://{bucket}/{root}"), version, rows, lacks)


def of_log_store(befall: Callable[[Logged], object], *, lacks: bool = False) -> State:
    """With two appends before what befalls it, of which no more is restored."""

    def plant(lake: SparkLake, bucket: str, key: str) -> None:
        table = Logged(lake.client, bucket, key)
        table.create()
        table.append(2)
        befall(table)

    return State(OWN_ROOT, plant, 2, 2 * logged.ROWS, lacks)


def of_coordinator(
    befall: Callable[[Coordinated], object], version: int, rows: int, *, enabled: bool = True, lacks: bool = False
) -> State:
    """With two appends before what befalls it, coordinated from its first commit on, or not yet."""

    def plant(lake: SparkLake, bucket: str, key: str) -> None:
        table = Coordinated(lake, bucket, key)
        table.create(coordinated=enabled)
        table.append(2)
        befall(table)

    return State(OWN_ROOT, plant, version, rows, lacks)


def partly_written(table: Logged) -> None:
    """C3, which S3 does not do: half of a commit's file is there."""
    logged.unpublished(table)
    data = table.store.read(table.entry(table.version).temp_path)
    table.client.put(table.bucket, f"{table.key}/_delta_log/{file_name(table.version)}", data[: len(data) // 2])


def taken_down_and_up_again(table: Coordinated) -> None:
    """K11: a registration of each time that it was coordinated."""
    table.drop()
    table.enable()
    table.append()


STATES = {
    # Samples that are written without Spark
    "C5 healthy": sample("warehouse/sales/orders", 59),
    "C2 pending": sample("warehouse/sales/order_items", 14),
    "C4 published": sample("warehouse/sales/refunds", 9),
    "by day": sample("warehouse/web/sessions", 11),
    "C6 file lost": sample("warehouse/inventory/stock_levels", 16, lacks=True),
    "C7 a writer spins": sample("warehouse/inventory/reservations", 6, lacks=True),
    "C9 stale entry": sample("warehouse/marketing/campaigns", 8),
    "C1 losers": sample("warehouse/marketing/email_sends", 7),
    "unicode": sample("warehouse/export/Kundenaufträge 2026", 4),
    "dropped": sample("warehouse/loyalty/rewards", 5),
    "too much deleted": sample("warehouse/loyalty/members", 10),
    "C2 redemptions": sample("warehouse/loyalty/redemptions", 7),
    "C8 foreign writer": sample("events/clicks", 14),
    "two spellings": sample("events/page_views", 10),
    "old writer": sample("legacy/customers_2022", 5),
    "no TTL": sample("ledger/payments", 21),
    "C7 commit lost": sample("ledger/journal_entries", 9, lacks=True),
    "C7 entry expired": sample("ledger/journal_entries", 9, lacks=True, expires=True),
    "C11 temp file lost": sample("ledger/invoices", 4, lacks=True),
    "feature of newer writers": sample("warehouse/web/reviews", 7, is_written=False),
    "store of another account": sample("partners/shipments", 10),
    # States of a log store that no sample is in
    "C0": of_log_store(lambda _: None),
    "C1 dead writer": of_log_store(logged.temp_file_of_a_loser),
    "C3": of_log_store(partly_written, lacks=True),
    # Samples of Spark's
    "K3 three": recipe("crm/opportunities", 5, 100),
    "K10": recipe("support/messages", 5, 60),
    "log cleaned": recipe("events/app_logs", 22, 420),
    "upgraded": recipe("support/tickets", 4, 60),
    "K5": recipe("crm/accounts", 4, 80),
    "vectors": recipe("crm/contacts", 2, 17),
    "K6": recipe("support/csat_scores", 1, 20, lacks=True),
    "K7": recipe("reporting/daily_close", 1, 20, lacks=True),
    "plain": recipe("crm/customers", 2, 40),
    "regions": recipe("reference/regions", 1, 20),
    # States of the coordinator that no sample is in
    "K0": of_coordinator(coordinated.orphaned_registration, 2, 40),
    "K1": of_coordinator(Coordinated.enable, 3, 40, enabled=False),
    "K2": of_coordinator(coordinated.staged_and_dead, 2, 40),
    "K4": of_coordinator(coordinated.list_left, 2, 40),
    "K8": of_coordinator(coordinated.item_lost, 2, 40),
    "K9": of_coordinator(coordinated.item_restored, 2, 40),
    "K11": of_coordinator(taken_down_and_up_again, 6, 60),
    "K12": of_coordinator(coordinated.staged_by_other_release, 1, 20, lacks=True),
}
UNREADABLE = {
    sample("landing/crm_contacts", 0): "No run has proven",
    sample("legacy/readings_2021", 0): "No run has proven",
    sample("warehouse/sales/price_list", 0): "needs readers that know the feature catalogManaged",
}


def looked_at_and_backed_up(backup: Backup, lake: SparkLake, state: State) -> str:
    """The URI of the table, once Levee has looked at it and a run has kept what can be restored of it."""
    prod, uri = Connection.objects.get(name="prod"), f"s3a://{backup.source}/{state.root}"
    for store in COMMIT_STORES:
        CommitStore.objects.create(connection=prod, name=store.name, kind=store.kind)
    state.plant(lake, backup.source, state.root)
    with open_lake(lake_access(prod), parallel=8) as theirs:
        observe_one_table(prod, theirs, TableUri.parse(uri))
        if state.expires:
            for one in items(backup):
                key = {name: one[name] for name in ("tablePath", "fileName")}
                backup.lake.dynamodb("DeleteItem", TableName=DELTA_LOG_FINANCE, Key=key)
            for _ in range(2):  # a loss is told once two looks have missed the same
                observe_one_table(prod, theirs, TableUri.parse(uri))
    copy_all(backup)
    proven(copied_run(backup, [state.root]))
    return uri


def items(backup: Backup) -> list[Body]:
    """What all commit stores hold of tables in the source."""
    found = [one for store in COMMIT_STORES for one in backup.lake.dynamodb("Scan", TableName=store.name)["Items"]]
    return sorted((one for one in found if f"//{backup.source}/" in str(one)), key=str)


def add_its_own_rows(lake: SparkLake, uri: str) -> int:
    """Write to a table by Spark; returns how many rows it has then."""
    lake.sql(f"INSERT INTO {delta_path(uri)} SELECT * FROM {delta_path(uri)}")  # noqa: S608 - quoted, ours
    return len(rows(lake, uri))


@pytest.mark.slow
def test_every_sample_is_among_them() -> None:
    samples = {one.key for one in SAMPLES} | {TableUri.parse(uri).key for uri, _, _ in RECIPES}
    assert {state.root for state in [*STATES.values(), *UNREADABLE]} == samples | {OWN_ROOT}


@pytest.mark.parametrize("name", [*map(slowly, STATES)])
def test_what_was_accepted_comes_back_and_what_may_be_missing_is_said(
    backup: Backup, spark_lake: SparkLake, monkeypatch: pytest.MonkeyPatch, capsys: Any, name: str
) -> None:
    state = STATES[name]
    uri = looked_at_and_backed_up(backup, spark_lake, state)
    for key, _ in list(backup.lake.list(backup.source, "")):
        backup.lake.delete(backup.source, key)
    before, stored = everything(backup.lake, backup.source, backup.vault), items(backup)
    open_by(monkeypatch, spark_lake)

    told = restore(capsys, uri, "--apply")

    assert (told["refused"], told["job"]["state"], told["version"]) == ("", "succeeded", state.version)
    seen, said = told["job"]["verified"]["spark"], told["plan"]["consequences"][1]
    assert (seen["rows"], seen["files_equal"], seen["wrote"]) == (state.rows, True, state.is_written)
    assert ("Later commits may be missing" in said) == state.lacks
    assert len(rows(spark_lake, told["to"])) == state.rows
    if state.is_written:
        assert add_its_own_rows(spark_lake, told["to"]) == 2 * state.rows
    is_refused = restore(capsys, told["to"], "--remove")["refusal"] is not None
    assert is_refused == state.is_written, "only what nobody has written to is removed"
    after = everything(backup.lake, backup.source, backup.vault)
    assert before.items() <= after.items()
    assert all(key.startswith(f"{told['to'].removeprefix('s3a://')}/") for key in after.keys() - before.keys())
    assert items(backup) == stored

    back = restore(capsys, uri, "--in-place", "--apply", "--confirm", TableUri.parse(uri).name)

    if any("fileName" in one for one in stored):  # the class of the log store is not there
        assert "LEVEE_SPARK_EXTRA_JARS" in back["refused"]
        assert (everything(backup.lake, backup.source, backup.vault), items(backup)) == (after, stored)
        return
    assert (back["refused"], len(rows(spark_lake, uri))) == ("", state.rows)
    if state.is_written:
        assert add_its_own_rows(spark_lake, uri) == 2 * state.rows
    assert items(backup) == [one | CLOSED for one in stored]
    put = everything(backup.lake, backup.source, backup.vault)
    own = (f"{backup.source}/{state.root}/", f"{backup.source}/{state.root}.before-restore-")
    assert after.items() <= put.items()
    assert all(key.startswith(own) for key in put.keys() - after.keys())


@pytest.mark.slow
@pytest.mark.parametrize(("state", "says"), UNREADABLE.items())
def test_nothing_is_claimed_of_what_no_reader_could_open(
    backup: Backup, spark_lake: SparkLake, capsys: Any, state: State, says: str
) -> None:
    uri = looked_at_and_backed_up(backup, spark_lake, state)
    told = restore(capsys, uri, "--apply")
    assert (says in told["refused"], told.get("plan")) == (True, None)
    assert Run.objects.get().state == "complete_with_gaps"
