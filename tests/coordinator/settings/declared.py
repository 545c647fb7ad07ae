"""Reads what Levee writes for Terraform and CloudFormation back into models, by parsers that Levee does not use.

The names of arguments and properties are written down here a second time, on purpose: from the documentation of
Terraform's AWS provider and from CloudFormation's schemas.
"""

import re
from typing import Any

from coordinator.settings.declared_table import DeclaredTable

_ESCAPE = re.compile(r'\\(u[0-9a-f]{4}|U[0-9a-f]{8}|.)|([$%]\{)|(["\x00-\x1f])', re.DOTALL)
_NAMED = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_NOT_CONTENT = ("__is_block__", "__comments__", "__inline_comments__")


def hcl_string(quoted: str) -> str:
    """A quoted string of Terraform's language, by its specification; fails at a template or an escape it has not."""
    assert quoted[0] == quoted[-1] == '"', quoted
    return _ESCAPE.sub(_unescaped, quoted[1:-1])


def _unescaped(found: re.Match[str]) -> str:
    assert found[1], f"{found[0]!r} must be escaped"
    return chr(int(found[1][1:], 16)) if found[1][0] in "uU" and len(found[1]) > 1 else _NAMED[found[1]]


def hcl_values(text: str) -> Any:
    """Blocks as lists, strings without their quotes."""
    import hcl2

    return _plain(hcl2.loads(text))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {_plain(key): _plain(one) for key, one in value.items() if key not in _NOT_CONTENT}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return hcl_string(value) if isinstance(value, str) and value.startswith('"') else value


def terraform_resource(text: str, kind: str) -> dict[str, Any]:
    """The one resource of the text; an import block has to name it."""
    found = hcl_values(text)
    ((name, body),) = found["resource"][0][kind].items()
    assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", name)
    for block in found.get("import", ()):
        assert block == {"to": f"${{{kind}.{name}}}", "id": body.get("name") or body["bucket"]}
    assert set(found) <= {"resource", "import"}
    return dict(body)


def is_imported(text: str) -> bool:
    return "import" in hcl_values(text)


def table_of_terraform(text: str) -> DeclaredTable:
    body = terraform_resource(text, "aws_dynamodb_table")
    types = {one["name"]: one["type"] for one in body.pop("attribute")}
    roles = {role: body.pop(name) for role, name in (("HASH", "hash_key"), ("RANGE", "range_key")) if name in body}
    limits, recovery = _one(body, "on_demand_throughput"), _one(body, "point_in_time_recovery")
    ttl, encryption = _one(body, "ttl"), _one(body, "server_side_encryption")
    assert body.pop("stream_enabled", False) is ("stream_view_type" in body)
    table = DeclaredTable(
        name=body.pop("name"),
        keys=tuple((name, role, types.pop(name)) for role, name in roles.items()),
        on_demand={"PAY_PER_REQUEST": True, "PROVISIONED": False}[body.pop("billing_mode")],
        deletion_protection=body.pop("deletion_protection_enabled"),
        recovery=recovery.pop("enabled"),
        read=body.pop("read_capacity", 0),
        write=body.pop("write_capacity", 0),
        most_read=limits.pop("max_read_request_units", None),
        most_write=limits.pop("max_write_request_units", None),
        ttl=(ttl.pop("attribute_name"), ttl.pop("enabled")) if ttl else None,
        recovery_days=recovery.pop("recovery_period_in_days", None),
        encryption=(encryption.pop("kms_key_arn", "aws") if encryption.pop("enabled") else "") if encryption else "",
        table_class=body.pop("table_class", None),
        stream=body.pop("stream_view_type", None),
        tags=tuple(body.pop("tags", {}).items()),
    )
    assert not any((body, types, limits, recovery, ttl, encryption)), "the text says more than was read of it"
    return table


def _one(body: dict[str, Any], name: str) -> dict[str, Any]:
    (block,) = body.pop(name, [{}])
    return dict(block)


