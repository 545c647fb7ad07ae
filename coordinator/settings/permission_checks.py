"""Which permissions a connection has, one by one, as IAM simulates what the policies of its features would grant."""

from collections.abc import Callable
from dataclasses import asdict
from typing import TypedDict

from coordinator.settings.iam import FeaturePolicy
from coordinator.settings.iam_features import feature_policies
from coordinator.settings.iam_names import NEW_STORES, names_of
from dashboard.connections.models import Connection
from lake.aws.access import Lake
from lake.aws.held_permissions import PermissionJudge


class Permissions(TypedDict):
    """Which permissions an identity has; `identity` is an ARN, "" where nobody knows it.

    Each has `feature`, `action` and `resource`, and `held`, `how` and `reason` as in `HeldPermission`.
    """

    identity: str
    permissions: list[dict[str, str]]


def policies(connection: Connection, account: str = "*", new_stores: str = NEW_STORES) -> tuple[FeaturePolicy, ...]:
    """The policy of each feature for this connection's real names."""
    return feature_policies(names_of(connection, account, new_stores))


def check_all(
    connection: Connection,
    lake: Lake,
    progress: Callable[[int, int | None], None] = lambda done, total: None,
    check_cancelled: Callable[[], None] = lambda: None,
) -> Permissions:
    """Identity and permissions as JSON. No single refusal ends it; raises AwsError only without credentials."""
    judge = PermissionJudge(lake.services)
    account = judge.identity.account if judge.identity else "*"
    wanted = [
        (policy.feature, grant, resource)
        for policy in policies(connection, account)
        for grant in policy.grants
        for resource in grant.resources
    ]
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for done, (feature, grant, resource) in enumerate(wanted, start=1):
        check_cancelled()
        # What IAM has to be told of a request that it only imagines.
        fixed = {key: values[0] for _, key, values in grant.conditions if key.startswith("kms:")}
        held = judge.judge(judge.principal, grant.actions, resource, {"aws:ResourceAccount": account, **fixed})
        for action, one in held.items():
            permission = {"feature": feature, "action": action, "resource": resource, **asdict(one)}
            found[tuple(permission.values())] = permission
        progress(done, len(wanted))
    return {"identity": judge.identity.arn if judge.identity else "", "permissions": list(found.values())}
