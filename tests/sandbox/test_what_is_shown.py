"""What the samples are there to show: each refusal, and each way out to its end."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from coordinator.coordination.offers import coordination_offers
from coordinator.models import CommitStore, DeltaTable, Watch
from coordinator.observation.passes import observe_connection
from coordinator.own_records import RecordsOf
from coordinator.repairs.fresh import plan_anew
from dashboard.connections.models import Connection
from lake.aws.access import Access, Lake, open_lake
from lake.delta.uri import TableUri
from sandbox.client import REGION
from sandbox.ground import STORES, WATCHED
from sandbox.log_store_tables import SAMPLES
from tests.builders.changes import execute_plan
from tests.sandboxlake import end, sandbox_lake, start_sandbox, wait_for

pytestmark = [pytest.mark.django_db, pytest.mark.process]

REASONS = {
    "sales/orders": "S3DynamoDBLogStore calls AWS only",
    "inventory/stock_levels": "The table is blocked",
    "events/page_views": "The table is unsafe",
    "sales/price_list": "A catalogue commits for this table",
    "web/reviews": "Delta 4.4.0 does not know the feature collations-preview",
    "partners/shipments": "Which DynamoDB table holds the entries of its log store is not known",
    "legacy/readings_2021": "How this table commits is not known",
}

# What is done of each sample whose story is not "healthy from the start", and where that ends.
ENDS = {
    "sales/order_items": (["publish-commit"], "healthy"),
    "sales/refunds": (["complete-entry"], "healthy"),
    "loyalty/redemptions": (["publish-commit"], "healthy"),
    "inventory/stock_levels": (["republish-file"], "healthy"),
    "inventory/reservations": ([], "blocked"),
    "marketing/campaigns": (["complete-entry"], "healthy"),
    "clicks": ([], "unsafe"),
    "page_views": ([], "unsafe"),
    "customers_2022": ([], "attention"),
    "crm_contacts": (["abandon-commit"], "attention"),
    "journal_entries": ([], "blocked"),
    "invoices": (["abandon-commit"], "healthy"),
    "sales/price_list": ([], "not_checked"),
    "shipments": ([], "not_checked"),
    "readings_2021": ([], "attention"),
}


@contextmanager
def looked_at(origin: str) -> Iterator[tuple[Connection, Lake]]:
    """A connection to a sandbox, and the lake itself; all of it is looked at once before."""
    connection = Connection.objects.create(name="sandbox", region=REGION, endpoint_url=origin)
    for store in STORES:
        CommitStore.objects.create(connection=connection, name=store.name, kind=store.kind)
    for uri in WATCHED:
        Watch.objects.create(connection=connection, uri=uri)
    with open_lake(Access(REGION, endpoint_url=origin, static_credentials=("sandbox", "sandbox"))) as lake:
        observe_connection(connection, lake, threads=4)
        yield connection, lake


def test_each_reason_not_to_touch_a_table_is_shown_by_a_sample() -> None:
    with looked_at(sandbox_lake().origin):
        for name, reason in REASONS.items():
            [offer] = coordination_offers(DeltaTable.objects.get(uri__endswith=f"/{name}"))
            assert reason in offer.reason, name


@pytest.mark.slow
def test_the_repairs_of_each_sample_are_walked_to_its_end(tmp_path: Path) -> None:
    process = start_sandbox(tmp_path, "--no-spark")
    try:
        wait_for(process, "all tables are there")
        with looked_at((tmp_path / "sandbox" / "endpoint").read_text()) as (connection, lake):
            ends = {sample.key: walk(connection, lake, TableUri.parse(sample.uri)) for sample in SAMPLES}
    finally:
        end(process)

    assert {key.partition("/")[2]: walked for key, walked in ends.items() if walked != ([], "healthy")} == ENDS


def walk(connection: Connection, lake: Lake, uri: TableUri) -> tuple[list[str], str]:
    """Carry out what is offered of a table until nothing is; none is offered a second time. Returns what was done."""
    done: list[str] = []
    while plans := sorted((fresh := plan_anew(connection, lake, uri)).plans, key=lambda plan: plan.can_lose):
        assert plans[0].kind not in done
        assert execute_plan(plans[0], lake, records=RecordsOf(connection, "tests")).is_complete
        done.append(plans[0].kind)
    assert fresh.verdict.state != "blocked" or (all(refusal.reason for refusal in fresh.refusals) and fresh.refusals)
    return done, str(fresh.verdict.state)