def cloudformation_resource(text: str, kind: str) -> dict[str, Any]:
    import yaml

    template = yaml.safe_load(text)
    assert template.pop("AWSTemplateFormatVersion") == "2010-09-09"
    (resource,) = template.pop("Resources").values()
    assert not template
    assert resource.pop("Type") == kind
    assert {resource.pop("DeletionPolicy"), resource.pop("UpdateReplacePolicy")} == {"Retain"}
    properties = resource.pop("Properties")
    assert not resource
    return dict(properties)


def table_of_cloudformation(text: str) -> DeclaredTable:
    said = cloudformation_resource(text, "AWS::DynamoDB::Table")
    types = {one["AttributeName"]: one["AttributeType"] for one in said.pop("AttributeDefinitions")}
    units, limits = said.pop("ProvisionedThroughput", {}), said.pop("OnDemandThroughput", {})
    recovery, ttl = said.pop("PointInTimeRecoverySpecification"), said.pop("TimeToLiveSpecification", None)
    encryption = said.pop("SSESpecification", None)
    assert encryption is None or (encryption.pop("SSEEnabled"), encryption.pop("SSEType")) == (True, "KMS")
    table = DeclaredTable(
        name=said.pop("TableName"),
        keys=tuple(
            (one["AttributeName"], one["KeyType"], types.pop(one["AttributeName"])) for one in said.pop("KeySchema")
        ),
        on_demand={"PAY_PER_REQUEST": True, "PROVISIONED": False}[said.pop("BillingMode")],
        deletion_protection=said.pop("DeletionProtectionEnabled"),
        recovery=recovery.pop("PointInTimeRecoveryEnabled"),
        read=units.pop("ReadCapacityUnits", 0),
        write=units.pop("WriteCapacityUnits", 0),
        most_read=limits.pop("MaxReadRequestUnits", None),
        most_write=limits.pop("MaxWriteRequestUnits", None),
        ttl=(ttl.pop("AttributeName"), ttl.pop("Enabled")) if ttl else None,
        recovery_days=recovery.pop("RecoveryPeriodInDays", None),
        encryption="" if encryption is None else encryption.pop("KMSMasterKeyId", "aws"),
        table_class=said.pop("TableClass", None),
        stream=said.pop("StreamSpecification", {}).get("StreamViewType"),
        tags=tuple((one["Key"], one["Value"]) for one in said.pop("Tags", ())),
    )
    assert not any((said, types, units, limits, recovery, ttl, encryption)), "the text says more than was read of it"
    return table


_TERRAFORM_FIELDS = {
    "id": "ID",
    "status": "Status",
    "prefix": "Prefix",
    "object_size_greater_than": "ObjectSizeGreaterThan",
    "object_size_less_than": "ObjectSizeLessThan",
    "date": "Date",
    "days": "Days",
    "expired_object_delete_marker": "ExpiredObjectDeleteMarker",
    "storage_class": "StorageClass",
    "noncurrent_days": "NoncurrentDays",
    "newer_noncurrent_versions": "NewerNoncurrentVersions",
    "days_after_initiation": "DaysAfterInitiation",
    "key": "Key",
    "value": "Value",
}
_TERRAFORM_BLOCKS = {
    "filter": "Filter",
    "tag": "Tag",
    "and": "And",
    "expiration": "Expiration",
    "noncurrent_version_expiration": "NoncurrentVersionExpiration",
    "abort_incomplete_multipart_upload": "AbortIncompleteMultipartUpload",
}
_TERRAFORM_LISTS = {
    "transition": "Transitions",
    "noncurrent_version_transition": "NoncurrentVersionTransitions",
}


def rules_of_terraform(text: str) -> tuple[str, list[dict[str, Any]], str]:
    """The bucket, its rules in the shape of the AWS SDKs, and the default least size for transitions."""
    body = terraform_resource(text, "aws_s3_bucket_lifecycle_configuration")
    rules = [_sdk(rule) for rule in body.pop("rule")]
    found = body.pop("bucket"), rules, body.pop("transition_default_minimum_object_size", "")
    assert not body
    return found


