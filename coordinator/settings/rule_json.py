"""A lifecycle rule in the shape of the AWS SDKs' JSON, from what S3 sent."""

from typing import Any

from lake.aws.lifecycle import RawRule, Tree

_NUMBERS = frozenset(
    {
        "Days",
        "NoncurrentDays",
        "NewerNoncurrentVersions",
        "DaysAfterInitiation",
        "ObjectSizeGreaterThan",
        "ObjectSizeLessThan",
    }
)
_LISTS = {"Transition": "Transitions", "NoncurrentVersionTransition": "NoncurrentVersionTransitions"}


def rule_json(rule: RawRule) -> dict[str, Any]:
    """Numbers and truths as such, transitions as lists, the tags of an And as a list; what is unknown stays text."""
    return _map(rule.tree, in_and=False)


def _map(tree: Tree, *, in_and: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for child in tree[2]:
        name = "Tags" if in_and and child[0] == "Tag" else _LISTS.get(child[0], child[0])
        value = _value(child)
        if name == "Tags" or child[0] in _LISTS:
            found.setdefault(name, []).append(value)
        else:
            found[name] = value
    return found


def _value(tree: Tree) -> Any:
    name, text, children = tree
    if children or name in ("Filter", "And"):
        return _map(tree, in_and=name == "And")
    if name in _NUMBERS and text.strip().isdecimal():
        return int(text)
    if name == "ExpiredObjectDeleteMarker" and text.strip() in ("true", "false"):
        return text.strip() == "true"
    return text
