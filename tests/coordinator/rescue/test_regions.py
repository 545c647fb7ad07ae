"""A copy of an item belongs to the DynamoDB of one region and account: the same name elsewhere is another store."""

import json
from typing import Any

import boto3
import pytest

from coordinator.models import CommitStore, DeltaTable, ProvenanceRow, Watch
from coordinator.observation.passes import observe_connection
from coordinator.repairs.reading import account_of
from coordinator.rescue import jobs
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from lake.aws.access import open_lake
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


def connection_to_eu(console: Console) -> Connection:
    """Another connection to the same S3, that knows the store of its own region."""
    made = Connection.objects.create(name="eu", region=EU, endpoint_url=console.connection.endpoint_url)
    Watch.objects.create(connection=made, uri=f"s3a://{console.lake.bucket}/")
    CommitStore.objects.create(connection=made, name=console.lake.log_store, kind=CommitStore.Kind.LOG_STORE)
    return made


def seen_from_eu(console: Console) -> DeltaTable:
    """The same table as a connection of the other region sees it, once every entry here has expired."""
    for version in range(3):
        key = {"tablePath": {"S": console.lake.uri(saved.ORDERS)}, "fileName": {"S": f"{version:020d}.json"}}
        console.lake.dynamodb.delete_item(TableName=console.lake.log_store, Key=key)
    console.observe()
    made = connection_to_eu(console)
    with open_lake(lake_access(made)) as lake:
        observe_connection(made, lake, threads=2)
    return DeltaTable.objects.select_related("connection").get(connection=made)


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


@pytest.mark.slow
def test_a_plan_says_into_which_region_it_puts_an_entry(console: Console) -> None:
    table, _ = saved.abandoned(console)
    made = saved.plan(console, table, saved.only_copy(console, table, "entry")["id"])

    assert f"It goes to {console.lake.log_store} in {console.connection.region}." in made["consequences"]


def test_an_entry_goes_to_no_store_of_the_same_name_in_another_region(console: Console) -> None:
    table, _ = saved.abandoned(console)
    copy, client = saved.only_copy(console, table, "entry")["id"], store_in_eu(console)
    there = seen_from_eu(console)

    store, here = console.lake.log_store, console.connection.region
    assert saved.refusal(console, there, copy)["reason"] == (
        f"The copy is from {store} in {here}, and this connection reads {EU}."
    )
    assert client.scan(TableName=store)["Items"] == []


def test_a_registration_goes_to_no_coordinator_of_another_region(console: Console) -> None:
    table, _ = saved.unpublished_by_mistake(console)
    copy = saved.only_copy(console, table, "registration")["id"]
    saved.lose_registration(console)
    rewritten(console, copy, region=EU)

    assert f"in {EU}, and this connection reads" in saved.refusal(console, table, copy)["reason"]


def test_an_entry_goes_to_no_store_of_another_account(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    table, _ = saved.abandoned(console)
    copy = saved.only_copy(console, table, "entry")["id"]
    rewritten(console, copy, account="111122223333")
    without_the_role = lake_access(console.connection)
    monkeypatch.setattr(jobs, "lake_access", lambda connection: without_the_role)
    Connection.objects.update(role_arn=ROLE)

    assert "in account 111122223333" in saved.refusal(console, table, copy)["reason"]


def test_the_account_of_a_connection_is_that_of_its_role() -> None:
    assert (account_of(ROLE), account_of("")) == ("444455556666", "")


def test_an_item_without_a_region_is_refused_where_a_store_of_its_name_is_known_in_another(console: Console) -> None:
    table, _ = saved.abandoned(console)
    copy = saved.only_copy(console, table, "entry")["id"]
    rewritten(console, copy, region="")
    connection_to_eu(console)

    assert f"is known in {EU} as well" in saved.refusal(console, table, copy)["reason"]


@pytest.mark.slow
def test_an_item_without_a_region_is_refused_where_its_store_was_seen_in_another(console: Console) -> None:
    table, _ = saved.abandoned(console)
    copy = saved.only_copy(console, table, "entry")["id"]
    rewritten(console, copy, region="")
    store_in_eu(console)
    here = console.connection.region
    Connection.objects.update(region=EU)

    assert ProvenanceRow.objects.exists()
    there = DeltaTable.objects.select_related("connection").get()
    assert f"is known in {here} as well" in saved.refusal(console, there, copy)["reason"]


@pytest.mark.slow
def test_an_item_without_a_region_goes_to_the_one_that_can_be_meant_and_the_plan_says_so(console: Console) -> None:
    table, entry = saved.abandoned(console)
    copy = saved.only_copy(console, table, "entry")["id"]
    rewritten(console, copy, region="")

    assert any("does not say its region" in one for one in saved.plan(console, table, copy)["consequences"])
    assert saved.restored(console, table, copy).state == "succeeded"
    assert console.item(saved.ORDERS, 3) == entry


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


def test_an_entry_is_put_back_in_the_region_in_which_its_plan_was_shown_or_not_at_all(console: Console) -> None:
    table, _ = saved.abandoned(console)
    copy, client = saved.only_copy(console, table, "entry")["id"], store_in_eu(console)
    made = saved.plan(console, table, copy)

    job = console.run(saved.ask(edited(console), copy, made))

    assert job.state == "overtaken"
    assert client.scan(TableName=console.lake.log_store)["Items"] == []
    assert console.item(saved.ORDERS, 3) == {}


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
