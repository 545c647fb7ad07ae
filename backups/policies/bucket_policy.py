"""What a bucket's policy, as AWS stores it, says of one principal, action and resource. Pure."""

import json
import re
from collections.abc import Iterable
from typing import Any

from backups.policies.documents import Statement

_ACCOUNT = re.compile(r"arn:(aws[a-z-]*):iam::(\d{12}):")


def verdict(text: str, principal: str, action: str, resource: str) -> tuple[str, str]:
    """("yes" | "no" | "unknown", reason). A statement with conditions that would decide leaves it unknown.

    `principal` is an ARN, or a service's name such as s3.amazonaws.com. A text that is no policy is unknown.
    """
    try:
        statements = _listed(json.loads(text).get("Statement"))
    except (ValueError, AttributeError):
        return "unknown", "The bucket's policy is not JSON that IAM would know."
    fitting = [one for one in statements if isinstance(one, dict) and _fits(one, principal, action, resource)]
    denials = [one for one in fitting if one.get("Effect") == "Deny"]
    grants = [one for one in fitting if one.get("Effect") == "Allow"]
    if any(not one.get("Condition") for one in denials):
        return "no", "A statement of the bucket's policy denies it."
    if denials:
        return "unknown", "A statement of the bucket's policy denies it under conditions."
    if any(not _conditions_left(one, principal) for one in grants):
        return "yes", ""
    if grants:
        return "unknown", "The bucket's policy allows it under conditions."
    return "no", "No statement of the bucket's policy allows it."


def _conditions_left(statement: Statement, principal: str) -> bool:
    """Whether conditions decide; those that AWS itself asks of a service's grant do not count."""
    return bool(statement.get("Condition")) and not principal.endswith(".amazonaws.com")


def _fits(statement: Statement, principal: str, action: str, resource: str) -> bool:
    return (
        _names(statement.get("Principal"), principal)
        and _matches_any(_listed(statement.get("Action")), action, ignore_case=True)
        and _matches_any(_listed(statement.get("Resource")), resource)
    )


def _names(principals: object, principal: str) -> bool:
    if principals == "*":
        return True
    if not isinstance(principals, dict):
        return False
    named = [text for kind in ("AWS", "Service") for text in _listed(principals.get(kind))]
    account = _ACCOUNT.match(principal)
    whole = {f"arn:{account[1]}:iam::{account[2]}:root", account[2]} if account else set()
    return principal in named or "*" in named or any(one in whole for one in named)


def _matches_any(patterns: Iterable[object], text: str, *, ignore_case: bool = False) -> bool:
    flags = re.IGNORECASE if ignore_case else 0
    return any(isinstance(one, str) and re.fullmatch(_expression(one), text, flags) for one in patterns)


def _expression(pattern: str) -> str:
    """IAM's * and ? as a regular expression; ${*} is a star itself."""
    parts = re.split(r"(\$\{[$*?]\}|[*?])", pattern)
    signs = {"*": ".*", "?": ".", "${*}": r"\$\{\*\}", "${?}": r"\$\{\?\}", "${$}": r"\$\{\$\}"}
    return "".join(signs[part] if part in signs else re.escape(part) for part in parts)


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
