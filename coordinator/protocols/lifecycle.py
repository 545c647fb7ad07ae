"""S3 lifecycle rules: which keys and sizes a rule can reach, and when it acts.

Rules come in the shape of the AWS SDKs' JSON (GetBucketLifecycleConfiguration): the old form with `Prefix` beside
`Status`, and `Filter` with `Prefix`, `Tag`, `ObjectSizeGreaterThan`, `ObjectSizeLessThan`, or several under `And`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from coordinator.protocols.deadlines import read_moment
from coordinator.protocols.wording import joined

ARCHIVES = frozenset({"GLACIER", "DEEP_ARCHIVE"})
"""Storage classes from which an object cannot be read until it is restored."""

INTELLIGENT_TIERING = "INTELLIGENT_TIERING"
"""The class whose objects move between tiers, into archives too where the bucket is configured so."""

SMALL = 128 * 1024
"""Bytes below which S3 moves no object between classes by default, and none between the tiers of one class."""

MOST_RULES = 1_000
"""Lifecycle rules that S3 allows in one bucket."""

_NO_SMALL_ONES = "all_storage_classes_128K"
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
    """One rule, in force or not.

    `over` and `under` are its limits of size in bytes, both exclusive; `tags` are the tags it asks for, as "key=value".
    `tiers` move objects into Intelligent-Tiering. `old_versions_days` is how long a version lives once it is not the
    current one, None where the rule leaves old versions alone or keeps the newest of them. `ends_uploads` says that it
    ends uploads that never ended. `unclear` says what of the rule could not be understood, "" for nothing. `kind` is
    how a sentence introduces it.
    """

    name: str
    prefix: str
    acts: tuple[LifecycleAction, ...]
    deletes_old_versions: bool = False
    over: int | None = None
    under: int | None = None
    tags: tuple[str, ...] = ()
    tiers: tuple[LifecycleAction, ...] = ()
    old_versions_days: int | None = None
    ends_uploads: bool = False
    unclear: str = ""
    kind: str = "Rule"

    @property
    def title(self) -> str:
        return f"{self.kind} {self.name}"

    @property
    def conditions(self) -> tuple[str, ...]:
        """What an object has to be besides its prefix, in words."""
        limits = (("larger", self.over), ("smaller", self.under))
        sizes = (f"{word} than {size} B" for word, size in limits if size is not None)
        return (*(f"tagged {tag}" for tag in self.tags), *sizes)

    def open_question(self, *, knows_size: bool) -> str:
        """The conditions of which nothing tells whether files meet them: their tags are never known."""
        return joined(self.conditions[: len(self.tags)] if knows_size else self.conditions)

    @property
    def ends_all_uploads(self) -> bool:
        """Whether it ends unfinished uploads in the whole bucket."""
        return self.ends_uploads and not self.prefix and not self.conditions

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


def is_enabled(rule: Mapping[str, Any]) -> bool:
    """Whether a rule is in force for certain."""
    return rule.get("Status") == "Enabled"


def may_act(rule: Mapping[str, Any]) -> bool:
    """Whether a rule, or an archive configuration, is in force or may be."""
    return rule.get("Status") != "Disabled"


def read_rules(rules: Iterable[Mapping[str, Any]], least_size_moved: str = "") -> tuple[LifecycleRule, ...]:
    """The rules that are in force, or may be."""
    return tuple(read_rule(rule, least_size_moved) for rule in rules if may_act(rule))


def read_rule(rule: Mapping[str, Any], least_size_moved: str = "") -> LifecycleRule:
    """One rule, enabled or not.

    `least_size_moved` is the bucket's word for the least size of transitions (lake.aws.buckets.BucketDescription).
    """
    terms = filter_terms(rule)
    old_versions = rule.get("NoncurrentVersionExpiration") or {}
    over, under = terms.get("ObjectSizeGreaterThan"), terms.get("ObjectSizeLessThan")
    # A size in the filter stands in place of the bucket's least size for transitions.
    is_sized = over is not None or under is not None
    small = SMALL if least_size_moved == _NO_SMALL_ONES and not is_sized else 0
    expires = _act(rule.get("Expiration") or {})
    moves = _moves(rule, ARCHIVES, small, archives=True)
    return LifecycleRule(
        name=rule.get("ID") or "without a name",
        prefix=terms.get("Prefix") or rule.get("Prefix") or "",
        acts=(*([expires] if expires else []), *moves),
        deletes_old_versions="NoncurrentDays" in old_versions,
        over=over,
        under=under,
        tags=tags_of(terms),
        tiers=tuple(_moves(rule, frozenset({INTELLIGENT_TIERING}), SMALL)),
        old_versions_days=None if old_versions.get("NewerNoncurrentVersions") else old_versions.get("NoncurrentDays"),
        ends_uploads=bool(rule.get("AbortIncompleteMultipartUpload")),
        unclear=next(_unclear(rule, terms), ""),
    )


def is_on_temp_files(prefix: str) -> bool:
    """Whether a prefix takes the temp files of one table and nothing else.

    Delta's documentation writes it without the slash at its end; nothing else under `_delta_log/` begins with `.tmp`.
    """
    return f"/{prefix}".endswith(("/_delta_log/.tmp/", "/_delta_log/.tmp"))


def filter_terms(rule: Mapping[str, Any]) -> Mapping[str, Any]:
    """The terms of its Filter, those under its And among them."""
    outer = rule.get("Filter") or {}
    return {**outer, **(outer.get("And") or {})}


def tags_of(terms: Mapping[str, Any]) -> tuple[str, ...]:
    """The tags that a filter asks for, as "key=value"."""
    tags = [terms.get("Tag"), *(terms.get("Tags") or ())]
    return tuple(f"{tag['Key']}={tag.get('Value', '')}" for tag in tags if tag)


def _moves(
    rule: Mapping[str, Any], classes: frozenset[str], least_size: int, *, archives: bool = False
) -> Iterator[LifecycleAction]:
    for move in rule.get("Transitions") or ():
        if move.get("StorageClass") in classes and (act := _act(move, archives=archives, least_size=least_size)):
            yield act


def _act(terms: Mapping[str, Any], *, archives: bool = False, least_size: int = 0) -> LifecycleAction | None:
    days, date = terms.get("Days"), read_moment(terms.get("Date"))
    return LifecycleAction(days, date, archives, least_size) if days is not None or date else None


def _unclear(rule: Mapping[str, Any], terms: Mapping[str, Any]) -> Iterator[str]:
    """What of the rule Levee does not know, so that it may reach more, or do more, than was understood."""
    if rule.get("Status") not in ("Enabled", "Disabled"):
        yield "its Status is neither Enabled nor Disabled"
    if unknown := sorted(set(terms) - _TERMS):
        yield f"its Filter has the term {unknown[0]}"
    expiration = rule.get("Expiration") or {}
    if expiration and "ExpiredObjectDeleteMarker" not in expiration and _act(expiration) is None:
        yield "its Expiration names neither days nor a date"
    if any(not move.get("StorageClass") or _act(move) is None for move in rule.get("Transitions") or ()):
        yield "one of its transitions names no class, or neither days nor a date"
    if rule.get("NoncurrentVersionExpiration") and "NoncurrentDays" not in rule["NoncurrentVersionExpiration"]:
        yield "its NoncurrentVersionExpiration names no days"
