"""What S3 may do on its own to the logs and the data of the tables in a bucket."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from coordinator.protocols.archive_tiers import (
    ArchiveTiers,
    read_configurations,
    tier_deadlines,
    tier_findings,
    tier_hits,
    tier_waiting,
)
from coordinator.protocols.bucket_tables import TableInBucket, TablesByPrefix, cuts_of
from coordinator.protocols.deadlines import AtRisk, Deadline, moment_in_words, next_change, soonest_first
from coordinator.protocols.judgement import (
    GRACE_SECONDS,
    Assessment,
    assessed,
    note,
    unread_facts,
    unread_finding,
    worst_first,
)
from coordinator.protocols.lifecycle import MOST_RULES, LifecycleRule, read_rules
from coordinator.protocols.published_reach import published_deadlines, published_findings, reach_of
from coordinator.protocols.verdict import Finding, Severity, State, attention, not_checked
from coordinator.protocols.waiting_files import (
    lost_deadlines,
    lost_findings,
    short_findings,
    waiting_deadlines,
    waiting_findings,
)
from coordinator.protocols.wording import counted, joined, thousands, verb

FEW_RULES_LEFT = 50

_OF_COMMITS = (AtRisk.UNPUBLISHED, AtRisk.LAST_COPY, AtRisk.LOST)


@dataclass(frozen=True, slots=True)
class BucketVerdict:
    """The assessment, every deadline soonest first, and when the clock alone changes one of them, None for never."""

    assessment: Assessment
    deadlines: tuple[Deadline, ...] = ()
    judge_again_at: datetime | None = None


_Part = tuple[Iterable[Finding], Sequence[Deadline]]
"""What one rule or configuration contributes."""


def judge_bucket(
    facts: Mapping[str, Any], tables: Sequence[TableInBucket], *, now: datetime, stores_region: str = ""
) -> BucketVerdict:
    """Judge one bucket by `lake.aws.buckets.BucketDescription` as JSON.

    `tables` are the tables in it; `stores_region` is where the commit stores of its tables are, "" where that is not
    known.
    """
    raw = facts.get("lifecycle_rules")
    rules = read_rules(raw or (), facts.get("least_size_moved") or "")
    tiers = read_configurations(facts.get("tiering") or ())
    by_prefix = TablesByPrefix(tables)
    keeps_versions = facts.get("versioning") == "Enabled"
    parts = [_of_rule(rule, by_prefix.reached_by(rule.prefix), now, keeps_versions) for rule in rules]
    parts += _of_tiers(tiers, rules, by_prefix, now)
    deadlines = soonest_first(deadline for _, of_part in parts for deadline in of_part)
    findings = [*_notes(facts, stores_region), *_unread(facts)]
    if raw is not None:
        findings += rule_troubles(len(raw), rules, facts.get("name") or "", tables)
    findings += [finding for of_part, _ in parts for finding in of_part]
    all_is_well = _all_is_well(rules, tiers, tables, deadlines)
    assessment = assessed(_worst_and_soonest_first(findings), all_is_well)
    return BucketVerdict(assessment, deadlines, _judge_again_at(deadlines, tables, now))


def _unread(facts: Mapping[str, Any]) -> list[Finding]:
    """Facts that were refused, and those without which nothing may be called well and that are not there."""
    needed = {"lifecycle": "lifecycle_rules", "archive tiers": "tiering"}
    absent = {fact: "no answer of S3 is kept" for fact, key in needed.items() if facts.get(key) is None}
    return [unread_finding(fact, why) for fact, why in (absent | unread_facts(facts)).items()]


def _of_rule(rule: LifecycleRule, reached: Sequence[TableInBucket], now: datetime, keeps_versions: bool) -> _Part:
    """The worst that the rule does, over the tables it reaches."""
    if not reached or (not rule.acts and not rule.deletes_old_versions):
        return (), ()
    lost = lost_deadlines(rule, reached, now)
    findings = lost_findings(rule, lost)
    if not rule.acts:
        summary = f"Rule {rule.name} deletes old versions of log or data files."
        meaning = "What it deletes cannot be brought back."
        return [*findings, note("deletes-old-versions", summary, meaning, rule=rule.name)], lost
    hits = reach_of(rule, reached)
    reaches_log = any(hit.what is AtRisk.LOG for hit in hits)
    waiting = waiting_deadlines(rule, reached, now)
    findings += published_findings(rule, reached, hits, now)
    of_waiting = list(waiting_findings(rule, waiting, reaches_log=reaches_log, keeps_versions=keeps_versions))
    findings += of_waiting
    if not reaches_log and not any(finding.state.rank <= State.ATTENTION.rank for finding in of_waiting):
        findings += short_findings(rule, reached)
    return findings, [*lost, *published_deadlines(rule, hits), *waiting]


def _of_tiers(
    tiers: Sequence[ArchiveTiers], rules: Sequence[LifecycleRule], tables: TablesByPrefix, now: datetime
) -> list[_Part]:
    moving = [rule for rule in rules if rule.tiers]
    found: list[_Part] = []
    for one in tiers:
        reached = tables.reached_by(one.scope.prefix)
        hits = tier_hits(one, moving, reached)
        published, waiting = tier_deadlines(one, hits, now), tier_waiting(one, reached, now)
        findings = tier_findings(one, hits, published)
        findings += waiting_findings(one.scope, waiting, reaches_log=True, keeps_versions=False)
        found.append((findings, [*published, *waiting]))
    return found


def _worst_and_soonest_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Of findings that are equally bad the one that comes true first, so that it gives the bucket its sentence."""
    severities = list(Severity)
    ordered = sorted(worst_first(findings), key=_moment_of)
    return tuple(sorted(ordered, key=lambda one: (one.state.rank, severities.index(one.severity))))


