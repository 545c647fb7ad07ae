"""The preflight: everything there, and each permission denied one at a time."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import pytest

from backups.policies.documents import BACKING_UP, PURPOSES, policy_documents
from backups.policies.preflight import PolicyCheck, check_plan, sentence
from lake.aws import held_permissions
from lake.aws.errors import AwsError
from lake.aws.identity import Identity
from lake.backup.objects import BucketPrefix
from tests.backups.policies.plans import NAMES, SOURCE_ACCOUNT, VAULT_ACCOUNT, names

LEVEE = {"source": NAMES.levee_source, "vault": NAMES.levee_vault}
BUCKETS = [policy for policy in policy_documents(NAMES) if policy.kind == "bucket"]


@dataclass
class World:
    """Two accounts; `denied` holds (principal, action, resource), `refusal` is what IAM says instead of an answer."""

    denied: set[tuple[str, str, str]] = field(default_factory=set)
    refusal: AwsError | None = None
    policies: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def lake(self, account: str) -> Any:
        return type("FakeLake", (), {"s3": self, "services": account})()

    def ask(self, operation: str, bucket: str, key: str, **_: Any) -> Any:
        assert operation == "s3:GetBucketPolicy"
        if bucket not in self.policies:
            raise AwsError("AccessDenied", "no", "R1", operation, operation, f"s3://{bucket}")
        return type("Body", (), {"body": json.dumps({"Statement": self.policies[bucket]}).encode()})()

    def simulate(
        self, services: Any, principal: str, actions: Sequence[str], resource: str, *, context: Mapping[str, str]
    ) -> dict[str, str]:
        """As IAM does: a request without the key that a policy asks for is denied."""
        self.asked.append(principal)
        if self.refusal:
            raise self.refusal
        named = {"s3:CreateJob": "s3:RequestJobOperation", "iam:PassRole": "iam:PassedToService"}
        return {
            action: "implicitDeny"
            if (principal, action, resource) in self.denied or (action in named and named[action] not in context)
            else "allowed"
            for action in actions
        }


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(policies={policy.target: [] for policy in BUCKETS})
    for policy in BUCKETS:
        made.policies[policy.target] += policy.document["Statement"]
    accounts = {"source": SOURCE_ACCOUNT, "vault": VAULT_ACCOUNT}
    monkeypatch.setattr(held_permissions, "caller", lambda account: Identity(accounts[account], LEVEE[account]))
    monkeypatch.setattr(held_permissions, "simulate", made.simulate)
    return made


def check(world: World, plan: Any = NAMES) -> tuple[PolicyCheck, ...]:
    return check_plan(plan, world.lake("source"), world.lake("vault"))


def held_in(world: World, policy: str) -> set[str]:
    return {one.held for one in check(world) if one.policy == policy}


def granted(kind: str) -> list[tuple[str, str, str]]:
    return sorted(
        {
            (policy.account, action, resource)
            for policy in policy_documents(NAMES)
            for statement in policy.document["Statement"]
            if policy.kind == kind and statement["Effect"] == "Allow"
            for action in statement["Action"]
            for resource in statement["Resource"]
        }
    )


def test_with_everything_granted_every_tick_is_there(world):
    found = check(world)
    assert {one.held for one in found} == {"yes"}
    assert len(found) >= 60
    policies = {one.code: one.purpose for one in policy_documents(NAMES)}
    assert {one.policy: one.purpose for one in found} == {one.policy: policies[one.policy] for one in found}
    numbers = [sum(policies[one.policy] == purpose for one in found) for purpose in PURPOSES]
    assert sentence(found) == (
        "To back up: {0} of {0} granted. To restore what is archived: {1} of {1} granted. "
        "To restore to a new path: {2} of {2} granted. To remove restored copies: {3} of {3} granted. "
        "To put tables back in place: {4} of {4} granted."
    ).format(*numbers)


@pytest.mark.parametrize("kind", ["identity", "role"])
def test_each_permission_denied_alone_is_the_one_that_is_missing(world, kind):
    for account, action, resource in granted(kind):
        world.denied = {(NAMES.batch_role if kind == "role" else LEVEE[account], action, resource)}

        found = check(world)

        missing = {(one.account, one.action, one.resource) for one in found if one.held == "no"}
        assert missing == {(account, action, resource)}
        purposes = {one.purpose for one in found if one.held == "no"}
        assert (f"lacks {action} on {resource}" in sentence(found)) == (BACKING_UP in purposes)


@pytest.mark.parametrize(
    "policy", [one for one in BUCKETS if "Allow" in json.dumps(one.document)], ids=attrgetter("code")
)
def test_a_bucket_whose_policy_lacks_one_action_is_not_called_held(world, policy):
    cut = [{**one, "Action": one["Action"][1:]} for one in world.policies[policy.target]]
    world.policies[policy.target] = cut
    assert held_in(world, policy.code) == {"unknown"}


def test_a_statement_is_known_by_what_it_says(world):
    """As S3 may give it back, beside others and in another order."""
    said = world.policies["acme-lake"]
    told = [{**one, "Sid": "Other", "Action": list(reversed(one["Action"]))} for one in said]
    other = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::acme-lake/open/*"}
    world.policies["acme-lake"] = [other, *told]
    assert held_in(world, "source-bucket") == {"yes"}


def test_what_keys_grant_is_not_known_and_each_bucket_is_read_once(world, monkeypatch):
    read, whole = [], world.ask
    monkeypatch.setattr(world, "ask", lambda *given, **more: read.append(given[1]) or whole(*given, **more))
    found = check(world, names(source_key="arn:k", destination_key="arn:k"))
    keys = {(one.policy, one.held, one.resource) for one in found if one.policy.endswith("-key")}
    assert "To restore to a new path: 11 of 12 granted, 1 not known." in sentence(found)
    codes = ("source-key", "destination-key", "restore-key", "restore-in-place-key")
    assert keys == {(code, "unknown", "arn:k") for code in codes}
    assert sorted(read) == ["acme-lake", "acme-manifests"]


def test_a_denial_of_levee_s_own_in_the_same_bucket_takes_nothing_away(world):
    plan = names(destination=BucketPrefix("acme-lake", "pool/"))
    documents = [one for one in policy_documents(plan) if one.kind == "bucket" and one.target == "acme-lake"]
    assert "destination-bucket" in {one.code for one in documents}
    world.policies["acme-lake"] = [statement for one in documents for statement in one.document["Statement"]]
    assert {one.held for one in check(world, plan) if one.policy in ("source-bucket", "restore-bucket")} == {"yes"}


def test_a_denial_of_somebody_else_leaves_it_unknown(world):
    denial = {"Effect": "Deny", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::acme-lake/*"}
    world.policies["acme-lake"].append(denial)
    assert held_in(world, "source-bucket") == {"unknown"}


def test_a_policy_that_may_not_be_read_is_unknown_and_says_why(world):
    del world.policies["acme-lake"]
    found = [one for one in check(world) if one.policy == "source-bucket"]
    assert {one.held for one in found} == {"unknown"}
    assert all("s3:GetBucketPolicy" in one.reason for one in found)


def test_iam_is_not_asked_again_of_whom_it_does_not_simulate(world):
    world.refusal = AwsError("AccessDenied", "no", "R", "iam:SimulatePrincipalPolicy", "iam:SimulatePrincipalPolicy")
    found = [one for one in check(world) if one.policy == "levee-vault"]
    assert {one.held for one in found} == {"unknown"}
    assert all("IAM does not simulate" in one.reason for one in found)
    assert sorted(world.asked) == sorted({NAMES.batch_role, NAMES.levee_vault, NAMES.levee_source})


def test_a_throttle_leaves_one_answer_unknown_and_not_the_others(world):
    real = world.simulate

    def throttled_once(*given, **more):
        world.refusal = AwsError("Throttling", "Rate exceeded", "R") if not world.asked else None
        return real(*given, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(held_permissions, "simulate", throttled_once)
        found = [one for one in check(world) if one.how != "read"]

    unknown = [one for one in found if one.held == "unknown"]
    assert len({(one.who, one.resource) for one in unknown}) == 1
    assert all("Rate exceeded" in one.reason for one in unknown)


def test_an_expired_role_is_one_refusal_for_the_whole(world, monkeypatch):
    def expired(services: Any) -> Identity:
        raise AwsError("NoCredentials", "the session has expired")

    monkeypatch.setattr(held_permissions, "caller", expired)
    with pytest.raises(AwsError, match="expired"):
        check(world)


def test_a_bucket_of_a_date_is_not_asked_for_before_it_exists(world):
    found = check(world, names(destination=BucketPrefix("acme-{date}")))
    assert not [one for one in found if one.resource.startswith("arn:aws:s3:::acme-{") and one.how == "read"]


def test_it_can_be_stopped_between_two_checks(world):
    class Stop(Exception):
        pass

    def stop() -> None:
        if len(world.asked) > 3:
            raise Stop

    with pytest.raises(Stop):
        check_plan(NAMES, world.lake("source"), world.lake("vault"), check_cancelled=stop)
