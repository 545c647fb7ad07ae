"""A policy as JSON, as Terraform and as CloudFormation. Pure."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import indent
from typing import Any

from coordinator.settings.declared_text import RESOLVED, NotDeclarable, hcl

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_+=,.@-]+")
_NOT_IN_LABELS = re.compile(r"[^a-z0-9_]+")
LONGEST_NAME = 128


@dataclass(frozen=True, slots=True)
class PolicyForms:
    """One policy in three languages; the texts are "" where there is none to give."""

    name: str
    document: dict[str, Any]
    notes: tuple[str, ...]
    json: str = ""
    terraform: str = ""
    cloudformation: str = ""

    @property
    def is_there(self) -> bool:
        return bool(self.json)


def policy_forms(name: str, document: dict[str, Any], notes: Sequence[str]) -> PolicyForms:
    """`name` is what the managed policy is to be called; letters that IAM does not take become hyphens."""
    named = _NOT_IN_NAMES.sub("-", name)[:LONGEST_NAME]
    if not document["Statement"]:
        return PolicyForms(named, {}, tuple(notes))
    text = json.dumps(document, indent=2, ensure_ascii=False)
    terraform, no_terraform = _offered(lambda: _terraform(named, document))
    cloudformation, no_cloudformation = _offered(lambda: _cloudformation(named, document))
    told = [*notes, *dict.fromkeys(one for one in (no_terraform, no_cloudformation) if one)]
    return PolicyForms(named, document, tuple(told), text, terraform, cloudformation)


def _offered(write: Callable[[], str]) -> tuple[str, str]:
    """A text, or "" and the reason why its language would make another one of it."""
    try:
        return write(), ""
    except NotDeclarable as reason:
        return "", str(reason)


def _terraform(name: str, document: Mapping[str, Any]) -> str:
    label = _NOT_IN_LABELS.sub("_", name.lower())
    lines = [f'resource "aws_iam_policy" {hcl(label)} {{', f"  name   = {hcl(name)}"]
    return "\n".join([*lines, f"  policy = jsonencode({_value(document)})", "}"])


def _cloudformation(name: str, document: Mapping[str, Any]) -> str:
    """The document stays JSON, which YAML reads alike. Raises NotDeclarable."""
    text = indent(json.dumps(document, indent=2, ensure_ascii=False), " " * 8).strip()
    if RESOLVED in text:
        raise NotDeclarable(f"CloudFormation would replace what begins with {RESOLVED} by a value of its own.")
    lines = ["Resources:", "  DeltaAccess:", '    Type: "AWS::IAM::ManagedPolicy"', "    Properties:"]
    own = [f"      ManagedPolicyName: {json.dumps(name)}", f"      PolicyDocument: {text}"]
    return "\n".join([*lines, *own])


def _value(value: object, depth: int = 1) -> str:
    """JSON's values in Terraform's language; its keys are quoted, as a colon may be in them."""
    inner, outer = "  " * (depth + 1), "  " * depth
    if isinstance(value, Mapping):
        lines = "".join(f"{inner}{hcl(key)} = {_value(item, depth + 1)}\n" for key, item in value.items())
        return f"{{\n{lines}{outer}}}"
    if isinstance(value, list):
        return f"[\n{''.join(f'{inner}{_value(item, depth + 1)},{chr(10)}' for item in value)}{outer}]"
    return hcl(str(value))