def _moment_of(finding: Finding) -> tuple[bool, str]:
    """The moment that a finding names, as ISO 8601 in UTC; those without one come last."""
    at = finding.evidence.get("first_bites_at") or finding.evidence.get("bites_at")
    return at is None, str(at or "")


def _judge_again_at(deadlines: Sequence[Deadline], tables: Iterable[TableInBucket], now: datetime) -> datetime | None:
    """When a deadline comes nearer by a grade or passes, or a commit is no longer in its writer's hands."""
    changes = [at] if (at := next_change(deadlines, now)) else []
    if any(one.what in (AtRisk.UNPUBLISHED, AtRisk.LAST_COPY) and one.state is State.HEALTHY for one in deadlines):
        grace = timedelta(seconds=GRACE_SECONDS)
        young = (one.written_at for table in tables for one in table.waiting if one.is_young(now))
        changes += [written_at + grace for written_at in young if written_at]
    return min(changes, default=None)


def _all_is_well(
    rules: Sequence[LifecycleRule],
    tiers: Sequence[ArchiveTiers],
    tables: Sequence[TableInBucket],
    deadlines: Sequence[Deadline],
) -> str:
    """What was compared with what, and no more: rules in force, tables as known, and the first date that is to come."""
    if not tables:
        return f"No Delta table is known in this bucket, so nothing was compared with its {_in_force(rules, tiers)}."
    if not rules and not tiers:
        return "No lifecycle rule and no archive configuration is in force."
    waits = [one.at for one in deadlines if one.at is not None and one.what in _OF_COMMITS]
    until = f" before {moment_in_words(min(waits))}" if waits else ""
    return (
        f"By prefix, size and age, its {_in_force(rules, tiers)} "
        f"{verb(len(rules) + len(tiers), 'takes', 'take')} no published log or data file of the "
        f"{counted(len(tables), 'known table')}, and no commit that waits to be published{until}."
    )


def _in_force(rules: Sequence[LifecycleRule], tiers: Sequence[ArchiveTiers]) -> str:
    told = [counted(len(rules), "lifecycle rule")] if rules or not tiers else []
    return joined([*told, *([counted(len(tiers), "archive configuration")] if tiers else [])])


def _notes(facts: Mapping[str, Any], stores_region: str) -> Iterator[Finding]:
    status, region = facts.get("versioning"), facts.get("region")
    if status in ("Suspended", "Off"):
        meaning = "A deleted or overwritten log file cannot be brought back from this bucket."
        yield note("no-versioning", f"Versioning is {str(status).lower()}.", meaning, versioning=status)
    if facts.get("replication") is True:
        # No way back from a lost commit: S3 replicates in no promised order, and not what expires.
        meaning = (
            "Objects arrive there in no promised order, so the copy of a log may miss a version for a while; what a "
            "lifecycle rule deletes here is not deleted there."
        )
        yield note("replicated", "Objects are replicated to another bucket.", meaning)
    if region and stores_region and region != stores_region:
        summary = f"The bucket is in {region}, the commit stores of its connection are in {stores_region}."
        meaning = "Each commit through a store waits for both, and a writer's settings have to name both regions."
        yield note("other-region", summary, meaning, region=region, stores_region=stores_region)


