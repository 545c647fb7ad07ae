"""Capacity and TTL on Amazon's own DynamoDB Local, beside writers that send what upstream's do."""

import uuid

import boto3
import pytest

from changes.calls import Result
from changes.plan import ChangePlan
from coordinator.settings import capacity
from coordinator.settings.creation import create_request
from coordinator.settings.requests import Capacity, ChangeCapacity, CreateStore, NotPlanned
from coordinator.settings.store_calls import describe
from coordinator.settings.store_facts import StoreFacts
from coordinator.settings.store_plans import plan_store
from lake.aws.access import Access, open_lake
from tests.builders.changes import NO_RECORDS, execute_plan
from tests.builders.delta import coordinator_commit, incomplete_item, log_store_item, registration_item
from tests.dynamodb_local import dynamodb_local  # noqa: F401
from tests.lake.aws.conftest import KEYS

PATH = "s3a://acme-lake-prod/sales/europe/orders"


@pytest.fixture
def client(dynamodb_local):  # noqa: F811
    return boto3.client("dynamodb", endpoint_url=dynamodb_local, **KEYS)


@pytest.fixture
def local(dynamodb_local):  # noqa: F811
    access = Access("us-east-1", dynamodb_endpoint_url=dynamodb_local, static_credentials=("sandbox", "sandbox"))
    with open_lake(access) as lake:
        yield lake


@pytest.fixture
def name() -> str:
    return f"store_{uuid.uuid4().hex[:12]}"


def facts(local, name: str, kind: str = "log_store") -> StoreFacts:
    return StoreFacts(name, "us-east-1", describe(local, name), kind)


def carried_out(local, plan: ChangePlan) -> list[Result]:
    return [outcome.result for outcome in execute_plan(plan, local, records=NO_RECORDS).outcomes]


def made(client, name: str, kind: str) -> str:
    request = create_request(CreateStore(name, kind, Capacity(5, 5), deletion_protection=False))
    request.pop("DeletionProtectionEnabled")
    client.create_table(**request)
    return name


def units(*answers: dict) -> float:
    return sum(answer["ConsumedCapacity"]["CapacityUnits"] for answer in answers)


def test_a_log_store_commit_takes_the_units_that_the_advice_counts_with(client, name):
    table = made(client, name, "log_store")
    every = {"TableName": table, "ReturnConsumedCapacity": "TOTAL"}
    client.put_item(**every, Item=log_store_item(6, PATH))
    key = {"tablePath": {"S": PATH}, "fileName": {"S": f"{6:020d}.json"}}
    newest = {"KeyConditionExpression": "tablePath = :p", "ExpressionAttributeValues": {":p": {"S": PATH}}}

    def look() -> dict:
        return client.query(**every, **newest, ConsistentRead=True, ScanIndexForward=False, Limit=1)

    first = look()
    before = client.get_item(**every, Key=key, ConsistentRead=True)
    prepared = client.put_item(**every, Item=incomplete_item(7, PATH), Expected={"fileName": {"Exists": False}})
    complete = client.put_item(**every, Item=log_store_item(7, PATH))
    last = look()

    costs = capacity.LOG_STORE_COSTS[:-1]
    assert units(first, before, last) == sum(reads for _, reads, _ in costs)
    assert units(prepared, complete) == sum(writes for _, _, writes in costs)


def test_a_coordinated_commit_takes_the_units_that_the_advice_counts_with(client, name):
    table = made(client, name, "commit_coordinator")
    item = registration_item(6)
    every = {"TableName": table, "ReturnConsumedCapacity": "TOTAL"}
    client.put_item(TableName=table, Item=item)
    key = {"tableId": item["tableId"]}

    def read() -> dict:
        return client.get_item(**every, Key=key)

    def update(**updates: dict) -> dict:
        return client.update_item(**every, Key=key, AttributeUpdates=updates)

    reads = [read()]
    writes = [
        update(
            tableVersion={"Action": "PUT", "Value": {"N": "7"}},
            commits={"Action": "ADD", "Value": {"L": [coordinator_commit(7)]}},
        )
    ]
    reads.append(read())
    writes.append(update(commits={"Action": "PUT", "Value": {"L": []}}))
    reads.append(read())

    costs = capacity.COORDINATOR_COSTS[:-1]
    assert units(*reads) == sum(reads for _, reads, _ in costs)
    assert units(*writes) == sum(writes for _, _, writes in costs)


@pytest.mark.parametrize("kind", ["log_store", "commit_coordinator"])
def test_a_store_is_created_as_the_real_thing_takes_it(local, client, name, kind):
    change = CreateStore(name, kind, Capacity(7, 9), recovery=False)

    results = carried_out(local, plan_store(change, facts(local, name)))

    assert set(results) == {Result.DONE}
    described = local.dynamodb.describe(name)
    assert (described.billing, described.read_capacity, described.write_capacity) == ("provisioned", 7, 9)
    assert described.ttl_attribute == ("expireTime" if kind == "log_store" else None)
    if kind == "log_store":
        client.put_item(TableName=name, Item=log_store_item(0, PATH))
    else:
        client.put_item(TableName=name, Item=registration_item(0))


def test_billing_changes_and_what_is_so_already_is_refused(local, client, name):
    made(client, name, "log_store")
    change = ChangeCapacity(name, Capacity())

    assert carried_out(local, plan_store(change, facts(local, name))) == [Result.DONE]
    assert local.dynamodb.describe(name).billing == "on_demand"
    with pytest.raises(NotPlanned):
        plan_store(change, facts(local, name))
    assert carried_out(local, plan_store(ChangeCapacity(name, Capacity(2, 3)), facts(local, name))) == [Result.DONE]
