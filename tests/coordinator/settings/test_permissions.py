"""The policy of each feature for real names, and which of its permissions a connection has."""

import json
from dataclasses import replace

import pytest

from coordinator.models import CommitStore, Watch
from coordinator.settings import actions
from coordinator.settings.iam import Names
from coordinator.settings.iam_features import feature_policies
from coordinator.settings.iam_names import policies
from dashboard.accounts.roles import Role
from dashboard.connections.models import Connection
from dashboard.jobs.models import JobState
from lake.aws import held_permissions
from tests.builders.people import actor
from tests.coordinator.settings.denying import Gate
from tests.policy_lint import policy_errors

NAMES = Names(
    "aws", "eu-west-1", "111122223333", ("delta_log",), ("commits",), ("lake", "other"), (("lake", "sales/"),)
)


DECISIONS = {"dynamodb:UpdateTable": "implicitDeny", "dynamodb:PutItem": "explicitDeny", "s3:PutObject": "what"}


@pytest.fixture(autouse=True)
def gate(monkeypatch) -> Gate:
    """IAM refuses to simulate: moto does not know how to."""
    return Gate({"iam:SimulatePrincipalPolicy"}).install(monkeypatch)


@pytest.fixture
def ready(console):
    console.lake.table("sales/orders", log_store=True)
    name = console.lake.coordinator()
    CommitStore.objects.create(connection=console.connection, name=name, kind="commit_coordinator")
    console.observe()
    return console


def checked(console) -> dict[tuple[str, str], dict]:
    job = console.run(actions.check_permissions(actor(Role.OPERATOR), console.connection))
    assert job.state == JobState.SUCCEEDED, job.message
    return {(one["action"], one["resource"]): one for one in job.result["permissions"]}


def test_policies_name_the_real_stores_buckets_and_prefixes():
    told = json.dumps([policy.document for policy in feature_policies(NAMES)])

    assert "arn:aws:dynamodb:eu-west-1:111122223333:table/delta_log" in told
    assert "arn:aws:s3:::lake/sales/*" in told
    assert "arn:aws:s3:::lake/*" not in told
    assert "arn:aws:s3:::other/*" in told


def test_no_policy_allows_every_action_and_none_but_questions_about_the_account_every_resource():
    for policy in feature_policies(NAMES):
        for statement in policy.document["Statement"]:
            assert all(action.count(":") == 1 and "*" not in action for action in statement["Action"])
            if "*" in statement["Resource"]:
                assert policy.feature in ("load", "check-permissions")


def test_a_feature_without_anything_to_reach_has_no_policy():
    features = {policy.feature for policy in feature_policies(Names("aws", "eu-west-1", "*"))}

    assert features == {"create-stores", "check-permissions"}


@pytest.mark.parametrize(("region", "partition"), [("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")])
def test_arns_are_of_the_regions_partition(db, region, partition):
    connection = Connection.objects.create(name="far", region=region)
    Watch.objects.create(connection=connection, uri="s3a://lake/sales/")
    CommitStore.objects.create(connection=connection, name="delta_log", kind="log_store")

    told = json.dumps([policy.document for policy in policies(connection)])

    assert f"arn:{partition}:s3:::lake/sales/*" in told
    assert f"arn:{partition}:dynamodb:{region}:*:table/delta_log" in told


def test_each_permission_is_as_iam_decides_and_nothing_is_sent_but_questions(ready, gate, monkeypatch):
    def simulate(services, principal, actions, resource, *, context):
        assert "aws:ResourceAccount" in context
        return {action: DECISIONS.get(action, "allowed") for action in actions}

    monkeypatch.setattr(held_permissions, "simulate", simulate)
    gate.sent.clear()

    found = {action: one for (action, _), one in checked(ready).items()}

    assert {action: found[action]["held"] for action in DECISIONS} == {
        "dynamodb:UpdateTable": "no", "dynamodb:PutItem": "no", "s3:PutObject": "unknown",
    }  # fmt: skip
    assert found["s3:GetObject"]["held"] == "yes"
    assert {one["how"] for one in found.values()} == {"simulated"}
    assert gate.sent == ["sts:GetCallerIdentity"]


def test_what_iam_does_not_simulate_is_not_known(ready, gate):
    gate.sent.clear()

    found = checked(ready).values()

    assert {one["held"] for one in found} == {"unknown"}
    assert all("iam:SimulatePrincipalPolicy" in one["reason"] for one in found)
    assert gate.sent.count("iam:SimulatePrincipalPolicy") == 1


@pytest.mark.slow
def test_linters_find_nothing_wrong_with_the_policy_of_any_feature():
    several = [NAMES, replace(NAMES, account="*"), replace(NAMES, region="eu-central-1", prefixes=())]

    assert policy_errors(("identity", one.document) for names in several for one in feature_policies(names)) == []
