"""A change as text for those who keep infrastructure as code: AWS CLI, Terraform and CloudFormation.

The text holds names and rules that others chose, so each value is quoted for the language it stands in.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from changes.plan import Equivalents

_CLI_NAMES = {
    "CreateTable": "create-table",
    "UpdateTable": "update-table",
    "UpdateTimeToLive": "update-time-to-live",
    "UpdateContinuousBackups": "update-continuous-backups",
}
Table = Mapping[str, Any]
"""Settings of a table as they will be: name, keys, billing, read, write, ttl, recovery, deletion_protection,
encryption and tags; those that are absent are left out of the text.
"""


def dynamodb_cli(calls: Sequence[tuple[str, Mapping[str, Any]]], region: str) -> str:
    """The calls as AWS CLI commands, with a wait after a table is created."""
    lines = []
    for operation, request in calls:
        body = shlex.quote(json.dumps(request, ensure_ascii=False))
        lines.append(f"aws dynamodb {_CLI_NAMES[operation]} --region {shlex.quote(region)} --cli-input-json {body}")
        if operation == "CreateTable":
            name = shlex.quote(str(request["TableName"]))
            lines.append(f"aws dynamodb wait table-exists --region {shlex.quote(region)} --table-name {name}")
    return "\n".join(lines)


def terraform_table(table: Table) -> str:
    """An aws_dynamodb_table, or the arguments of one that change."""
    lines = [f'resource "aws_dynamodb_table" {hcl(_label(table["name"]))} {{', f"  name = {hcl(table['name'])}"]
    if "billing" in table:
        lines.append(f"  billing_mode = {hcl(_mode(table))}")
        if table["billing"] == "provisioned":
            lines += [f"  read_capacity = {table['read']}", f"  write_capacity = {table['write']}"]
    for attribute, role, _ in table.get("keys", ()):
        lines.append(f"  {'hash_key' if role == 'HASH' else 'range_key'} = {hcl(attribute)}")
    for attribute, _, letter in table.get("keys", ()):
        lines += ["  attribute {", f"    name = {hcl(attribute)}", f"    type = {hcl(letter)}", "  }"]
    if "deletion_protection" in table:
        lines.append(f"  deletion_protection_enabled = {_bool(table['deletion_protection'])}")
    if "recovery" in table:
        lines += ["  point_in_time_recovery {", f"    enabled = {_bool(table['recovery'])}", "  }"]
    if "ttl" in table:
        attribute, on = table["ttl"]
        lines += ["  ttl {", f"    attribute_name = {hcl(attribute)}", f"    enabled = {_bool(on)}", "  }"]
    if table.get("encryption"):
        key = [] if table["encryption"] == "aws" else [f"    kms_key_arn = {hcl(table['encryption'])}"]
        lines += ["  server_side_encryption {", "    enabled = true", *key, "  }"]
    if table.get("tags"):
        lines += ["  tags = {", *(f"    {hcl(key)} = {hcl(value)}" for key, value in table["tags"]), "  }"]
    return "\n".join([*lines, "}"])


def cloudformation_table(table: Table) -> str:
    """An AWS::DynamoDB::Table, or the properties of one that change, as YAML."""
    properties: dict[str, object] = {"TableName": table["name"]}
    if "billing" in table:
        properties["BillingMode"] = _mode(table)
        if table["billing"] == "provisioned":
            properties["ProvisionedThroughput"] = {
                "ReadCapacityUnits": table["read"],
                "WriteCapacityUnits": table["write"],
            }
    if "keys" in table:
        properties["AttributeDefinitions"] = [{"AttributeName": a, "AttributeType": t} for a, _, t in table["keys"]]
        properties["KeySchema"] = [{"AttributeName": a, "KeyType": role} for a, role, _ in table["keys"]]
    if "deletion_protection" in table:
        properties["DeletionProtectionEnabled"] = table["deletion_protection"]
    if "recovery" in table:
        properties["PointInTimeRecoverySpecification"] = {"PointInTimeRecoveryEnabled": table["recovery"]}
    if "ttl" in table:
        attribute, on = table["ttl"]
        properties["TimeToLiveSpecification"] = {"AttributeName": attribute, "Enabled": on}
    if table.get("encryption"):
        key = {} if table["encryption"] == "aws" else {"KMSMasterKeyId": table["encryption"]}
        properties["SSESpecification"] = {"SSEEnabled": True, "SSEType": "KMS", **key}
    if table.get("tags"):
        properties["Tags"] = [{"Key": key, "Value": value} for key, value in table["tags"]]
    return yaml({"Resources": {"CommitStore": {"Type": "AWS::DynamoDB::Table", "Properties": properties}}})


def lifecycle_equivalents(bucket: str, rules: Sequence[Mapping[str, Any]], changed: Mapping[str, Any]) -> Equivalents:
    """`rules` are all rules as they will be, in the shape of the AWS SDKs; `changed` the one that changes, {} if none.

    The CLI and CloudFormation replace the whole configuration, so the text holds every rule.
    """
    name = shlex.quote(bucket)
    if rules:
        body = shlex.quote(json.dumps({"Rules": list(rules)}, ensure_ascii=False))
        cli = f"aws s3api put-bucket-lifecycle-configuration --bucket {name} --lifecycle-configuration {body}"
    else:
        cli = f"aws s3api delete-bucket-lifecycle --bucket {name}"
    return Equivalents(cli, _terraform_rule(bucket, changed), _cloudformation_rule(bucket, changed))


def _terraform_rule(bucket: str, rule: Mapping[str, Any]) -> str:
    head = f"# One rule of the aws_s3_bucket_lifecycle_configuration of {json.dumps(bucket)}, which holds all of them."
    if not rule:
        return f"{head}\n# Remove its block from that resource."
    lines = [head, "rule {", f"  id     = {hcl(rule['ID'])}", f"  status = {hcl(rule['Status'])}", "  filter {"]
    lines += [f"    prefix = {hcl(_prefix(rule))}", "  }"]
    if days := rule.get("Expiration", {}).get("Days"):
        lines += ["  expiration {", f"    days = {days}", "  }"]
    if days := rule.get("NoncurrentVersionExpiration", {}).get("NoncurrentDays"):
        lines += ["  noncurrent_version_expiration {", f"    noncurrent_days = {days}", "  }"]
    if days := rule.get("AbortIncompleteMultipartUpload", {}).get("DaysAfterInitiation"):
        lines += ["  abort_incomplete_multipart_upload {", f"    days_after_initiation = {days}", "  }"]
    return "\n".join([*lines, "}"])


def _cloudformation_rule(bucket: str, rule: Mapping[str, Any]) -> str:
    head = (
        f"# One of LifecycleConfiguration.Rules of the AWS::S3::Bucket {json.dumps(bucket)}, which holds all of them."
    )
    if not rule:
        return f"{head}\n# Remove it from that list."
    said: dict[str, object] = {"Id": rule["ID"], "Status": rule["Status"], "Prefix": _prefix(rule)}
    if days := rule.get("Expiration", {}).get("Days"):
        said["ExpirationInDays"] = days
    if days := rule.get("NoncurrentVersionExpiration", {}).get("NoncurrentDays"):
        said["NoncurrentVersionExpiration"] = {"NoncurrentDays": days}
    if days := rule.get("AbortIncompleteMultipartUpload", {}).get("DaysAfterInitiation"):
        said["AbortIncompleteMultipartUpload"] = {"DaysAfterInitiation": days}
    return f"{head}\n{yaml([said])}"


def hcl(text: object) -> str:
    """Text as a string of Terraform's language: JSON's escapes, and no template in it."""
    return json.dumps(str(text), ensure_ascii=False).replace("${", "$${").replace("%{", "%%{")


def yaml(value: Any) -> str:
    """Maps and lists by indentation, every scalar as JSON, which YAML reads alike."""
    return "\n".join(_yaml_lines(value))


def _yaml_lines(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        lines = []
        for key, inner in value.items():
            if isinstance(inner, Mapping | list):
                lines += [f"{key}:", *(f"  {line}" for line in _yaml_lines(inner))]
            else:
                lines.append(f"{key}: {json.dumps(inner, ensure_ascii=False)}")
        return lines
    lines = []
    for inner in value:
        first, *rest = _yaml_lines(inner)
        lines += [f"- {first}", *(f"  {line}" for line in rest)]
    return lines


def _prefix(rule: Mapping[str, Any]) -> str:
    found = rule.get("Filter", {}).get("Prefix")
    return str(found if found is not None else rule.get("Prefix", ""))


def _mode(table: Table) -> str:
    return "PROVISIONED" if table["billing"] == "provisioned" else "PAY_PER_REQUEST"


def _label(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", name) if not name[:1].isdigit() else "_" + re.sub(r"\W", "_", name)


def _bool(value: object) -> str:
    return "true" if value else "false"
