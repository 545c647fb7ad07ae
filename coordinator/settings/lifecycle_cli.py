"""The AWS CLI command that replaces a bucket's lifecycle rules: every rule of everybody with every field. Pure.

Source: S3's PutBucketLifecycleConfiguration.
A field that is not known here is never left out: there is no command then.
"""

import json
import re
import shlex
from typing import Any

from coordinator.settings.lifecycle_merge import rule_json
from lake.aws.lifecycle import Lifecycle, RawRule, Tree

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


class UnknownRule(ValueError):
    """What of a rule has no place in the command: one sentence for people."""


def rules_of(lifecycle: Lifecycle) -> list[dict[str, Any]]:
    """Every rule in the shape of the AWS SDKs. Raises UnknownRule at the first that holds what is not known here."""
    return [_checked(rule) for rule in lifecycle.rules]


def cli_lifecycle(bucket: str, lifecycle: Lifecycle) -> str:
    """The command that replaces the whole configuration, or removes it. Raises UnknownRule."""
    name = shlex.quote(bucket)
    if not lifecycle.rules:
        return f"aws s3api delete-bucket-lifecycle --bucket {name}"
    body = shlex.quote(json.dumps({"Rules": rules_of(lifecycle)}, ensure_ascii=False))
    least = _minimum_size(lifecycle)
    size = f" --transition-default-minimum-object-size {least}" if least else ""
    return f"aws s3api put-bucket-lifecycle-configuration --bucket {name}{size} --lifecycle-configuration {body}"


def _checked(rule: RawRule) -> dict[str, Any]:
    name = f"rule {rule.id}" if rule.id else "a rule without a name"
    if doubled := _doubled(rule.tree):
        raise UnknownRule(f"What {name} means is not clear: it holds {doubled} more than once.")
    found = rule_json(rule)
    _check(found, _RULE, name)
    if missing := [one for one in ("ID", "Status") if not found.get(one)]:
        raise UnknownRule(f"S3 sent {name} without {missing[0]}, which the command needs.")
    if not _has_one_form(found):
        raise UnknownRule(f"What {name} reaches is not clear: S3 sent it with no filter, or with more than one.")
    return found


def _has_one_form(found: dict[str, Any]) -> bool:
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
    """Raises UnknownRule where what was found is not of this shape."""
    if isinstance(shape, list) and isinstance(found, list):
        for one in found:
            _check(one, shape[0], where, field)
    elif isinstance(shape, dict) and isinstance(found, dict):
        _check_fields(found, shape, where, field)
    elif isinstance(shape, dict | list) or type(found) is not shape or not _is_word(field, found):
        raise UnknownRule(f"Levee does not know what {field} of {where} means: {found!r}.")


def _check_fields(found: dict[str, Any], shape: dict[str, Any], where: str, field: str) -> None:
    if unknown := sorted(found.keys() - shape.keys()):
        raise UnknownRule(f"Levee does not know {unknown[0]}, which {where} holds.")
    if missing := [one for one in _NEEDED.get(field, ()) if one not in found]:
        raise UnknownRule(f"S3 sent {field} of {where} without {missing[0]}, which the command needs.")
    for name, value in found.items():
        _check(value, shape[name], where, name)


def _is_word(field: str, value: Any) -> bool:
    if field == "Date":
        return _MOMENT.fullmatch(value) is not None
    return field not in _WORDS or value in _WORDS[field]


def _minimum_size(lifecycle: Lifecycle) -> str:
    field = "TransitionDefaultMinimumObjectSize"
    if lifecycle.minimum_size and not _is_word(field, lifecycle.minimum_size):
        raise UnknownRule(f"Levee does not know what {field} means: {lifecycle.minimum_size!r}.")
    return lifecycle.minimum_size
