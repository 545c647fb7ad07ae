"""What stands in the way of a change: one clear sentence each, and no half-made change."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import Group

from coordinator.settings import actions, store_calls
from coordinator.settings.requests import ChangeRecovery, CreateStore, EnableTtl, MigrateTtl, SetTempRule
from dashboard.accounts.gate import NotAllowed
from dashboard.accounts.roles import Role
from dashboard.connections.models import Connection
from dashboard.jobs.models import JobState
from lake.aws.wire import Wire
from tests.builders.people import actor
from tests.coordinator.settings.denying import Gate

ROOT = "sales/orders"


@pytest.fixture
def gate(monkeypatch) -> Gate:
    return Gate().install(monkeypatch)


CHANGES = [
    (lambda c: ChangeRecovery(c.lake.log_store, on=True), "dynamodb:UpdateContinuousBackups"),
    (lambda c: CreateStore(f"fresh-{c.lake.bucket}"), "dynamodb:CreateTable"),
    (lambda c: SetTempRule(c.lake.bucket, ROOT), "s3:PutBucketLifecycleConfiguration"),
]


def world(console):
    client = console.lake.dynamodb
    names = client.list_tables()["TableNames"]
    return names, console.described(), console.ttl(), console.rules()


@pytest.mark.parametrize(("change", "operation"), CHANGES)
def test_a_denied_write_names_its_permission_and_changes_nothing(ready, gate, change, operation):
    before = world(ready)
    gate.deny(operation)

    job = ready.applied(change(ready))

    assert job.state == JobState.FAILED
    assert "permission" in job.message
    assert "is missing" in job.message
    assert world(ready) == before


@pytest.mark.parametrize(
    ("change", "operation"),
    [
        (lambda c: EnableTtl(c.lake.log_store), "dynamodb:DescribeTable"),
        (lambda c: EnableTtl(c.lake.log_store), "dynamodb:DescribeTimeToLive"),
        (lambda c: ChangeRecovery(c.lake.log_store, on=True), "dynamodb:DescribeContinuousBackups"),
        (lambda c: SetTempRule(c.lake.bucket, ROOT), "s3:GetBucketLifecycleConfiguration"),
    ],
)
def test_a_denied_read_plans_nothing_and_names_its_permission(ready, gate, change, operation):
    gate.deny(operation)

    job = ready.planned(change(ready))

    told = job.message if job.state == JobState.FAILED else job.result["refusal"]["reason"]
    assert f"{operation.replace('GetBucketL', 'GetL')} is missing" in told


@pytest.mark.parametrize("operation", ["sts:GetCallerIdentity", "s3:HeadBucket", "s3:GetBucketVersioning"])
def test_what_a_lifecycle_plan_can_do_without_does_not_stop_it(ready, gate, operation):
    gate.deny(operation)

    assert ready.applied(SetTempRule(ready.lake.bucket, ROOT)).state == JobState.SUCCEEDED


def test_a_table_that_leaves_active_between_plan_and_call_is_left_alone(ready, monkeypatch):
    real, looks = store_calls.describe, []

    def describe(lake, name):
        looks.append(name)
        found = real(lake, name)
        return replace(found, status="UPDATING") if found else None

    planned = ready.planned(EnableTtl(ready.lake.log_store))
    monkeypatch.setattr(store_calls, "describe", describe)
    job = ready.apply(planned)

    assert job.state == JobState.FAILED
    assert "status is UPDATING by now: it was not sent" in job.message
    assert ready.ttl()["TimeToLiveStatus"] == "DISABLED"


def test_a_bucket_of_another_account_is_named_as_such(ready, monkeypatch):
    real = Wire.send

    def send(wire, request):
        if "x-amz-expected-bucket-owner" in {name.lower() for name in request.headers}:
            return SimpleNamespace(status=403, headers={}, body=b"")
        return real(wire, request)

    monkeypatch.setattr(Wire, "send", send)
    Connection.objects.update(bucket_owners={})  # it was another account's when it was first read
    refusal = ready.refusal_of(SetTempRule(ready.lake.bucket, ROOT))

    assert refusal["why"] == "not-owned"
    assert "belongs to another account" in refusal["reason"]


def test_the_write_itself_names_the_owner_it_expects(ready, gate):
    seen = []
    gate.before = lambda request: seen.append((request.operation, dict(request.headers)))

    ready.applied(SetTempRule(ready.lake.bucket, ROOT))

    [headers] = [headers for operation, headers in seen if operation == "s3:PutBucketLifecycleConfiguration"]
    assert headers["x-amz-expected-bucket-owner"] == "123456789012"


def test_a_bucket_with_an_unpublished_commit_gets_no_rule_that_would_take_it(ready):
    ready.lake.pending(ROOT, 3)
    ready.observe()
    table = ready.table(ROOT)
    table.oldest_unpublished_at -= timedelta(days=3)
    table.save()

    refusal = ready.refusal_of(SetTempRule(ready.lake.bucket, ROOT))

    assert refusal["why"] == "unpublished"
    assert "publish it first" in refusal["reason"]


def test_an_operator_or_an_admin_who_is_none_any_more_puts_no_rule_that_deletes_by_age_alone(ready):
    planned = ready.planned(SetTempRule(ready.lake.bucket, ROOT))
    admin, digest = actor(Role.ADMIN), planned.result["plan"]["digest"]
    with pytest.raises(NotAllowed):
        actions.apply_change(actor(Role.OPERATOR), planned, digest, confirm=ready.lake.bucket)
    job = actions.apply_change(admin, planned, digest, confirm=ready.lake.bucket)
    admin.user.groups.set([Group.objects.get_or_create(name=Role.OPERATOR.value)[0]])
    ready.run(job)

    assert (job.state, job.error_code) == (JobState.FAILED, "NotAllowed")
    assert ready.rules() == []


@pytest.mark.parametrize("change", [EnableTtl, MigrateTtl])
def test_ttl_is_not_switched_on_while_it_would_take_the_entry_of_a_lost_file(ready, change):
    """The entry is what keeps the version taken, until its file is back."""
    ready.lake.delete(f"{ROOT}/_delta_log/{2:020d}.json")
    ready.observe()

    refusal = ready.refusal_of(change(ready.lake.log_store))

    assert refusal["why"] == "unpublished"
    assert "carries a time to expire although the file of its commit is not there" in refusal["reason"]
