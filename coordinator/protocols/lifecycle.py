"""S3 lifecycle rules: which keys and sizes a rule can reach, and when it acts.

Rules come in the shape of the AWS SDKs' JSON (GetBucketLifecycleConfiguration): the old form with `Prefix` beside
`Status`, and `Filter` with `Prefix`, `Tag`, `ObjectSizeGreaterThan`, `ObjectSizeLessThan`, or several under `And`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

ARCHIVES = frozenset({"GLACIER", "DEEP_ARCHIVE"})
"""Storage classes from which an object cannot be read until it is restored."""

INTELLIGENT_TIERING = "INTELLIGENT_TIERING"
"""The class whose objects move between tiers, into archives too where the bucket is configured so."""

LONGEST_DAYS = 2**31 - 1

SMALL = 128 * 1024
"""Bytes below which S3 moves no object between classes by default, and none between the tiers of one class."""

MOST_RULES = 1_000
"""Lifecycle rules that S3 allows in one bucket."""

_NO_SMALL_ONES = "all_storage_classes_128K"
_STATUSES = ("Enabled", "Disabled")
_TERMS = frozenset({"Prefix", "Tag", "Tags", "And", "ObjectSizeGreaterThan", "ObjectSizeLessThan"})


@dataclass(frozen=True, slots=True)
class LifecycleAction:
    """What a rule does to current objects: after `days`, or from `date` on. `archives` moves instead of deleting.

    Objects smaller than `least_size` bytes are left alone.
    """

    days: int | None
    date: datetime | None
    archives: bool = False
    least_size: int = 0

    def bites_at(self, written_at: datetime) -> datetime | None:
        """When S3 may act on an object written then: the first midnight UTC by which its days are over, or the date.

        A date stays in force: what is written after it is taken at once.
        """
        if self.days is None:
            return max(self.date, written_at).astimezone(UTC) if self.date else None
        try:
            over = written_at.astimezone(UTC) + timedelta(days=self.days)
            midnight = over.replace(hour=0, minute=0, second=0, microsecond=0)
            return midnight if midnight == over else midnight + timedelta(days=1)
        except OverflowError:
            return None

    @property
    def does(self) -> str:
        return "archives" if self.archives else "deletes"

    @property
    def in_words(self) -> str:
        if self.days is not None:
            when = f"after {self.days:,} {'day' if self.days == 1 else 'days'}"
        else:
            when = f"from {self.date:%d %b %Y} on" if self.date else "at once"
        return f"{self.does} objects {when}"


@dataclass(frozen=True, slots=True)
class LifecycleRule:
    """One enabled rule. `conditions` are what an object has to be besides its prefix, in words.

    `over` and `under` are its limits of size in bytes, both exclusive; `tags` are the tags it asks for, as "key=value".
    `tiers` move objects into Intelligent-Tiering. `old_versions_days` is how long a version lives once it is not the
    current one, None where the rule leaves old versions alone or keeps the newest of them. `unclear` says what of the
    rule could not be understood. `kind` is how a sentence introduces it.
    """

    name: str
    prefix: str
    acts: tuple[LifecycleAction, ...]
    conditions: tuple[str, ...] = ()
    deletes_old_versions: bool = False
    over: int | None = None
    under: int | None = None
    tags: tuple[str, ...] = ()
    tiers: tuple[LifecycleAction, ...] = ()
    old_versions_days: int | None = None
    unclear: tuple[str, ...] = ()
    kind: str = "Rule"

    @property
    def title(self) -> str:
        return f"{self.kind} {self.name}"

    def reaches(self, folder: str) -> bool:
        """Whether the rule can match a key in this folder (a key prefix that ends in a slash)."""
        return folder.startswith(self.prefix) or self.prefix.startswith(folder)

    def is_within(self, folder: str) -> bool:
        """Whether every key the rule matches lies in this folder."""
        return self.prefix.startswith(folder)

    def matches(self, place: str) -> bool:
        """Whether the rule can match this key, or where it ends in a slash, a key in this folder."""
        return self.reaches(place) if place.endswith("/") else place.startswith(self.prefix)

    @property
    def is_sized(self) -> bool:
        """Whether its filter limits the size of objects."""
        return self.over is not None or self.under is not None

    def fits(self, act: LifecycleAction, least: int, most: int) -> bool:
        """Whether an object of a size from `least` to `most` bytes can be of the size that the act takes."""
        if self.over is not None and most <= self.over:
            return False
        if self.under is not None and least >= self.under:
            return False
        return most >= act.least_size


def read_rules(rules: Iterable[object], least_size_moved: str = "") -> tuple[LifecycleRule, ...]:
    """The enabled rules; what is no rule is left out.

    `least_size_moved` is the bucket's word for the least size of transitions (lake.aws.buckets.BucketDescription).
    """
    enabled = (rule for rule in rules if isinstance(rule, Mapping) and rule.get("Status") == "Enabled")
    return tuple(_rule(rule, least_size_moved) for rule in enabled)


def unclear_rules(rules: Iterable[object]) -> Iterator[tuple[str, str]]:
    """Name and trouble of each rule that may be in force and could not be understood."""
    for rule in rules:
        if not isinstance(rule, Mapping):
            yield "without a name", "it is no rule"
        elif rule.get("Status") not in _STATUSES:
            yield _name(rule), "its Status is neither Enabled nor Disabled"
        elif rule["Status"] == "Enabled":
            yield from ((_name(rule), trouble) for trouble in _rule(rule).unclear[:1])


def ends_unfinished_uploads(rule: object) -> bool:
    """Whether it is an enabled rule that ends unfinished uploads in the whole bucket."""
    if not isinstance(rule, Mapping) or rule.get("Status") != "Enabled":
        return False
    days = mapping(rule.get("AbortIncompleteMultipartUpload")).get("DaysAfterInitiation")
    terms = _terms(rule)
    whole = not (terms.get("Prefix") or rule.get("Prefix") or _conditions(terms))
    return isinstance(days, int) and whole


def read_rule(rule: object, least_size_moved: str = "") -> LifecycleRule | None:
    """One rule, enabled or not; None for what is no rule."""
    return _rule(rule, least_size_moved) if isinstance(rule, Mapping) else None


def is_on_temp_files(prefix: str) -> bool:
    """Whether a prefix takes the temp files of one table and nothing else.

    Delta's documentation writes it without the slash at its end; nothing else under `_delta_log/` begins with `.tmp`.
    """
    return f"/{prefix}".endswith(("/_delta_log/.tmp/", "/_delta_log/.tmp"))


def filter_terms(chosen: object) -> Mapping[str, Any]:
    """The terms of a Filter, those under its And among them."""
    outer = mapping(chosen)
    return {**outer, **mapping(outer.get("And"))}


def tags_of(terms: Mapping[str, Any]) -> tuple[str, ...]:
    """The tags that a filter asks for, as "key=value"."""
    tags = [terms.get("Tag"), *listed(terms.get("Tags"))]
    return tuple(f"{tag.get('Key')}={tag.get('Value')}" for tag in tags if isinstance(tag, Mapping))


def _rule(rule: Mapping[str, Any], least_size_moved: str = "") -> LifecycleRule:
    terms = _terms(rule)
    prefix = terms.get("Prefix")
    if prefix is None:
        prefix = rule.get("Prefix")
    old_versions = mapping(rule.get("NoncurrentVersionExpiration"))
    over, under = terms.get("ObjectSizeGreaterThan"), terms.get("ObjectSizeLessThan")
    # A size in the filter stands in place of the bucket's least size for transitions.
    is_sized = over is not None or under is not None
    small = SMALL if least_size_moved == _NO_SMALL_ONES and not is_sized else 0
    expires = _act(mapping(rule.get("Expiration")))
    moves = _moves(rule, ARCHIVES, small, archives=True)
    return LifecycleRule(
        name=_name(rule),
        prefix=prefix if isinstance(prefix, str) else "",
        acts=(*([expires] if expires else []), *moves),
        conditions=tuple(_conditions(terms)),
        deletes_old_versions="NoncurrentDays" in old_versions,
        over=over if isinstance(over, int) else None,
        under=under if isinstance(under, int) else None,
        tags=tags_of(terms),
        tiers=tuple(_moves(rule, frozenset({INTELLIGENT_TIERING}), SMALL)),
        old_versions_days=_life_of_old_versions(old_versions),
        unclear=tuple(_unclear(rule, terms, prefix)),
    )


def _name(rule: Mapping[str, Any]) -> str:
    return str(rule.get("ID") or "without a name")


def _terms(rule: Mapping[str, Any]) -> Mapping[str, Any]:
    return filter_terms(rule.get("Filter"))


def _conditions(terms: Mapping[str, Any]) -> list[str]:
    words = [f"tagged {tag}" for tag in tags_of(terms)]
    if (least := terms.get("ObjectSizeGreaterThan")) is not None:
        words.append(f"larger than {least} B")
    if (most := terms.get("ObjectSizeLessThan")) is not None:
        words.append(f"smaller than {most} B")
    return words


def _life_of_old_versions(terms: Mapping[str, Any]) -> int | None:
    """Days after which even the newest of the old versions goes."""
    days, kept = terms.get("NoncurrentDays"), terms.get("NewerNoncurrentVersions")
    return days if isinstance(days, int) and 0 <= days <= LONGEST_DAYS and not kept else None


def _moves(
    rule: Mapping[str, Any], classes: frozenset[str], least_size: int, *, archives: bool = False
) -> Iterator[LifecycleAction]:
    for move in _transitions(rule):
        if move.get("StorageClass") in classes and (act := _act(move, archives=archives, least_size=least_size)):
            yield act


def _transitions(rule: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [mapping(move) for move in [*listed(rule.get("Transitions")), rule.get("Transition")]]


def _act(terms: Mapping[str, Any], *, archives: bool = False, least_size: int = 0) -> LifecycleAction | None:
    days, date = terms.get("Days"), _date(terms.get("Date"))
    if isinstance(days, int) and 0 <= days <= LONGEST_DAYS:
        return LifecycleAction(days, None, archives, least_size)
    return LifecycleAction(None, date, archives, least_size) if date else None


def _unclear(rule: Mapping[str, Any], terms: Mapping[str, Any], prefix: object) -> Iterator[str]:
    """What of the rule is not as S3 writes it, so that it may reach more, or do more, than was understood."""
    for name in ("Filter", "Expiration", "NoncurrentVersionExpiration"):
        if rule.get(name) is not None and not isinstance(rule[name], Mapping):
            yield f"its {name} has no parts"
    if not isinstance(prefix, str | None):
        yield "its Prefix is no text"
    if unknown := sorted(set(map(str, terms)) - _TERMS):
        yield f"its Filter has the term {unknown[0]}"
    if any(not isinstance(terms.get(name), int | None) for name in ("ObjectSizeGreaterThan", "ObjectSizeLessThan")):
        yield "its Filter has a size that is no number"
    yield from _unclear_acts(rule)


def _unclear_acts(rule: Mapping[str, Any]) -> Iterator[str]:
    expiration = mapping(rule.get("Expiration"))
    if expiration and "ExpiredObjectDeleteMarker" not in expiration and _act(expiration) is None:
        yield "its Expiration names neither days nor a date"
    if rule.get("Transitions") is not None and not isinstance(rule["Transitions"], list | tuple):
        yield "its Transitions are no list"
    for move in _transitions(rule):
        if move and (not isinstance(move.get("StorageClass"), str) or _act(move) is None):
            yield "one of its transitions names no class, or neither days nor a date"
    old_versions = mapping(rule.get("NoncurrentVersionExpiration"))
    if old_versions and not isinstance(old_versions.get("NoncurrentDays"), int):
        yield "its NoncurrentVersionExpiration names no days"


def _date(value: object) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def mapping(value: object) -> Mapping[str, Any]:
    """The value where it is a mapping, an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def listed(value: object) -> list[Any]:
    """The value as a list where it is one, an empty one for anything else."""
    return list(value) if isinstance(value, list | tuple) else []
