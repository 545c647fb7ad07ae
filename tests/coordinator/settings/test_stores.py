"""Commit stores created and changed on moto, through the jobs that pages and commands use."""

import json

import pytest

from coordinator.models import CommitStore
from coordinator.settings.requests import (
    Capacity,
    ChangeCapacity,
    ChangeProtection,
    ChangeRecovery,
    CreateStore,
    DisableTtl,
    EnableTtl,
    MigrateTtl,
)
from dashboard.jobs.models import JobState
from lake.delta import coordinator_items, log_store

KINDS = [("log_store", log_store.expected_keys()), ("commit_coordinator", coordinator_items.expected_keys())]


def keys_of(table: dict) -> tuple[tuple[str, str, str], ...]:
    types = {one["AttributeName"]: one["AttributeType"] for one in table["AttributeDefinitions"]}
    return tuple((one["AttributeName"], one["KeyType"], types[one["AttributeName"]]) for one in table["KeySchema"])


@pytest.mark.parametrize(("kind", "keys"), KINDS)
def test_a_new_store_has_the_key_of_its_kind_and_all_that_was_asked_for(console, kind, keys):
    name = f"new-{kind}-{console.lake.bucket}"
    job = console.applied(CreateStore(name, kind, Capacity(7, 9), tags=(("team", "lake"),)))

    table = console.described(name)
    assert job.state == JobState.SUCCEEDED, job.message
    assert keys_of(table) == keys
    assert table["ProvisionedThroughput"]["ReadCapacityUnits"] == 7
    assert table["DeletionProtectionEnabled"]
    backups = console.lake.dynamodb.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
    assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
    tags = console.lake.dynamodb.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"]
    assert tags == [{"Key": "team", "Value": "lake"}]
    assert (console.ttl(name).get("AttributeName") == "expireTime") == (kind == "log_store")
    assert console.store(name).kind == kind
    assert console.store(name).facts["point_in_time_recovery"] is True


def test_a_new_store_can_be_on_demand_and_bare(console):
    name = f"bare-{console.lake.bucket}"
    console.applied(CreateStore(name, deletion_protection=False, recovery=False, ttl=False))

    assert console.described(name)["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert console.ttl(name)["TimeToLiveStatus"] == "DISABLED"


def test_a_new_store_can_have_a_key_of_kms(console):
    name, key = f"kms-{console.lake.bucket}", "arn:aws:kms:us-east-1:111122223333:key/0f0e"
    console.applied(CreateStore(name, encryption=key))

    assert console.described(name)["SSEDescription"]["KMSMasterKeyArn"] == key


def test_what_delta_would_have_made_stands_beside_it(console):
    beside = {row[0]: row[1:] for row in console.plan_of(CreateStore("another-store"))["beside"]}

    assert beside["Capacity"] == ["Provisioned with 5 read and 5 write units a second", "On demand"]
    assert beside["Deletion protection"] == ["Off", "On"]
    assert beside["TTL"] == ["Off: no writer switches it on", "On expireTime"]


def test_planning_changes_nothing(console):
    before = console.lake.dynamodb.list_tables()["TableNames"]
    plan = console.plan_of(CreateStore("never-made"))

    assert console.lake.dynamodb.list_tables()["TableNames"] == before
    assert plan["calls"][0]["operation"] == "dynamodb:CreateTable"
    assert json.loads(plan["calls"][0]["request"])["TableName"] == "never-made"


def test_a_name_that_is_taken_is_refused(console):
    console.lake.table("sales/orders", log_store=True)

    refusal = console.refusal_of(CreateStore(console.lake.log_store))

    assert refusal["why"] in ("exists", "nothing-to-do")


def test_a_name_taken_by_another_key_is_refused(console):
    name = console.lake.store(f"other-{console.lake.bucket}", id="HASH")

    refusal = console.refusal_of(CreateStore(name))

    assert refusal["why"] == "wrong-key-schema"
    assert "HASH id (S)" in refusal["reason"]


def test_billing_changes_both_ways(console):
    console.applied(ChangeCapacity(console.lake.log_store, Capacity(3, 4)))
    assert console.described()["ProvisionedThroughput"]["WriteCapacityUnits"] == 4

    console.applied(ChangeCapacity(console.lake.log_store, Capacity()))
    assert console.described()["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert console.store().facts["billing"] == "on_demand"


def test_protection_goes_on_freely_and_off_with_the_name_typed(console):
    console.applied(ChangeProtection(console.lake.log_store, on=True))
    assert console.described()["DeletionProtectionEnabled"]

    job = console.applied(ChangeProtection(console.lake.log_store, on=False), confirm=console.lake.log_store)
    assert job.state == JobState.SUCCEEDED
    assert not console.described()["DeletionProtectionEnabled"]


def test_recovery_is_switched_on(console):
    job = console.applied(ChangeRecovery(console.lake.log_store, on=True))

    assert job.state == JobState.SUCCEEDED
    assert console.store().facts["point_in_time_recovery"] is True


def test_ttl_is_switched_on_and_off_again(console):
    console.applied(EnableTtl(console.lake.log_store))
    assert console.ttl() == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expireTime"}

    console.applied(DisableTtl(console.lake.log_store))
    assert console.ttl()["TimeToLiveStatus"] == "DISABLED"


def test_a_coordinator_never_gets_ttl(console):
    name = console.lake.coordinator()
    CommitStore.objects.create(connection=console.connection, name=name, kind="commit_coordinator")

    assert console.refusal_of(EnableTtl(name))["why"] == "coordinator"
    assert console.refusal_of(MigrateTtl(name))["why"] == "coordinator"


def test_what_is_so_already_is_nothing_to_do(console):
    assert console.refusal_of(ChangeCapacity(console.lake.log_store, Capacity()))["why"] == "nothing-to-do"
    assert console.refusal_of(DisableTtl(console.lake.log_store))["why"] == "nothing-to-do"


def test_a_table_that_is_not_there_is_named(console):
    CommitStore.objects.create(connection=console.connection, name="gone-store", kind="log_store")

    refusal = console.refusal_of(EnableTtl("gone-store"))

    assert refusal["reason"] == "There is no DynamoDB table gone-store in us-east-1: nothing can be changed."
