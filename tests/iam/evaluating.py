"""IAM's own evaluation of identity policies, as far as the policies of Levee use it. It shares no code with Levee.

Source: IAM user guide, "Policy evaluation logic", "Condition operators" and "Multivalued context keys". An operator or
variable that is not known here fails a test instead of passing it by.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Context = Mapping[str, str | tuple[str, ...]]
_VARIABLE = re.compile(r"(\$\{[^}]*\}|[*?])")
_SIGNS = {"*": ".*", "?": ".", "${*}": r"\*", "${?}": r"\?", "${$}": r"\$"}


@dataclass(frozen=True, slots=True)
class Asked:
    """One thing that IAM is asked for a request: an action on an ARN, with what the service says of the request."""

    action: str
    resource: str
    context: Context = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        return f"{self.action} on {self.resource} {dict(self.context)}"


def allows(document: Mapping[str, Any], asked: Asked) -> bool:
    """Whether a policy allows it, and none of its statements denies it."""
    fitting = [one for one in document["Statement"] if _fits(one, asked)]
    effects = {one["Effect"] for one in fitting}
    return effects == {"Allow"}


def refused(document: Mapping[str, Any], asked: Iterable[Asked]) -> list[str]:
    """What of it the policy does not allow."""
    return sorted({str(one) for one in asked if not allows(document, one)})


def actions_of(document: Mapping[str, Any]) -> set[str]:
    return {action for one in document["Statement"] for action in _listed(one["Action"])}


def resources_of(document: Mapping[str, Any]) -> set[str]:
    return {resource for one in document["Statement"] for resource in _listed(one["Resource"])}


def without(document: Mapping[str, Any], taken: str) -> dict[str, Any]:
    """The same policy with one action, or one resource, taken out of every statement."""
    statements = [
        {**one, **{part: [each for each in _listed(one[part]) if each != taken] for part in ("Action", "Resource")}}
        for one in document["Statement"]
    ]
    return {**document, "Statement": statements}


def _fits(statement: Mapping[str, Any], asked: Asked) -> bool:
    return (
        any(_matches(one, asked.action, ignore_case=True) for one in _listed(statement["Action"]))
        and any(_matches(one, asked.resource) for one in _listed(statement["Resource"]))
        and all(
            _holds(operator, key, _listed(wanted), asked.context)
            for operator, pairs in statement.get("Condition", {}).items()
            for key, wanted in pairs.items()
        )
    )


def _holds(operator: str, key: str, wanted: list[str], context: Context) -> bool:
    """Several wanted values are alternatives; a key that the request lacks fails but for IfExists and ForAllValues."""
    quantifier, _, plain = operator.rpartition(":")
    may_lack = plain.endswith("IfExists") or quantifier == "ForAllValues"
    found = context.get(key)
    if found is None:
        return may_lack
    values = (found,) if isinstance(found, str) else found
    assert quantifier in ("", "ForAllValues", "ForAnyValue"), operator
    filled = [_filled(one, context) for one in wanted]
    fits = [any(_compares(plain.removesuffix("IfExists"), one, value) for one in filled) for value in values]
    return any(fits) if quantifier == "ForAnyValue" else all(fits)


def _filled(wanted: str, context: Context) -> str:
    return str(context["aws:PrincipalAccount"]) if wanted == "${aws:PrincipalAccount}" else wanted


def _compares(operator: str, wanted: str, value: str) -> bool:
    if operator == "StringEquals":
        return re.fullmatch(_expression(wanted, wild=False), value) is not None
    assert operator in ("StringLike", "ArnLike"), operator
    return _matches(wanted, value)


def _matches(pattern: str, text: str, *, ignore_case: bool = False) -> bool:
    return re.fullmatch(_expression(pattern), text, re.DOTALL | (re.IGNORECASE if ignore_case else 0)) is not None


def _expression(pattern: str, *, wild: bool = True) -> str:
    return "".join(_sign(part, wild=wild) for part in _VARIABLE.split(pattern))


def _sign(part: str, *, wild: bool) -> str:
    if part.startswith("${"):
        assert part in _SIGNS, f"the variable {part} is not known"
        return _SIGNS[part]
    return _SIGNS[part] if wild and part in _SIGNS else re.escape(part)


def _listed(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]
