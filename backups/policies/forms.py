"""A policy as JSON, as Terraform and as commands of the AWS CLI. Pure."""

import json
import re
from shlex import quote

from backups.policies.documents import PolicyDocument

_NOT_IN_NAMES = re.compile(r"[^a-z0-9_]+")


def as_json(policy: PolicyDocument) -> str:
    return json.dumps(policy.document, indent=2, ensure_ascii=False)


def as_terraform(policy: PolicyDocument) -> str:
    """A resource for Terraform's AWS provider; the account is that of the provider it is given to."""
    name = _NOT_IN_NAMES.sub("_", policy.code)
    document = f"jsonencode({_hcl(policy.document)})"
    target = _hcl_text(policy.target)
    match policy.kind:
        case "trust":
            return _resource("aws_iam_role", "batch", {"name": target, "assume_role_policy": document})
        case "role":
            fields = {"name": _hcl_text(f"levee-{policy.code}"), "role": "aws_iam_role.batch.id", "policy": document}
            return _resource("aws_iam_role_policy", name, fields)
        case "bucket":
            return _resource("aws_s3_bucket_policy", name, {"bucket": target, "policy": document})
        case "key":
            return _resource("aws_kms_key_policy", name, {"key_id": target, "policy": document})
        case _:
            return _resource("aws_iam_policy", name, {"name": _hcl_text(f"{policy.code}"), "policy": document})


def as_cli(policy: PolicyDocument) -> str:
    """Commands for a POSIX shell, with the credentials of the account that the policy belongs to."""
    document, target = quote(json.dumps(policy.document, ensure_ascii=False)), quote(policy.target)
    match policy.kind:
        case "trust":
            return f"aws iam create-role --role-name {target} \\\n  --assume-role-policy-document {document}"
        case "role":
            name = quote(f"levee-{policy.code}")
            return (
                f"aws iam put-role-policy --role-name {target} --policy-name {name} \\\n  --policy-document {document}"
            )
        case "bucket":
            return (
                f"aws s3api get-bucket-policy --bucket {target}\n"
                f"aws s3api put-bucket-policy --bucket {target} \\\n  --policy {document}"
            )
        case "key":
            return (
                f"aws kms get-key-policy --key-id {target} --policy-name default\n"
                f"aws kms put-key-policy --key-id {target} --policy-name default \\\n  --policy {document}"
            )
        case _:
            return f"aws iam create-policy --policy-name {quote(policy.code)} \\\n  --policy-document {document}"


def merge_note(policy: PolicyDocument) -> str:
    """What to mind before it is attached; empty where it stands by itself."""
    if policy.kind == "bucket":
        note = "A bucket has one policy: add these statements to what is there."
        return f"{note} Do so for the bucket of each date." if "{date}" in policy.target else note
    if policy.kind == "key":
        return "A key has one policy: add this statement to what is there, or the key may become unmanageable."
    if policy.kind == "identity":
        return "Attach it to the role or user that the connection acts as."
    return ""


def _resource(kind: str, name: str, fields: dict[str, str]) -> str:
    lines = "\n".join(f"  {field} = {value}" for field, value in fields.items())
    return f'resource "{kind}" "{name}" {{\n{lines}\n}}'


def _hcl(value: object, depth: int = 1) -> str:
    """JSON's values as HCL, which differs in how texts are escaped and maps are written."""
    inner, outer = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict):
        lines = "".join(f"{inner}{_hcl_text(key)} = {_hcl(item, depth + 1)}\n" for key, item in value.items())
        return f"{{\n{lines}{outer}}}"
    if isinstance(value, list):
        lines = "".join(f"{inner}{_hcl(item, depth + 1)},\n" for item in value)
        return f"[\n{lines}{outer}]"
    return _hcl_text(str(value))


def _hcl_text(text: str) -> str:
    """A quoted text; ${ and %{ would begin a template."""
    return json.dumps(text, ensure_ascii=False).replace("${", "$${").replace("%{", "%%{")
