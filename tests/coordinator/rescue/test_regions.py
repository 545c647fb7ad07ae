"""A copy of an item belongs to the DynamoDB of one region and account: the same name elsewhere is another store."""

import json
from typing import Any

import boto3
import pytest

from coordinator.models import DeltaTable
from coordinator.repairs.reading import account_of
from dashboard.connections.models import Connection
from tests.coordinator.repairs.console import Console
from tests.coordinator.rescue import saved
from tests.lake.aws.conftest import KEYS

pytestmark = pytest.mark.django_db
EU = "eu-west-1"
ROLE = "arn:aws:iam::444455556666:role/levee"


def store_in_eu(console: Console) -> Any:
    """A log store of the same name in another region; its client."""
    endpoint = console.lake.dynamodb.meta.endpoint_url
    client = boto3.client("dynamodb", endpoint_url=endpoint, **{**KEYS, "region_name": EU})
    keys = {"tablePath": "HASH", "fileName": "RANGE"}
    client.create_table(
        TableName=console.lake.log_store,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in keys.items()],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in keys],
    )
    return client


def rewritten(console: Console, copy: str, **changed: str) -> None:
    """The copy as an earlier release, or another connection, would have written it; "" leaves a name out."""
    key = copy.removeprefix(f"s3a://{console.lake.bucket}/")
    document = {**json.loads(console.bytes_of(key)), **changed}
    console.lake.put(key, json.dumps({name: value for name, value in document.items() if value != ""}).encode())


@pytest.mark.slow
def test_a_saved_item_says_its_region(console: Console) -> None:
    table, _ = saved.abandoned(console)
    copy = saved.only_copy(console, table, "entry")["id"]
    document = json.loads(console.bytes_of(copy.removeprefix(f"s3a://{console.lake.bucket}/")))

    assert document["region"] == console.connection.region
    assert "account" not in document


def test_the_account_of_a_connection_is_that_of_its_role() -> None:
    assert (account_of(ROLE), account_of("")) == ("444455556666", "")


@pytest.mark.slow
@pytest.mark.parametrize("changed", [{"region": "EU!"}, {"region": 7}, {"account": "mine"}, {"account": 7}])
def test_a_place_that_is_none_of_aws_makes_it_no_copy(console: Console, changed: dict[str, Any]) -> None:
    table, _ = saved.abandoned(console)
    copy = saved.only_copy(console, table, "entry")["id"]
    rewritten(console, copy, **changed)

    assert saved.refusal(console, table, copy)["reason"].endswith("that it names is none of AWS.")


# A connection that is edited between plan and confirmation


def edited(console: Console) -> DeltaTable:
    Connection.objects.update(region=EU)
    return DeltaTable.objects.select_related("connection").get()


def test_a_file_is_put_back_in_the_region_in_which_its_plan_was_shown_or_not_at_all(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved.let_young_count_as_old(monkeypatch)
    table, _, _ = saved.removed_temp_file(console)
    copy, before = saved.only_copy(console, table, "temp-file")["id"], console.state()
    made = saved.plan(console, table, copy)
    client = store_in_eu(console)
    client.put_item(TableName=console.lake.log_store, Item=console.item(saved.ORDERS, 2))

    job = console.run(saved.ask(edited(console), copy, made))

    assert (job.state, console.state()) == ("overtaken", before)


def test_a_repair_is_made_in_the_region_in_which_its_plan_was_shown_or_not_at_all(console: Console) -> None:
    table, client = console.pending(saved.ORDERS), store_in_eu(console)
    plan, before = console.plan(table), console.state()
    for version in range(4):
        client.put_item(TableName=console.lake.log_store, Item=console.item(saved.ORDERS, version))

    job = console.run(console.repair(edited(console), plan))

    assert (job.state, console.state()) == ("overtaken", before)
