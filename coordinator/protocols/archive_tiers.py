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
    LONGEST_DAYS,
    SMALL,
    LifecycleAction,
    LifecycleRule,
    filter_terms,
    listed,
    mapping,
    tags_of,
)
from coordinator.protocols.published_reach import MOST_NAMED, matters_to_data, matters_to_log
from coordinator.protocols.verdict import Finding, Severity, State, not_checked
from coordinator.protocols.waiting_files import waiting_deadlines
from coordinator.protocols.wording import counted, joined

_WORDS = {AtRisk.LOG: "log files", AtRisk.DATA: "data files"}
_TIERS = {"ARCHIVE_ACCESS": "Archive Access", "DEEP_ARCHIVE_ACCESS": "Deep Archive Access"}


@dataclass(frozen=True, slots=True)
class ArchiveTiers:
    """One enabled configuration: `scope` is it as a rule, by which keys are matched; `days` are the first tier's.

    `unclear` says what could not be understood, "" for nothing.
    """

    scope: LifecycleRule
    days: int
    tier: str
    unclear: str = ""

    @property
    def name(self) -> str:
        return self.scope.name


def read_configurations(configurations: Iterable[object]) -> tuple[ArchiveTiers, ...]:
    """The configurations that are enabled, or may be; they come in the shape of the AWS SDKs' JSON."""
    return tuple(found for one in configurations if (found := _read(mapping(one))) is not None)


def _read(configuration: Mapping[str, Any]) -> ArchiveTiers | None:
    if configuration.get("Status") == "Disabled":
        return None
    name = str(configuration.get("Id") or "without a name")
    terms = filter_terms(configuration.get("Filter"))
    prefix = terms.get("Prefix")
    tags = tags_of(terms)
    tiers = [(tier.get("Days"), tier.get("AccessTier")) for tier in map(mapping, listed(configuration.get("Tierings")))]
    known = [(days, str(tier)) for days, tier in tiers if isinstance(days, int) and 0 <= days <= LONGEST_DAYS]
    days, tier = min(known, default=(0, ""))
    scope = LifecycleRule(
        name,
        prefix if isinstance(prefix, str) else "",
        (LifecycleAction(days, None, archives=True, least_size=SMALL),) if known else (),
        conditions=tuple(f"tagged {tag}" for tag in tags),
        tags=tags,
        kind="Intelligent-Tiering configuration",
    )
    is_clear = configuration.get("Status") == "Enabled" and tiers and len(known) == len(tiers)
    unclear = "" if is_clear and isinstance(prefix, str | None) else "its Status, Filter or Tierings cannot be read"
    return ArchiveTiers(scope, days, _TIERS.get(tier, tier), unclear)


@dataclass(frozen=True, slots=True)
class Fall:
    """Files of one table in the reach of a configuration: `at` is when the first can fall, None where that is unknown.

    `is_known` says that some are, or will be, of the class.
    """

    table: TableInBucket
    what: AtRisk
    is_known: bool
    at: datetime | None = None


def tier_falls(tiers: ArchiveTiers, rules: Sequence[LifecycleRule], tables: Sequence[TableInBucket]) -> list[Fall]:
    """`tables` are those of which the configuration can match a key; `rules` those that move files into the class."""
    found: list[Fall] = []
    for table in tables if tiers.scope.acts else ():
        if matters_to_log(tiers.scope, table) and (fall := _fall_of_log(tiers, rules, table)):
            found.append(fall)
        if matters_to_data(tiers.scope, table):
            found.append(_fall_of_data(tiers, rules, table))
    return found


def _fall_of_log(tiers: ArchiveTiers, rules: Sequence[LifecycleRule], table: TableInBucket) -> Fall | None:
    """By the real classes and sizes of the log's files."""
    if table.log_sizes is None:
        return Fall(table, AtRisk.LOG, is_known=False)
    moments = list(_moments(tiers, rules, table))
    if moments:
        return Fall(table, AtRisk.LOG, is_known=True, at=min(moments))
    unnamed = any(not one.storage_class and one.most >= SMALL for one in table.log_sizes)
    return Fall(table, AtRisk.LOG, is_known=False) if unnamed else None


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


def _fall_of_data(tiers: ArchiveTiers, rules: Sequence[LifecycleRule], table: TableInBucket) -> Fall:
    """The classes of data files are not known; a rule that moves them into the class decides it."""
    moving = [rule for rule in rules if not rule.conditions and matters_to_data(rule, table)]
    if not moving:
        return Fall(table, AtRisk.DATA, is_known=False)
    bites = [act.bites_at(table.oldest_log_at) for rule in moving for act in rule.tiers if table.oldest_log_at]
    moments = [later for at in bites if at for later in _later(at, tiers.days)]
    return Fall(table, AtRisk.DATA, is_known=True, at=min(moments, default=None))


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


