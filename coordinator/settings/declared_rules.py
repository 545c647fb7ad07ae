"""A bucket's lifecycle configuration as text for the AWS CLI, Terraform and CloudFormation, every rule of everybody
with every field. Pure.

Sources: S3's PutBucketLifecycleConfiguration, the arguments of aws_s3_bucket_lifecycle_configuration in Terraform's AWS
provider, and the schema of AWS::S3::Bucket. A field that is not known here is never left out: then there is no text.
"""

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any

from coordinator.settings.declared_text import (
    Block,
    Line,
    NotDeclarable,
    import_block,
    label,
    provider_note,
    terraform,
    yaml,
)
from coordinator.settings.lifecycle_merge import rule_json
from lake.aws.lifecycle import Lifecycle, RawRule, Tree

LOGICAL_ID = "Bucket"
_UNDECLARED = "Declared are the lifecycle rules alone: all else of the bucket is left as it is."
_IN_A_STACK = "Where a stack has the bucket already, put LifecycleConfiguration into its resource instead."
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z")
_WORDS = {
    "Status": frozenset({"Enabled", "Disabled"}),
    "StorageClass": frozenset(
        {"STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING", "GLACIER_IR", "GLACIER", "DEEP_ARCHIVE"}
    ),
    "TransitionDefaultMinimumObjectSize": frozenset({"varies_by_storage_class", "all_storage_classes_128K"}),
}
_SIZES = {"ObjectSizeGreaterThan": int, "ObjectSizeLessThan": int}
_TAG = {"Key": str, "Value": str}
_RULE: dict[str, Any] = {
    "ID": str,
    "Status": str,
    "Prefix": str,
    "Filter": {"Prefix": str, "Tag": _TAG, **_SIZES, "And": {"Prefix": str, "Tags": [_TAG], **_SIZES}},
    "Expiration": {"Date": str, "Days": int, "ExpiredObjectDeleteMarker": bool},
    "Transitions": [{"Date": str, "Days": int, "StorageClass": str}],
    "NoncurrentVersionExpiration": {"NoncurrentDays": int, "NewerNoncurrentVersions": int},
    "NoncurrentVersionTransitions": [{"NoncurrentDays": int, "NewerNoncurrentVersions": int, "StorageClass": str}],
    "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": int},
}
_NEEDED = {
    "Tag": ("Key", "Value"),
    "Tags": ("Key", "Value"),
    "Transitions": ("StorageClass",),
    "NoncurrentVersionExpiration": ("NoncurrentDays",),
    "NoncurrentVersionTransitions": ("NoncurrentDays", "StorageClass"),
}
_REPEATED = frozenset({"Transition", "NoncurrentVersionTransition"})
_BLOCKS = {"Transitions": "transition", "NoncurrentVersionTransitions": "noncurrent_version_transition"}

LifecycleJson = Mapping[str, Any]


def rules_of(lifecycle: Lifecycle) -> list[dict[str, Any]]:
    """Every rule in the shape of the AWS SDKs. Raises NotDeclarable at the first that holds what is not known here."""
    return [_checked(rule) for rule in lifecycle.rules]


def cli_lifecycle(bucket: str, lifecycle: Lifecycle) -> str:
    """The command that replaces the whole configuration, or removes it. Raises NotDeclarable."""
    name = shlex.quote(bucket)
    if not lifecycle.rules:
        return f"aws s3api delete-bucket-lifecycle --bucket {name}"
    body = shlex.quote(json.dumps({"Rules": rules_of(lifecycle)}, ensure_ascii=False))
    least = _minimum_size(lifecycle)
    size = f" --transition-default-minimum-object-size {least}" if least else ""
    return f"aws s3api put-bucket-lifecycle-configuration --bucket {name}{size} --lifecycle-configuration {body}"