def _sdk(block: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in block.items():
        if name in _TERRAFORM_LISTS:
            found[_TERRAFORM_LISTS[name]] = [_sdk(one) for one in value]
        elif name in _TERRAFORM_BLOCKS:
            (inner,) = value
            found[_TERRAFORM_BLOCKS[name]] = _sdk(inner)
        elif name == "tags":
            found["Tags"] = [{"Key": key, "Value": one} for key, one in value.items()]
        else:
            found[_TERRAFORM_FIELDS[name]] = value
    return found


def rules_of_cloudformation(text: str) -> tuple[str, list[dict[str, Any]], str]:
    """As `rules_of_terraform`, each filter in the shape of `reach`, for CloudFormation has one form alone."""
    said = cloudformation_resource(text, "AWS::S3::Bucket")
    configuration = said.pop("LifecycleConfiguration", {"Rules": []})
    found = (
        said.pop("BucketName"),
        [_of_cloudformation(rule) for rule in configuration.pop("Rules")],
        configuration.pop("TransitionDefaultMinimumObjectSize", ""),
    )
    assert not said
    assert not configuration
    return found


def _of_cloudformation(rule: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"ID": rule.pop("Id"), "Status": rule.pop("Status")}
    found["reach"] = {
        "Prefix": rule.pop("Prefix", ""),
        "Tags": [(one["Key"], one["Value"]) for one in rule.pop("TagFilters", ())],
        "ObjectSizeGreaterThan": _number(rule.pop("ObjectSizeGreaterThan", None)),
        "ObjectSizeLessThan": _number(rule.pop("ObjectSizeLessThan", None)),
    }
    named = {
        "ExpirationDate": "Date",
        "ExpirationInDays": "Days",
        "ExpiredObjectDeleteMarker": "ExpiredObjectDeleteMarker",
    }
    if expiration := {ours: rule.pop(theirs) for theirs, ours in named.items() if theirs in rule}:
        found["Expiration"] = expiration
    days = {"Transitions": "Days", "NoncurrentVersionTransitions": "NoncurrentDays"}
    for name, own in days.items():
        if name in rule:
            renamed = {"TransitionInDays": own, "TransitionDate": "Date"}
            found[name] = [{renamed.get(key, key): value for key, value in one.items()} for one in rule.pop(name)]
    return {**found, **rule}


def _number(text: str | None) -> int | None:
    assert text is None or isinstance(text, str), "CloudFormation takes sizes as text"
    return None if text is None else int(text)


def with_reach(rule: dict[str, Any]) -> dict[str, Any]:
    """A rule of the SDKs with what its prefix or filter reaches, whatever form that has."""
    found = {name: value for name, value in rule.items() if name not in ("Prefix", "Filter")}
    chosen = rule.get("Filter", {"Prefix": rule.get("Prefix", "")})
    chosen = chosen.get("And", chosen)
    tags = chosen.get("Tags", [chosen["Tag"]] if "Tag" in chosen else [])
    found["reach"] = {
        "Prefix": chosen.get("Prefix", ""),
        "Tags": [(one["Key"], one["Value"]) for one in tags],
        "ObjectSizeGreaterThan": chosen.get("ObjectSizeGreaterThan"),
        "ObjectSizeLessThan": chosen.get("ObjectSizeLessThan"),
    }
    return found


def cloudformation_errors(*texts: str) -> list[str]:
    """What AWS's own linter finds wrong with the templates; the resources are looked at as one template, for speed."""
    import yaml
    from cfnlint.api import lint
    from cfnlint.config import ManualArgs

    resources: dict[str, Any] = {}
    for number, text in enumerate(texts):
        for resource in yaml.safe_load(text)["Resources"].values():
            resources[f"R{number}"] = resource
    template = yaml.safe_dump({"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources})
    return [f"{one.rule.id}: {one.message}" for one in lint(template, config=ManualArgs(regions=["eu-west-1"]))]