def rule_troubles(
    count: int, rules: Sequence[LifecycleRule], bucket: str, tables: Sequence[TableInBucket]
) -> list[Finding]:
    """`count` is that of all rules, `rules` those in force; `bucket` is the bucket's name, "" where it is not known."""
    return [
        *_whole_bucket(count, rules),
        *_temp_rules(rules, tables),
        *_unclear(rules),
        *_misplaced(rules, bucket, TablesByPrefix(tables)),
        *_unread_tables(rules, tables),
    ]


def _unclear(rules: Iterable[LifecycleRule]) -> Iterator[Finding]:
    for rule in rules:
        if rule.unclear:
            yield not_checked(
                "lifecycle-not-understood",
                f"What rule {rule.name} does cannot be decided: {rule.unclear}.",
                meaning="It may take what a table needs.",
                evidence={"rule": rule.name, "trouble": rule.unclear},
            )


def _misplaced(rules: Iterable[LifecycleRule], bucket: str, tables: TablesByPrefix) -> Iterator[Finding]:
    """Rules whose prefix no key of a table can begin with, though it was meant to."""
    for rule in rules:
        meant = _meant(rule.prefix, bucket)
        if meant == rule.prefix:
            continue
        summary = (
            f"Rule {rule.name} never applies to a table: its prefix {rule.prefix} begins with "
            f"{'a slash' if rule.prefix.startswith('/') else 'the name of a bucket'}, and no key of a table does."
        )
        meaning = f"A prefix begins where a key does: write {meant or 'an empty prefix, for the whole bucket'}."
        evidence = {"rule": rule.name, "prefix": rule.prefix, "meant": meant}
        if tables.reached_by(meant):
            yield attention("lifecycle-never-applies", summary, None, meaning, evidence)
        else:
            yield note("lifecycle-never-applies", summary, meaning, **evidence)


def _meant(prefix: str, bucket: str) -> str:
    """The prefix without what stands before the key: slashes, or scheme and bucket."""
    for scheme in ("s3://", "s3a://", "s3n://"):
        if bucket and f"{prefix}/".startswith(f"{scheme}{bucket}/"):
            return prefix.removeprefix(scheme).removeprefix(bucket).lstrip("/")
    return prefix.lstrip("/")


def _unread_tables(rules: Iterable[LifecycleRule], tables: Iterable[TableInBucket]) -> Iterator[Finding]:
    """Tables whose temp or staged files a rule takes, and of which it is not known whether a commit waits in them."""
    by_prefix = TablesByPrefix(table for table in tables if not table.is_read)
    unread = {
        table.prefix
        for rule in rules
        if rule.acts
        for table in by_prefix.reached_by(rule.prefix)
        if any(rule.reaches(folder) for folder in table.held)
    }
    if unread:
        count = counted(len(unread), "table")
        yield not_checked(
            "waiting-not-known",
            f"Whether a commit waits where a rule deletes files is not known of {count}, read in part or not at all.",
            meaning="A rule on temp or staged files takes the only copy of a commit that waits unpublished.",
            evidence={"tables": sorted(unread)[:20]},
        )


def _temp_rules(rules: Sequence[LifecycleRule], tables: Sequence[TableInBucket]) -> Iterator[Finding]:
    """Whether finished temp files ever leave by a rule; nobody else deletes them."""
    if not tables:
        return
    sweeping = [rule for rule in rules if not rule.conditions and any(not act.archives for act in rule.acts)]
    prefixes = {rule.prefix for rule in sweeping}
    covered = [table for table in tables if not prefixes.isdisjoint(cuts_of(table.held[0]))]
    summary = f"{thousands(len(covered))} of {counted(len(tables), 'table')} have a lifecycle rule on .tmp."
    meaning = "Writers never delete finished temp files; without a rule somebody else has to."
    yield note("temp-rules", summary, meaning, tables=len(tables), covered=len(covered))


def _whole_bucket(count: int, rules: Iterable[LifecycleRule]) -> Iterator[Finding]:
    """Whether there is room for more rules, and one ends uploads that never ended, which are billed and unseen."""
    left = MOST_RULES - count
    if left <= FEW_RULES_LEFT:
        yield attention(
            "few-rules-left",
            f"{thousands(max(left, 0))} lifecycle rules are left of {thousands(MOST_RULES)}.",
            meaning="A rule takes one prefix, so a rule for each table does not scale.",
            evidence={"rules": count},
        )
    if not any(rule.ends_all_uploads for rule in rules):
        meaning = "Writers that die while they upload leave parts that no listing shows and that are billed for ever."
        yield note("unfinished-uploads-stay", "No rule ends unfinished uploads in the whole bucket.", meaning)
