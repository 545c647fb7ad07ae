"""Lifecycle rules of a bucket in words: what each applies to and what it does, as S3 returned it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coordinator.protocols.wording import counted


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One rule. `applies_to` names its filter, `does` its acts; `raw` is the rule as read, as JSON."""

    id: str
    enabled: bool
    applies_to: tuple[str, ...]
    does: tuple[str, ...]
    raw: str


def rule_rows(rules: Sequence[Mapping[str, Any]]) -> list[RuleRow]:
    """Rows for the rules of a BucketDescription."""
    return [
        RuleRow(
            id=rule.get("ID") or "",
            enabled=rule.get("Status") == "Enabled",
            applies_to=tuple(_filter_words(rule)),
            does=tuple(_act_words(rule)),
            raw=json.dumps(rule, indent=2, ensure_ascii=False),
        )
        for rule in rules
    ]


def _filter_words(rule: Mapping[str, Any]) -> Iterator[str]:
    chosen = rule.get("Filter", {})
    terms = {**chosen, **chosen.get("And", {})}
    if prefix := terms.get("Prefix") or rule.get("Prefix"):
        yield prefix
    for tag in [terms["Tag"]] if "Tag" in terms else terms.get("Tags", []):
        yield f"tag {tag.get('Key')} = {tag.get('Value')}"
    if (least := terms.get("ObjectSizeGreaterThan")) is not None:
        yield f"larger than {least} B"
    if (most := terms.get("ObjectSizeLessThan")) is not None:
        yield f"smaller than {most} B"


def _act_words(rule: Mapping[str, Any]) -> Iterator[str]:
    expiration = rule.get("Expiration", {})
    if expiration.get("ExpiredObjectDeleteMarker"):
        yield "removes lone delete markers"
    if when := _when(expiration):
        yield f"expires objects {when}"
    for transition in rule.get("Transitions", []):
        yield f"moves objects to {transition.get('StorageClass')} {_when(transition)}".rstrip()
    noncurrent = rule.get("NoncurrentVersionExpiration", {})
    if (days := noncurrent.get("NoncurrentDays")) is not None:
        keep = noncurrent.get("NewerNoncurrentVersions")
        yield f"deletes old versions after {counted(days, 'day')}" + (f", keeps {keep}" if keep else "")
    for transition in rule.get("NoncurrentVersionTransitions", []):
        yield f"moves old versions to {transition.get('StorageClass')}"
    if (days := rule.get("AbortIncompleteMultipartUpload", {}).get("DaysAfterInitiation")) is not None:
        yield f"aborts unfinished uploads after {counted(days, 'day')}"


def _when(act: Mapping[str, Any]) -> str:
    if (days := act.get("Days")) is not None:
        return f"after {counted(days, 'day')}"
    return f"on {act['Date'][:10]}" if "Date" in act else ""
