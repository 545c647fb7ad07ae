"""The preflight: everything there, and each permission denied one at a time."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from backups.policies import preflight
from backups.policies.documents import policy_documents
from backups.policies.preflight import check_plan, sentence
from lake.aws.errors import IAM_ACTIONS, AwsError
from lake.aws.identity import Identity
from lake.backup.objects import BucketPrefix
from tests.backups.policies.plans import NAMES, SOURCE_ACCOUNT, VAULT_ACCOUNT, names

LEVEE = {"source": NAMES.levee_source, "vault": NAMES.levee_vault}


@dataclass
class FakeS3:
    """Answers like an S3 that holds nothing: what is allowed is reached and not found."""

    account: str
    world: "World"

    def ask(self, operation: str, bucket: str, key: str, **_: Any) -> Any:
        action = IAM_ACTIONS.get(operation, operation)
        self.world.sent.append(operation)
        if (self.account, action, bucket) in self.world.denied:
            raise AwsError("AccessDenied", "Access Denied", "R1", operation, action, f"s3://{bucket}")
        if operation == "s3:GetBucketPolicy":
            return Body(json.dumps({"Statement": self.world.statements.get(bucket, [])}).encode())
        raise AwsError("NoSuchKey", "nothing is there", "R2", operation)

    def list(self, bucket: str, prefix: str, **_: Any) -> Any:
        try:
            self.ask("s3:ListObjectsV2", bucket, "")
        except AwsError as error:
            if error.is_access_denied:
                raise
        return iter(())


@dataclass
class Body:
    body: bytes


@dataclass
class World:
    """Two accounts; `denied` holds (account, action, bucket), `denied_by_iam` (principal, action, resource)."""

    denied: set[tuple[str, str, str]] = field(default_factory=set)
    denied_by_iam: set[tuple[str, str, str]] = field(default_factory=set)
    statements: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    sent: list[str] = field(default_factory=list)

    def lake(self, account: str) -> Any:
        return type("FakeLake", (), {"s3": FakeS3(account, self), "services": (account, self)})()


@pytest.fixture
def world(monkeypatch) -> World:
    made = World()
    for policy in policy_documents(NAMES):
        if policy.kind == "bucket":
            made.statements[policy.target] = policy.document["Statement"]

    def caller(services: Any) -> Identity:
        account = services[0]
        return Identity(SOURCE_ACCOUNT if account == "source" else VAULT_ACCOUNT, LEVEE[account])

    def simulate(services: Any, principal: str, actions: list[str], resource: str) -> dict[str, str]:
        denied = (principal, actions[0], resource) in made.denied_by_iam
        return {actions[0]: "implicitDeny" if denied else "allowed"}

    monkeypatch.setattr(preflight, "caller", caller)
    monkeypatch.setattr(preflight, "simulate", simulate)
    return made


def check(world: World, plan=NAMES):
    return check_plan(plan, world.lake("source"), world.lake("vault"))


WANTED = sorted(
    {(policy.kind, policy.account, who, action, resource) for policy, who, action, resource in preflight._wanted(NAMES)}
)


def test_with_everything_granted_every_tick_is_there(world):
    found = check(world)
    assert {one.held for one in found} == {"yes"}
    assert len(found) >= 60
    assert sentence(found) == f"{len(found)} of {len(found)} permissions are there."


@pytest.mark.parametrize(("kind", "account", "who", "action", "resource"), WANTED)
def test_each_permission_denied_alone_is_the_one_that_is_missing(world, kind, account, who, action, resource):
    bucket = resource.rpartition(":::")[2].partition("/")[0]
    if kind == "bucket":
        target = next(p.target for p in policy_documents(NAMES) if p.kind == "bucket" and bucket == p.target)
        world.statements[target] = [
            *world.statements[target],
            {"Effect": "Deny", "Principal": {"AWS": who, "Service": who}, "Action": action, "Resource": resource},
        ]
    else:
        world.denied.add((account, action, bucket))
        world.denied_by_iam.add((NAMES.batch_role if kind == "role" else LEVEE[account], action, resource))
        if kind == "role":
            world.denied.clear()

    found = check(world)

    missing = {(one.account, one.who, one.action, one.resource) for one in found if one.held == "no"}
    expected = {(account, who, action, resource)}
    assert expected <= missing
    assert {one[:3] for one in missing} == {one[:3] for one in expected}
    assert action in sentence(found)


def test_a_source_without_a_policy_lets_nobody_read(world):
    world.statements["acme-lake"] = []
    found = [one for one in check(world) if one.policy == "source-bucket"]
    assert found
    assert {one.held for one in found} == {"no"}


def test_a_policy_that_may_not_be_read_is_unknown_and_says_why(world):
    world.denied.add(("source", "s3:GetBucketPolicy", "acme-lake"))
    found = [one for one in check(world) if one.policy == "source-bucket"]
    assert {one.held for one in found} == {"unknown"}
    assert all("s3:GetBucketPolicy" in one.reason for one in found)


def test_what_iam_does_not_simulate_is_unknown_and_no_tick(world, monkeypatch):
    def refuse(*_: Any) -> Any:
        raise AwsError("AccessDenied", "no", "R", "iam:SimulatePrincipalPolicy", "iam:SimulatePrincipalPolicy")

    monkeypatch.setattr(preflight, "simulate", refuse)
    found = {one.action: one for one in check(world) if one.policy == "levee-vault"}
    assert found["s3:CreateJob"].held == "unknown"
    assert "IAM does not simulate" in found["s3:CreateJob"].reason
    assert found["s3:PutObject"].held == "yes"


def test_iam_is_not_asked_again_of_whom_it_does_not_simulate(world, monkeypatch):
    asked: list[str] = []

    def refuse(_: Any, principal: str, *rest: Any) -> Any:
        asked.append(principal)
        raise AwsError("NoSuchEntity", "there is no such role", "R", "iam:SimulatePrincipalPolicy")

    monkeypatch.setattr(preflight, "simulate", refuse)
    check(world)
    assert sorted(asked) == sorted({NAMES.batch_role, NAMES.levee_vault, NAMES.levee_source})


def test_an_expired_role_is_one_refusal_for_the_whole(world, monkeypatch):
    def expired(services: Any) -> Identity:
        raise AwsError("NoCredentials", "the session has expired")

    monkeypatch.setattr(preflight, "caller", expired)
    with pytest.raises(AwsError, match="expired"):
        check(world)


def test_a_bucket_of_a_date_is_not_asked_for_before_it_exists(world):
    dated = names(destination=BucketPrefix("acme-{date}"))
    found = check(world, dated)
    assert not [
        one for one in found if one.resource.startswith("arn:aws:s3:::acme-*") and one.how in {"asked", "tried"}
    ]


def test_it_can_be_stopped_between_two_checks(world):
    class Stop(Exception):
        pass

    def stop() -> None:
        if len(world.sent) > 3:
            raise Stop

    with pytest.raises(Stop):
        check_plan(NAMES, world.lake("source"), world.lake("vault"), check_cancelled=stop)