def tier_deadlines(tiers: ArchiveTiers, falls: Sequence[Fall], now: datetime) -> list[Deadline]:
    """The earliest moment for logs and that for data, of files that are known to be of the class or to come into it."""
    found = []
    for what in _WORDS:
        known = [fall for fall in falls if fall.what is what and fall.is_known]
        if known:
            first = min(known, key=lambda fall: (fall.at is None, fall.at.timestamp() if fall.at else 0))
            condition = joined(["not read until then", *tiers.scope.conditions])
            found.append(
                Deadline(
                    first.at,
                    _graded(tiers, first.at, now),
                    what,
                    tiers.name,
                    "archives",
                    first.table.prefix,
                    tables=len(known),
                    condition=condition,
                )
            )
    return found


def _graded(tiers: ArchiveTiers, at: datetime | None, now: datetime) -> State:
    """Never better than attention: such files can fall, only not yet. No worse where nothing tells of their tags."""
    if at is None or tiers.scope.tags:
        return State.ATTENTION
    return min(State.ATTENTION, state_before(at, now), key=lambda state: state.rank)


def tier_findings(tiers: ArchiveTiers, falls: Sequence[Fall], deadlines: Sequence[Deadline]) -> list[Finding]:
    """What can fall into an archive, and what cannot be decided because a class is not known."""
    found = []
    if tiers.unclear:
        found.append(
            not_checked(
                "archive-tier-undecided",
                f"What Intelligent-Tiering configuration {tiers.name} archives cannot be decided: {tiers.unclear}.",
                meaning="Files in an archive tier cannot be read until they are restored.",
                evidence={"rule": tiers.name, "prefix": tiers.scope.prefix},
            )
        )
    if deadlines:
        found.append(_takes(tiers, falls, deadlines))
    if unknown := [fall for fall in falls if not fall.is_known]:
        found.append(_undecided(tiers, unknown))
    return found


def _takes(tiers: ArchiveTiers, falls: Sequence[Fall], deadlines: Sequence[Deadline]) -> Finding:
    what = joined([f"{_WORDS[one.what]} of {counted(one.tables, 'table')}" for one in deadlines])
    at = min((one.at for one in deadlines if one.at), default=None)
    first = f", the first at {moment_in_words(at)} if nobody has read it by then" if at else ""
    only = f" Only objects {joined(tiers.scope.conditions)}; which carry it is not known." if tiers.scope.tags else ""
    state = min((one.state for one in deadlines), key=lambda one: one.rank)
    known = [fall.table.prefix for fall in falls if fall.is_known]
    return Finding(
        "archive-tier-reaches-log" if deadlines[0].what is AtRisk.LOG else "archive-tier-reaches-data",
        f"Intelligent-Tiering configuration {tiers.name} archives objects that nobody read for "
        f"{counted(tiers.days, 'day')} in {tiers.tier}: it can take {what}{first}.{only}",
        meaning="What is in an archive tier cannot be read until it is restored, which takes hours. Take the tables' "
        "prefixes out of the configuration, or disable it.",
        evidence={
            "rule": tiers.name,
            "prefix": tiers.scope.prefix,
            "tables": list(dict.fromkeys(known))[:MOST_NAMED],
            "bites_at": at.isoformat() if at else None,
        },
        severity=Severity.CRITICAL if state is State.UNSAFE else Severity.WARNING,
        state=state,
    )


def _undecided(tiers: ArchiveTiers, unknown: Sequence[Fall]) -> Finding:
    kinds = [words for what, words in _WORDS.items() if any(fall.what is what for fall in unknown)]
    tables = list(dict.fromkeys(fall.table.prefix for fall in unknown))
    return not_checked(
        "archive-tier-undecided",
        f"Whether Intelligent-Tiering configuration {tiers.name} archives {joined(kinds)} of "
        f"{counted(len(tables), 'table')} cannot be decided: their storage class is not known.",
        meaning=f"Objects of the class INTELLIGENT_TIERING fall into {tiers.tier} once nobody read them for "
        f"{counted(tiers.days, 'day')}, others do not.",
        evidence={"rule": tiers.name, "prefix": tiers.scope.prefix, "tables": tables[:MOST_NAMED]},
    )
