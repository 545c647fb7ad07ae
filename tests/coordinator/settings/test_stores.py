"""Commit stores created and changed on moto, through the jobs that pages and commands use."""

import pytest

from coordinator.settings.requests import Capacity, CreateStore
from dashboard.jobs.models import JobState
from lake.delta import coordinator_items, log_store

KINDS = [("log_store", log_store.expected_keys()), ("commit_coordinator", coordinator_items.expected_keys())]


def keys_of(table: dict) -> tuple[tuple[str, str, str], ...]:
    types = {one["AttributeName"]: one["AttributeType"] for one in table["AttributeDefinitions"]}
    return tuple((one["AttributeName"], one["KeyType"], types[one["AttributeName"]]) for one in table["KeySchema"])


@pytest.mark.parametrize(("kind", "keys"), KINDS)
def test_a_new_store_has_the_key_of_its_kind_and_all_that_was_asked_for(console, kind, keys):
    name = f"new-{kind}-{console.lake.bucket}"
    key = "arn:aws:kms:us-east-1:111122223333:key/0f0e"
    job = console.applied(CreateStore(name, kind, Capacity(7, 9), encryption=key, tags=(("team", "lake"),)))

    table = console.described(name)
    assert job.state == JobState.SUCCEEDED, job.message
    assert keys_of(table) == keys
    assert table["ProvisionedThroughput"]["ReadCapacityUnits"] == 7
    assert table["DeletionProtectionEnabled"]
    assert table["SSEDescription"]["KMSMasterKeyArn"] == key
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
