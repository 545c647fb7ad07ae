"""What linters of IAM find wrong with policies: actions that do not exist, resources that an action does not take,
elements that IAM refuses, and condition keys that an action does not know.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Document = Mapping[str, Any]
# What is of templates and not of policies: what becomes of a resource that leaves its stack, ARNs written out, two
# names alike.
_OF_TEMPLATES = frozenset({"E3019", "I3011", "I3013", "I3042", "W3011"})
# Of AWS's list of global condition keys, those that policies of Levee may come to use; all services know them.
GLOBAL_KEYS = frozenset(
    f"aws:{name}"
    for name in (
        "CalledVia", "PrincipalAccount", "PrincipalArn", "PrincipalIsAWSService", "PrincipalOrgID", "PrincipalType",
        "RequestedRegion", "ResourceAccount", "ResourceOrgID", "SecureTransport", "SourceAccount", "SourceArn",
        "SourceIp", "SourceOrgID", "SourceVpc", "SourceVpce", "ViaAWSService",
    )
)  # fmt: skip


def policy_errors(policies: Iterable[tuple[str, Document]]) -> list[str]:
    """Each of `policies` is (kind, document), `kind` as in `backups.policies.documents.PolicyDocument`."""
    found = list(policies)
    assert found
    return [*template_errors(found), *(error for _, document in found for error in condition_errors(document))]


def template_errors(policies: Iterable[tuple[str, Document]]) -> list[str]:
    """By AWS's own linter of CloudFormation, as resources that hold the policies."""
    import yaml
    from cfnlint.api import lint
    from cfnlint.config import ManualArgs

    resources = {f"P{number}": resource(kind, document) for number, (kind, document) in enumerate(policies)}
    config = ManualArgs(regions=["eu-west-1"], include_checks=["I"])
    found = lint(yaml.safe_dump({"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources}), config=config)
    return [f"{one.rule.id}: {one.message}" for one in found if one.rule.id not in _OF_TEMPLATES]


def resource(kind: str, document: Document) -> dict[str, Any]:
    """The CloudFormation resource that holds a policy of this kind."""
    plain = _plain(document)
    match kind:
        case "trust":
            return {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": plain}}
        case "bucket":
            return {"Type": "AWS::S3::BucketPolicy", "Properties": {"Bucket": "lake", "PolicyDocument": plain}}
        case "key":
            return {"Type": "AWS::KMS::Key", "Properties": {"KeyPolicy": plain}}
        case "role" | "identity":
            return {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": plain}}
    raise ValueError(f"no policy is of the kind {kind}")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def condition_errors(document: Document) -> Iterator[str]:
    """Condition keys that one of a statement's actions does not know: IAM takes them, and they never match."""
    for statement in document["Statement"]:
        for operator, pairs in statement.get("Condition", {}).items():
            for key in pairs:
                for action in _listed(statement["Action"]):
                    if not _knows(action, key):
                        yield f"{operator} on {key}: {action} does not know it"


def _knows(action: str, key: str) -> bool:
    from policy_sentry.querying.actions import get_action_data

    if key in GLOBAL_KEYS:
        return True
    service, name = action.split(":")
    told = get_action_data(service, name)
    assert told, f"{action} is not known"
    known = {one.split("${")[0].lower() for row in told[service] for one in row["condition_keys"]}
    return key.lower() in known or f"{key.rpartition('/')[0]}/".lower() in known


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