def terraform_lifecycle(bucket: str, region: str, lifecycle: Lifecycle, *, exists: bool) -> str:
    """An aws_s3_bucket_lifecycle_configuration, with an import block where the bucket has one. Raises NotDeclarable."""
    if not lifecycle.rules:
        raise NotDeclarable(
            "Terraform knows no lifecycle configuration without a rule: remove the resource where it is declared."
        )
    name, least = label(bucket), _minimum_size(lifecycle)
    body: tuple[Line, ...] = (
        ("bucket", bucket),
        *((("transition_default_minimum_object_size", least),) if least else ()),
        *(Block("rule", _terraform_rule(rule)) for rule in rules_of(lifecycle)),
    )
    resource = Block(f'resource "aws_s3_bucket_lifecycle_configuration" "{name}"', body)
    imported = (import_block(f"aws_s3_bucket_lifecycle_configuration.{name}", bucket),) if exists else ()
    return terraform(*imported, resource, comments=(provider_note(region, imports=exists),))


def cloudformation_lifecycle(bucket: str, lifecycle: Lifecycle) -> str:
    """A template with the AWS::S3::Bucket that declares its rules and nothing else. Raises NotDeclarable."""
    least = _minimum_size(lifecycle)
    rules = [_cloudformation_rule(rule) for rule in rules_of(lifecycle)]
    configuration = {**({"TransitionDefaultMinimumObjectSize": least} if least else {}), "Rules": rules}
    resource = {
        "Type": "AWS::S3::Bucket",
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "Properties": {"BucketName": bucket, **({"LifecycleConfiguration": configuration} if rules else {})},
    }
    text = yaml({"AWSTemplateFormatVersion": "2010-09-09", "Resources": {LOGICAL_ID: resource}})
    return f"# {_UNDECLARED}\n# {_IN_A_STACK}\n{text}"


def _checked(rule: RawRule) -> dict[str, Any]:
    name = f"rule {rule.id}" if rule.id else "a rule without a name"
    if doubled := _doubled(rule.tree):
        raise NotDeclarable(f"What {name} means is not clear: it holds {doubled} more than once.")
    found = rule_json(rule)
    _check(found, _RULE, name)
    if missing := [one for one in ("ID", "Status") if not found.get(one)]:
        raise NotDeclarable(f"S3 sent {name} without {missing[0]}, which every text needs.")
    if not _has_one_form(found):
        raise NotDeclarable(f"What {name} reaches is not clear: S3 sent it with no filter, or with more than one.")
    return found


def _has_one_form(found: LifecycleJson) -> bool:
    """A prefix beside the status or a filter, and in that one condition or an And of several."""
    return ("Filter" in found) != ("Prefix" in found) and len(found.get("Filter", {})) <= 1


def _doubled(tree: Tree) -> str:
    """The first element that stands where it may stand once, and stands there twice; "" where none does."""
    seen: set[str] = set()
    for name, _, children in tree[2]:
        is_tag = tree[0] == "And" and name == "Tag"
        if name in seen and name not in _REPEATED and not is_tag:
            return name
        seen.add(name)
        if inner := _doubled((name, "", children)):
            return inner
    return ""


def _check(found: Any, shape: Any, where: str, field: str = "") -> None:
    """Raises NotDeclarable where what was found is not of this shape."""
    if isinstance(shape, list) and isinstance(found, list):
        for one in found:
            _check(one, shape[0], where, field)
    elif isinstance(shape, dict) and isinstance(found, dict):
        _check_fields(found, shape, where, field)
    elif isinstance(shape, dict | list) or type(found) is not shape or not _is_word(field, found):
        raise NotDeclarable(f"Levee does not know what {field} of {where} means: {found!r}.")


def _check_fields(found: dict[str, Any], shape: dict[str, Any], where: str, field: str) -> None:
    if unknown := sorted(found.keys() - shape.keys()):
        raise NotDeclarable(f"Levee does not know {unknown[0]}, which {where} holds.")
    if missing := [one for one in _NEEDED.get(field, ()) if one not in found]:
        raise NotDeclarable(f"S3 sent {field} of {where} without {missing[0]}, which every text needs.")
    for name, value in found.items():
        _check(value, shape[name], where, name)


def _is_word(field: str, value: Any) -> bool:
    if field == "Date":
        return _MOMENT.fullmatch(value) is not None
    return field not in _WORDS or value in _WORDS[field]


