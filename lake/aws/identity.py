"""Who a connection is, and what IAM says it may do."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lake.aws.errors import AwsError
from lake.aws.services import Services

_ASSUMED = re.compile(r"arn:(aws[a-z-]*):sts::(\d{12}):assumed-role/([^/]+)/.+")
MOST_ACTIONS = 50
"""Actions asked about in one request; longer answers would be paged."""


@dataclass(frozen=True, slots=True)
class Identity:
    """`account` has 12 digits; `arn` is of a user, a role's session or the root of the account."""

    account: str
    arn: str

    @property
    def principal(self) -> str:
        """The ARN that IAM simulates: of the role behind a session, else the identity's own.

        The session names a role without its path, so a role with a path cannot be found by it.
        """
        found = _ASSUMED.fullmatch(self.arn)
        return f"arn:{found[1]}:iam::{found[2]}:role/{found[3]}" if found else self.arn


def caller(services: Services) -> Identity:
    """Who signs the requests (STS GetCallerIdentity, which needs no permission). Raises AwsError."""
    said = services.ask("sts", "GetCallerIdentity", {})
    return Identity(str(said.get("Account", "")), str(said.get("Arn", "")))


def simulate(
    services: Services,
    principal: str,
    actions: Sequence[str],
    resource: str,
    *,
    context: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """What IAM's policies say of each action on one resource: "allowed", "explicitDeny" or "implicitDeny".

    `context` are the condition keys that a real request would have, all of them texts; without one that a policy asks
    for, IAM denies.
    IAM SimulatePrincipalPolicy; it knows the policies of the principal, its boundary and those of the organisation, not
    those of buckets and keys. Raises AwsError, also where the endpoint knows no such operation.
    """
    entries = [
        {"ContextKeyName": key, "ContextKeyType": "string", "ContextKeyValues": [value]}
        for key, value in (context or {}).items()
    ]
    found: dict[str, str] = {}
    for start in range(0, len(actions), MOST_ACTIONS):
        parameters = {
            "PolicySourceArn": principal,
            "ActionNames": actions[start : start + MOST_ACTIONS],
            "ResourceArns": [resource],
            "MaxItems": 1000,
        } | ({"ContextEntries": entries} if entries else {})
        said = services.ask("iam", "SimulatePrincipalPolicy", parameters, target=principal)
        results = said.get("EvaluationResults")
        if not isinstance(results, list):
            raise AwsError("MalformedAnswer", "the answer has no results", "", "iam:SimulatePrincipalPolicy")
        found |= {str(one.get("EvalActionName")): str(one.get("EvalDecision")) for one in results}
    return found
