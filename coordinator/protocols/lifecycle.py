"""S3 lifecycle rules: which keys a rule can reach, and when it acts.

Rules come in the shape of the AWS SDKs' JSON (GetBucketLifecycleConfiguration): the old form with `Prefix` beside
`Status`, and `Filter` with `Prefix`, `Tag`, `ObjectSizeGreaterThan`, `ObjectSizeLessThan`, or several under `And`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

ARCHIVES = frozenset({"GLACIER", "DEEP_ARCHIVE"})
"""Storage classes from which an object cannot be read until it is restored."""

LONGEST_DAYS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Act:
    """What a rule does to current objects: after `days`, or from `date` on. `archives` moves instead of deleting."""

    days: int | None
    date: datetime | None
    archives: bool = False

    def bites_at(self, written_at: datetime) -> datetime | None:
        """When S3 may act on an object written then: the midnight UTC after its days are over, or the rule's date."""
        if self.days is None:
            return self.date
        try:
            over = written_at.astimezone(UTC) + timedelta(days=self.days)
            return over.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        except OverflowError:
            return None

    @property
    def in_words(self) -> str:
        if self.days is not None:
            when = f"after {self.days:,} {'day' if self.days == 1 else 'days'}"
        else:
            when = f"from {self.date:%d %b %Y} on" if self.date else "at once"
        return f"{'archives' if self.archives else 'deletes'} objects {when}"


@dataclass(frozen=True, slots=True)
class Rule:
    """One enabled rule. `conditions` are what an object has to be besides its prefix, in words."""

    name: str
    prefix: str
    acts: tuple[Act, ...]
    conditions: tuple[str, ...] = ()
    deletes_old_versions: bool = False

    def reaches(self, folder: str) -> bool:
        """Whether the rule can match a key in this folder (a key prefix that ends in a slash)."""
        return folder.startswith(self.prefix) or self.prefix.startswith(folder)

    def is_within(self, folder: str) -> bool:
        """Whether every key the rule matches lies in this folder."""
        return self.prefix.startswith(folder)


def read_rules(rules: Iterable[object]) -> tuple[Rule, ...]:
    """The enabled rules; what is no rule is left out, and what a rule holds besides is ignored."""
    return tuple(_rule(rule) for rule in rules if isinstance(rule, Mapping) and rule.get("Status") == "Enabled")


def ends_unfinished_uploads(rule: object) -> bool:
    """Whether it is an enabled rule that ends unfinished uploads in the whole bucket."""
    if not isinstance(rule, Mapping) or rule.get("Status") != "Enabled":
        return False
    days = _mapping(rule.get("AbortIncompleteMultipartUpload")).get("DaysAfterInitiation")
    terms = _terms(rule)
    whole = not (terms.get("Prefix") or rule.get("Prefix") or _conditions(terms))
    return isinstance(days, int) and whole


def read_rule(rule: object) -> Rule | None:
    """One rule, enabled or not; None for what is no rule."""
    return _rule(rule) if isinstance(rule, Mapping) else None


def _rule(rule: Mapping[str, Any]) -> Rule:
    terms = _terms(rule)
    prefix = terms.get("Prefix")
    if prefix is None:
        prefix = rule.get("Prefix")
    old_versions = _mapping(rule.get("NoncurrentVersionExpiration"))
    return Rule(
        name=str(rule.get("ID") or "without a name"),
        prefix=prefix if isinstance(prefix, str) else "",
        acts=tuple(_acts(rule)),
        conditions=tuple(_conditions(terms)),
        deletes_old_versions="NoncurrentDays" in old_versions,
    )


def _terms(rule: Mapping[str, Any]) -> Mapping[str, Any]:
    chosen = _mapping(rule.get("Filter"))
    return {**chosen, **_mapping(chosen.get("And"))}


def _conditions(terms: Mapping[str, Any]) -> list[str]:
    tags = [terms.get("Tag"), *_list(terms.get("Tags"))]
    words = [f"tagged {tag.get('Key')}={tag.get('Value')}" for tag in tags if isinstance(tag, Mapping)]
    if (least := terms.get("ObjectSizeGreaterThan")) is not None:
        words.append(f"larger than {least} B")
    if (most := terms.get("ObjectSizeLessThan")) is not None:
        words.append(f"smaller than {most} B")
    return words


def _acts(rule: Mapping[str, Any]) -> list[Act]:
    acts = [_act(_mapping(rule.get("Expiration")), archives=False)]
    moves = [*_list(rule.get("Transitions")), rule.get("Transition")]
    acts += [_act(move, archives=True) for move in map(_mapping, moves) if move.get("StorageClass") in ARCHIVES]
    return [act for act in acts if act]


def _act(terms: Mapping[str, Any], *, archives: bool) -> Act | None:
    days, date = terms.get("Days"), _date(terms.get("Date"))
    if isinstance(days, int) and 0 <= days <= LONGEST_DAYS:
        return Act(days, None, archives)
    return Act(None, date, archives) if date else None


def _date(value: object) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []
