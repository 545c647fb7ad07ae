"""Lifecycle rules of a bucket in words: what each applies to and what it does, as S3 returned it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One rule. `applies_to` names its filter, `does` its acts; `raw` is the rule as read, as JSON."""

    id: str
    enabled: bool
    applies_to: tuple[str, ...]
    does: tuple[str, ...]
    raw: str


def rule_rows(rules: object) -> list[RuleRow]:
    """Rows for the rules of a BucketDescription; anything that is no rule is shown raw."""
    return [_rule_row(rule) for rule in rules] if isinstance(rules, list) else []


def _rule_row(rule: object) -> RuleRow:
    raw = json.dumps(rule, indent=2, default=str, ensure_ascii=False)
    if not isinstance(rule, Mapping):
        return RuleRow(id="", enabled=False, applies_to=(), does=(), raw=raw)
    return RuleRow(
        id=str(rule.get("ID") or ""),
        enabled=rule.get("Status") == "Enabled",
        applies_to=tuple(_filter_words(rule)),
        does=tuple(_act_words(rule)),
        raw=raw,
    )


def _filter_words(rule: Mapping[str, Any]) -> list[str]:
    found = rule.get("Filter")
    chosen = found if isinstance(found, Mapping) else {}
    both = chosen.get("And")
    terms = {**chosen, **(both if isinstance(both, Mapping) else {})}
    words = []
    if prefix := terms.get("Prefix") or rule.get("Prefix"):
        words.append(str(prefix))
    tags = [terms["Tag"]] if isinstance(terms.get("Tag"), Mapping) else terms.get("Tags", [])
    words += [f"tag {tag.get('Key')} = {tag.get('Value')}" for tag in tags if isinstance(tag, Mapping)]
    if (least := terms.get("ObjectSizeGreaterThan")) is not None:
        words.append(f"larger than {least} B")
    if (most := terms.get("ObjectSizeLessThan")) is not None:
        words.append(f"smaller than {most} B")
    return words


def _act_words(rule: Mapping[str, Any]) -> list[str]:
    words = []
    expiration = _mapping(rule, "Expiration")
    if expiration.get("ExpiredObjectDeleteMarker"):
        words.append("removes lone delete markers")
    if when := _when(expiration):
        words.append(f"expires objects {when}")
    for transition in _list(rule, "Transitions"):
        words.append(f"moves objects to {transition.get('StorageClass')} {_when(transition)}".rstrip())
    noncurrent = _mapping(rule, "NoncurrentVersionExpiration")
    if (days := noncurrent.get("NoncurrentDays")) is not None:
        keep = noncurrent.get("NewerNoncurrentVersions")
        words.append(f"deletes old versions after {_days(days)}" + (f", keeps {keep}" if keep else ""))
    for transition in _list(rule, "NoncurrentVersionTransitions"):
        words.append(f"moves old versions to {transition.get('StorageClass')}")
    abort = _mapping(rule, "AbortIncompleteMultipartUpload")
    if (days := abort.get("DaysAfterInitiation")) is not None:
        words.append(f"aborts unfinished uploads after {_days(days)}")
    return words


def _when(act: Mapping[str, Any]) -> str:
    if (days := act.get("Days")) is not None:
        return f"after {_days(days)}"
    return f"on {str(date)[:10]}" if (date := act.get("Date")) else ""


def _days(days: object) -> str:
    return f"{days} {'day' if str(days) == '1' else 'days'}"


def _mapping(rule: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = rule.get(name)
    return found if isinstance(found, Mapping) else {}


def _list(rule: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = rule.get(name)
    return [part for part in found if isinstance(part, Mapping)] if isinstance(found, list) else []
