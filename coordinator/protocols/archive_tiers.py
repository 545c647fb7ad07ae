"""Archive tiers of S3 Intelligent-Tiering: which log and data files can fall into one, and when at the earliest.

A configuration moves objects of that class, of 128 KB or more, into Archive Access or Deep Archive Access after days in
which nobody read them. Such an object cannot be read until it is restored, which takes hours. When an object was last
read S3 does not say, so every moment here is the earliest: as if nobody had read it since it was written.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from coordinator.protocols.bucket_tables import TableInBucket
from coordinator.protocols.deadlines import AtRisk, Deadline, moment_in_words, state_before
from coordinator.protocols.lifecycle import (
    INTELLIGENT_TIERING,
    SMALL,
    LifecycleAction,
    LifecycleRule,
    filter_terms,
    is_enabled,
    may_act,
    tags_of,
)
from coordinator.protocols.published_reach import (
    MOST_NAMED,
    Hit,
    first_deadline,
    hits_on,
    matters_to_data,
    matters_to_log,
    prefixes,
)
from coordinator.protocols.verdict import Finding, State, graded, not_checked
from coordinator.protocols.waiting_files import waiting_deadlines
from coordinator.protocols.wording import counted, joined

_WORDS = {AtRisk.LOG: "log files", AtRisk.DATA: "data files"}
_TIERS = {"ARCHIVE_ACCESS": "Archive Access", "DEEP_ARCHIVE_ACCESS": "Deep Archive Access"}


@dataclass(frozen=True, slots=True)
class ArchiveTiers:
    """One enabled configuration: `scope` is it as a rule, by which keys are matched; `days` are the first tier's."""

    scope: LifecycleRule
    days: int
    tier: str


def read_configurations(configurations: Iterable[Mapping[str, Any]]) -> tuple[ArchiveTiers, ...]:
    """The configurations that are enabled, or may be; they come in the shape of the AWS SDKs' JSON."""
    return tuple(_read(one) for one in configurations if may_act(one))


def _read(configuration: Mapping[str, Any]) -> ArchiveTiers:
    terms = filter_terms(configuration)
    tiers = [(tier.get("Days"), tier.get("AccessTier", "")) for tier in configuration.get("Tierings") or ()]
    known = [(days, tier) for days, tier in tiers if days is not None]
    days, tier = min(known, default=(0, ""))
    is_clear = is_enabled(configuration) and tiers and len(known) == len(tiers)
    scope = LifecycleRule(
        configuration.get("Id") or "without a name",
        terms.get("Prefix") or "",
        (LifecycleAction(days, None, archives=True, least_size=SMALL),) if known else (),
        tags=tags_of(terms),
        unclear="" if is_clear else "its Status or its Tierings cannot be read",
        kind="Intelligent-Tiering configuration",
    )
    return ArchiveTiers(scope, days, _TIERS.get(tier, tier))


def tier_hits(tiers: ArchiveTiers, rules: Sequence[LifecycleRule], tables: Sequence[TableInBucket]) -> list[Hit]:
    """Files that can fall into an archive, certain where some are, or will be, of the class.

    `tables` are those of which the configuration can match a key; `rules` those that move files into the class.
    """
    found: list[Hit] = []
    for table in tables if tiers.scope.acts else ():
        if matters_to_log(tiers.scope, table) and (hit := _hit_on_log(tiers, rules, table)):
            found.append(hit)
        if matters_to_data(tiers.scope, table):
            found.append(_hit_on_data(tiers, rules, table))
    return found


def _hit_on_log(tiers: ArchiveTiers, rules: Sequence[LifecycleRule], table: TableInBucket) -> Hit | None:
    """By the real classes and sizes of the log's files."""
    moments = list(_moments(tiers, rules, table))
    if moments:
        return Hit(table, AtRisk.LOG, "archives", is_certain=True, at=min(moments))
    ranges = table.log_sizes
    unknown = ranges is None or any(not one.storage_class and one.most >= SMALL for one in ranges)
    return Hit(table, AtRisk.LOG, "archives", is_certain=False) if unknown else None


def _moments(tiers: ArchiveTiers, rules: Sequence[LifecycleRule], table: TableInBucket) -> Iterator[datetime]:
    for one in table.log_sizes or ():
        if one.most < SMALL:
            continue
        if one.storage_class == INTELLIGENT_TIERING:
            yield from _later(one.oldest_at, tiers.days)
            continue
        for rule in rules:
            acts = [act for act in rule.tiers if rule.fits(act, one.least, one.most)]
            if acts and matters_to_log(rule, table):
                moved = [at for act in acts if (at := act.bites_at(one.oldest_at))]
                yield from (later for at in moved for later in _later(at, tiers.days))