def _minimum_size(lifecycle: Lifecycle) -> str:
    field = "TransitionDefaultMinimumObjectSize"
    if lifecycle.minimum_size and not _is_word(field, lifecycle.minimum_size):
        raise NotDeclarable(f"Levee does not know what {field} means: {lifecycle.minimum_size!r}.")
    return lifecycle.minimum_size


def _terraform_rule(rule: LifecycleJson) -> tuple[Line, ...]:
    lines: list[Line] = [("id", rule["ID"]), ("status", rule["Status"])]
    if "Prefix" in rule:
        lines.append(("prefix", rule["Prefix"]))
    if "Filter" in rule:
        lines.append(Block("filter", _terraform_filter(rule["Filter"])))
    for name in ("Expiration", "NoncurrentVersionExpiration", "AbortIncompleteMultipartUpload"):
        if name in rule:
            lines.append(Block(_snake(name), _attributes(rule[name])))
    for name, head in _BLOCKS.items():
        lines += [Block(head, _attributes(one)) for one in rule.get(name, ())]
    return tuple(lines)


def _terraform_filter(found: LifecycleJson) -> tuple[Line, ...]:
    plain = _attributes({name: value for name, value in found.items() if name not in ("Tag", "And")})
    tag = (Block("tag", _attributes(found["Tag"])),) if "Tag" in found else ()
    both = (Block("and", _terraform_and(found["And"])),) if "And" in found else ()
    return (*plain, *tag, *both)


def _terraform_and(found: LifecycleJson) -> tuple[Line, ...]:
    plain = _attributes({name: value for name, value in found.items() if name != "Tags"})
    tags = {one.get("Key", ""): one.get("Value", "") for one in found.get("Tags", ())}
    if len(tags) < len(found.get("Tags", ())):
        raise NotDeclarable("Terraform takes each tag of a filter once, and a rule of this bucket has one twice.")
    return (*plain, *([("tags", tags)] if tags else []))


def _attributes(found: LifecycleJson) -> tuple[Line, ...]:
    return tuple((_snake(name), value) for name, value in _acting(found).items())


def _acting(found: LifecycleJson) -> dict[str, Any]:
    """Without a delete marker's false beside a time: it asks for nothing, and no tool takes both."""
    idle = len(found) > 1 and found.get("ExpiredObjectDeleteMarker") is False
    return {name: value for name, value in found.items() if not (idle and name == "ExpiredObjectDeleteMarker")}


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _cloudformation_rule(rule: LifecycleJson) -> dict[str, Any]:
    expiration = _acting(rule.get("Expiration", {}))
    told = {"Id": rule["ID"], "Status": rule["Status"], **_cloudformation_filter(rule)}
    named = (("ExpirationDate", "Date"), ("ExpirationInDays", "Days"), ("ExpiredObjectDeleteMarker",) * 2)
    told |= {ours: expiration[theirs] for ours, theirs in named if theirs in expiration}
    for name in ("NoncurrentVersionExpiration", "AbortIncompleteMultipartUpload"):
        if name in rule:
            told[name] = dict(rule[name])
    for name in _BLOCKS:
        if name in rule:
            told[name] = [_cloudformation_transition(one) for one in rule[name]]
    return told


def _cloudformation_filter(rule: LifecycleJson) -> dict[str, Any]:
    """CloudFormation has one form for all: prefix, tags and sizes beside each other, sizes as text."""
    found = rule.get("Filter", rule)
    inner = found.get("And", found) if "Filter" in rule else found
    tags = inner.get("Tags") or ([inner["Tag"]] if "Tag" in inner else [])
    told: dict[str, Any] = {"Prefix": inner["Prefix"]} if "Prefix" in inner else {}
    told |= {name: str(inner[name]) for name in _SIZES if name in inner}
    return {**told, **({"TagFilters": [dict(one) for one in tags]} if tags else {})}


def _cloudformation_transition(found: LifecycleJson) -> dict[str, Any]:
    named = {"Date": "TransitionDate", "Days": "TransitionInDays", "NoncurrentDays": "TransitionInDays"}
    return {named.get(name, name): value for name, value in found.items()}