def _hit_on_data(tiers: ArchiveTiers, rules: Sequence[LifecycleRule], table: TableInBucket) -> Hit:
    """The classes of data files are not known; a rule that moves them into the class decides it."""
    moving = [rule for rule in rules if not rule.conditions and matters_to_data(rule, table)]
    bites = [act.bites_at(table.oldest_log_at) for rule in moving for act in rule.tiers if table.oldest_log_at]
    moments = [later for at in bites if at for later in _later(at, tiers.days)]
    return Hit(table, AtRisk.DATA, "archives", is_certain=bool(moving), at=min(moments, default=None))


def tier_waiting(tiers: ArchiveTiers, tables: Sequence[TableInBucket], now: datetime) -> list[Deadline]:
    """Files of unpublished commits that are large enough; of which class they are is not known."""
    found = waiting_deadlines(tiers.scope, tables, now)
    of_class = f"of the class {INTELLIGENT_TIERING} and not read until then"
    return [replace(one, condition=joined([part for part in (one.condition, of_class) if part])) for one in found]


def _later(moment: datetime, days: int) -> Iterator[datetime]:
    try:
        yield moment.astimezone(UTC) + timedelta(days=days)
    except OverflowError:
        return


def tier_deadlines(tiers: ArchiveTiers, hits: Sequence[Hit], now: datetime) -> list[Deadline]:
    """The earliest moment for logs and that for data, of files that are known to be of the class or to come into it."""
    certain = [hit for hit in hits if hit.is_certain]
    condition = joined(["not read until then", *tiers.scope.conditions])
    found = [
        first_deadline(tiers.scope, of_it, State.ATTENTION, condition)
        for what in _WORDS
        if (of_it := hits_on(what, certain))
    ]
    return [replace(one, state=_graded(tiers, one.at, now)) for one in found]


def _graded(tiers: ArchiveTiers, at: datetime | None, now: datetime) -> State:
    """Never better than attention: such files can fall, only not yet. No worse where nothing tells of their tags."""
    if at is None or tiers.scope.tags:
        return State.ATTENTION
    return min(State.ATTENTION, state_before(at, now), key=lambda state: state.rank)


def tier_findings(tiers: ArchiveTiers, hits: Sequence[Hit], deadlines: Sequence[Deadline]) -> list[Finding]:
    """What can fall into an archive, and what cannot be decided because a class is not known."""
    found = []
    if tiers.scope.unclear:
        found.append(
            not_checked(
                "archive-tier-undecided",
                f"What {tiers.scope.title} archives cannot be decided: {tiers.scope.unclear}.",
                meaning="Files in an archive tier cannot be read until they are restored.",
                evidence={"rule": tiers.scope.name, "prefix": tiers.scope.prefix},
            )
        )
    if deadlines:
        found.append(_takes(tiers, hits, deadlines))
    if unknown := [hit for hit in hits if not hit.is_certain]:
        found.append(_undecided(tiers, unknown))
    return found


def _takes(tiers: ArchiveTiers, hits: Sequence[Hit], deadlines: Sequence[Deadline]) -> Finding:
    what = joined([f"{_WORDS[one.what]} of {counted(one.tables, 'table')}" for one in deadlines])
    at = min((one.at for one in deadlines if one.at), default=None)
    first = f", the first at {moment_in_words(at)} if nobody has read it by then" if at else ""
    only = f" Only objects {joined(tiers.scope.conditions)}; which carry it is not known." if tiers.scope.tags else ""
    return graded(min((one.state for one in deadlines), key=lambda one: one.rank))(
        "archive-tier-reaches-log" if deadlines[0].what is AtRisk.LOG else "archive-tier-reaches-data",
        f"{tiers.scope.title} archives objects that nobody read for {counted(tiers.days, 'day')} in {tiers.tier}: it "
        f"can take {what}{first}.{only}",
        meaning="What is in an archive tier cannot be read until it is restored, which takes hours. Take the tables' "
        "prefixes out of the configuration, or disable it.",
        evidence={
            "rule": tiers.scope.name,
            "prefix": tiers.scope.prefix,
            "tables": prefixes(hit for hit in hits if hit.is_certain)[:MOST_NAMED],
            "bites_at": at.isoformat() if at else None,
        },
    )


def _undecided(tiers: ArchiveTiers, unknown: Sequence[Hit]) -> Finding:
    kinds = [words for what, words in _WORDS.items() if hits_on(what, unknown)]
    tables = prefixes(unknown)
    return not_checked(
        "archive-tier-undecided",
        f"Whether {tiers.scope.title} archives {joined(kinds)} of {counted(len(tables), 'table')} cannot be decided: "
        "their storage class is not known.",
        meaning=f"Objects of the class INTELLIGENT_TIERING fall into {tiers.tier} once nobody read them for "
        f"{counted(tiers.days, 'day')}, others do not.",
        evidence={"rule": tiers.scope.name, "prefix": tiers.scope.prefix, "tables": tables[:MOST_NAMED]},
    )
