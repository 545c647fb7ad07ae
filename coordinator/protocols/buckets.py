"""What S3 may do on its own to the logs and the data of the tables in a bucket."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Any

from coordinator.protocols.assessment import (
    Assessment,
    as_mapping,
    assessed,
    not_checked,
    note,
    unread_facts,
    unread_finding,
)
from coordinator.protocols.lifecycle import Act, Rule, ends_unfinished_uploads, read_rules
from coordinator.protocols.names import STAGED_FOLDERS
from coordinator.protocols.verdict import Finding, Severity, State
from coordinator.protocols.wording import counted, joined, thousands

MOST_RULES = 1_000
"""Lifecycle rules that S3 allows in one bucket."""

FEW_RULES_LEFT = 50
SHORTEST_TEMP_DAYS = 3
"""Days that a temp or staged file should live at least: a stopped writer's commit waits in it to be published."""

HELD_FOLDERS = (".tmp/", *(f"{folder}/" for folder in STAGED_FOLDERS))
"""Folders of `_delta_log/` whose files are needed until their commit is published, and no longer."""


@dataclass(frozen=True, slots=True)
class TableInBucket:
    """A table's key prefix without slashes at its ends; when its oldest unpublished commit was written, if any.

    `oldest_log_at` is when the oldest commit file that is still in its log was written, None where that is not known.
    """

    prefix: str
    oldest_unpublished_at: datetime | None = None
    oldest_log_at: datetime | None = None

    @property
    def root(self) -> str:
        return f"{self.prefix}/" if self.prefix else ""

    @property
    def log(self) -> str:
        return f"{self.root}_delta_log/"

    @property
    def held(self) -> tuple[str, ...]:
        return tuple(self.log + folder for folder in HELD_FOLDERS)


def diagnose_bucket(
    description: object,
    tables: Iterable[TableInBucket | str] = (),
    *,
    error: str = "",
    now: datetime | None = None,
    stores_region: str = "",
) -> Assessment:
    """Judge one bucket by `lake.aws.buckets.BucketDescription`, or the same as JSON.

    `tables` are the tables in it, or just their prefixes; `error` is the refusal where nothing could be described;
    `stores_region` is where the commit stores of its tables are, "" where that is not known.
    """
    if error:
        return not_checked(error)
    facts = as_mapping(description)
    if not facts:
        return not_checked("the description of the bucket is empty.")
    known = [TableInBucket(one.strip("/")) if isinstance(one, str) else one for one in tables]
    findings = [*_versioning(facts), *_replication(facts), *_other_region(facts, stores_region)]
    findings += [unread_finding(fact, why) for fact, why in unread_facts(facts).items()]
    raw = facts.get("lifecycle_rules")
    if isinstance(raw, list | tuple):
        rules = read_rules(raw)
        findings += _room(len(raw))
        findings += _multipart(raw)
        findings += _temp_rules(rules, known)
        index = _Tables(known)
        for rule in rules:
            findings += _of_rule(rule, index.reached_by(rule), now or datetime.now(UTC))
    return assessed(findings, "No lifecycle rule can reach a published log or data file.")


class _Tables:
    """Tables by root, so that a bucket of a thousand rules and ten thousand tables is judged at once."""

    def __init__(self, tables: Iterable[TableInBucket]) -> None:
        self._by_root = {table.root: table for table in tables}
        self._roots = sorted(self._by_root)

    def reached_by(self, rule: Rule) -> list[TableInBucket]:
        """Tables of which the rule can match a key."""
        inside = self._roots[bisect_left(self._roots, rule.prefix) :]
        roots = set(takewhile(lambda root: root.startswith(rule.prefix), inside))
        roots |= _cuts(rule.prefix) & self._by_root.keys()
        return [self._by_root[root] for root in sorted(roots)]


def _of_rule(rule: Rule, reached: Sequence[TableInBucket], now: datetime) -> list[Finding]:
    """The worst that the rule does, over the tables it reaches."""
    if not reached or (not rule.acts and not rule.deletes_old_versions):
        return []
    if not rule.acts:
        summary = f"Rule {rule.name} deletes old versions of log or data files."
        return [note("deletes-old-versions", summary, "What it deletes cannot be brought back.", rule=rule.name)]
    logs = [table for table in reached if _matters_to_log(rule, table)]
    data = [table for table in reached if not rule.is_within(table.log.rstrip("/"))]
    held = [table for table in reached if any(rule.reaches(folder) for folder in table.held)]
    findings: list[Finding] = []
    if logs or data:
        findings.append(_reaches(rule, logs, data, now))
    deadlines = [(act, table) for act in rule.acts for table in held]
    return findings + _of_held_files(rule, deadlines, bool(logs), now)


def _matters_to_log(rule: Rule, table: TableInBucket) -> bool:
    """Whether the rule can match files of the log besides temp and staged ones."""
    return rule.reaches(table.log) and not any(rule.is_within(folder.rstrip("/")) for folder in table.held)


def first_bite(rule: Rule, tables: Iterable[TableInBucket]) -> datetime | None:
    """When the rule first acts on what these tables still need; None where nothing tells.

    The oldest commit file stands for the log, and for the data: a data file is written before the commit that names it.
    """
    moments = [table.oldest_log_at for table in tables if table.oldest_log_at]
    bites = [act.bites_at(moment) for act in rule.acts for moment in moments]
    return min((one for one in bites if one), default=None)


def bite_in_words(bites_at: datetime | None, now: datetime) -> str:
    """A sentence about the date on which a hazard becomes real, "" where it is not known."""
    if bites_at is None:
        return ""
    word = "It first bites" if bites_at > now else "It has bitten since"
    return f" {word}{' at' if bites_at > now else ''} {bites_at:%d %b %Y %H:%M} UTC."


def _reaches(rule: Rule, logs: Sequence[TableInBucket], data: Sequence[TableInBucket], now: datetime) -> Finding:
    """A rule on published commits, checkpoints or data files: what it takes is still part of the table."""
    parts = [
        f"the log of {counted(len(logs), 'table')}" if logs else "",
        f"data of {counted(len(data), 'table')}" if data else "",
    ]
    conditional = bool(rule.conditions)
    what = joined([part for part in parts if part])
    only = f" Only objects {joined(rule.conditions)}." if conditional else ""
    bites_at = first_bite(rule, [*logs, *data])
    return Finding(
        "lifecycle-reaches-log" if logs else "lifecycle-reaches-data",
        Severity.WARNING if conditional else Severity.CRITICAL,
        State.ATTENTION if conditional else State.UNSAFE,
        f"Rule {rule.name} {joined([act.in_words for act in rule.acts])} under {rule.prefix or 'the whole bucket'}: "
        f"it can reach {what}.{only}{bite_in_words(bites_at, now)}",
        meaning="S3 does not know which files a table still needs. A version whose files are gone can be neither read "
        "nor restored.",
        evidence={
            "rule": rule.name,
            "prefix": rule.prefix,
            "logs": [table.prefix for table in logs[:20]],
            "data": [table.prefix for table in data[:20]],
            "conditions": list(rule.conditions),
            "first_bites_at": bites_at.isoformat() if bites_at else None,
        },
    )


def _of_held_files(
    rule: Rule, deadlines: Sequence[tuple[Act, TableInBucket]], reaches_log: bool, now: datetime
) -> list[Finding]:
    """A rule on temp or staged files: dangerous where it bites before their commit is published."""
    waiting = []
    for act, table in deadlines:
        bites_at = act.bites_at(table.oldest_unpublished_at) if table.oldest_unpublished_at else None
        if bites_at:
            waiting.append((bites_at, table))
    threatened = [pair for pair in waiting if pair[0] - now <= timedelta(days=1)]
    if threatened:
        return [_threatens(rule, min(threatened, key=lambda pair: pair[0]), len(threatened))]
    days = [act.days for act, _ in deadlines if act.days is not None]
    short = bool(days) and min(days) < SHORTEST_TEMP_DAYS
    dated = any(act.date for act, _ in deadlines)
    if (short or dated) and not reaches_log:
        return [_short(rule)]
    return [_would_take(rule, min(waiting, key=lambda pair: pair[0]))] if waiting and not reaches_log else []


def _would_take(rule: Rule, first: tuple[datetime, TableInBucket]) -> Finding:
    """Most commits are published within seconds, so that one waits is no trouble of the bucket until a day before."""
    bites_at, table = first
    return note(
        "lifecycle-would-take-unpublished",
        f"Rule {rule.name} would delete the only copy of a commit of {table.prefix or 'the table'} at "
        f"{bites_at:%d %b %Y %H:%M} UTC, if the commit is still unpublished then.",
        "Publish it before.",
        rule=rule.name,
        table=table.prefix,
        bites_at=bites_at.isoformat(),
    )


def _threatens(rule: Rule, first: tuple[datetime, TableInBucket], count: int) -> Finding:
    bites_at, table = first
    more = f" and of {counted(count - 1, 'other table')}" if count > 1 else ""
    return Finding(
        "lifecycle-takes-unpublished",
        Severity.CRITICAL,
        State.UNSAFE,
        f"Rule {rule.name} will delete the only copy of an unpublished commit of {table.prefix or 'the table'}{more} "
        f"at {bites_at:%d %b %Y %H:%M} UTC.",
        meaning="Once it is gone, the commit is lost and every listing of the table can fail. Publish the commit, or "
        "change the rule.",
        evidence={"rule": rule.name, "prefix": rule.prefix, "table": table.prefix, "bites_at": bites_at.isoformat()},
    )


def _short(rule: Rule) -> Finding:
    return Finding(
        "lifecycle-too-short",
        Severity.WARNING,
        State.ATTENTION,
        f"Rule {rule.name} {joined([act.in_words for act in rule.acts])} under {rule.prefix}: a commit that waits "
        f"there unpublished is lost with its file.",
        meaning=f"Temp and staged files are needed until their commit is published. Give them "
        f"{SHORTEST_TEMP_DAYS} days or more.",
        evidence={"rule": rule.name, "prefix": rule.prefix},
    )


def _temp_rules(rules: Sequence[Rule], tables: Sequence[TableInBucket]) -> list[Finding]:
    """Whether finished temp files ever leave by a rule; nobody else deletes them."""
    if not tables:
        return []
    sweeping = [rule for rule in rules if not rule.conditions and any(not act.archives for act in rule.acts)]
    prefixes = {rule.prefix for rule in sweeping}
    covered = [table for table in tables if not prefixes.isdisjoint(_cuts(table.held[0]))]
    summary = f"{thousands(len(covered))} of {counted(len(tables), 'table')} have a lifecycle rule on .tmp."
    meaning = "Writers never delete finished temp files; without a rule somebody else has to."
    return [note("temp-rules", summary, meaning, tables=len(tables), covered=len(covered))]


def _cuts(key: str) -> set[str]:
    """Every prefix of a key."""
    return {key[:end] for end in range(len(key) + 1)}


def _room(count: int) -> list[Finding]:
    left = MOST_RULES - count
    if left > FEW_RULES_LEFT:
        return []
    return [
        Finding(
            "few-rules-left",
            Severity.WARNING,
            State.ATTENTION,
            f"{thousands(max(left, 0))} lifecycle rules are left of {thousands(MOST_RULES)}.",
            meaning="A rule takes one prefix, so a rule for each table does not scale.",
            evidence={"rules": count},
        )
    ]


def _versioning(facts: Mapping[str, Any]) -> list[Finding]:
    status = facts.get("versioning")
    if status in ("Suspended", "Off"):
        word = "suspended" if status == "Suspended" else "off"
        meaning = "A deleted or overwritten log file cannot be brought back from this bucket."
        return [note("no-versioning", f"Versioning is {word}.", meaning, versioning=status)]
    return []


def _replication(facts: Mapping[str, Any]) -> list[Finding]:
    """Copies elsewhere are no way back from a lost commit: S3 replicates in no promised order, and not what expires."""
    if facts.get("replication") is not True:
        return []
    meaning = (
        "Objects arrive there in no promised order, so the copy of a log may miss a version for a while; what a "
        "lifecycle rule deletes here is not deleted there."
    )
    return [note("replicated", "Objects are replicated to another bucket.", meaning)]


def _other_region(facts: Mapping[str, Any], stores_region: str) -> list[Finding]:
    region = facts.get("region")
    if not region or not stores_region or region == stores_region:
        return []
    summary = f"The bucket is in {region}, the commit stores of its connection are in {stores_region}."
    meaning = "Each commit through a store waits for both, and a writer's settings have to name both regions."
    return [note("other-region", summary, meaning, region=region, stores_region=stores_region)]


def _multipart(rules: Sequence[object]) -> list[Finding]:
    """Whether parts of uploads that never ended leave by a rule for the whole bucket; they are billed and unseen."""
    if any(ends_unfinished_uploads(rule) for rule in rules):
        return []
    meaning = "Writers that die while they upload leave parts that no listing shows and that are billed for ever."
    return [note("unfinished-uploads-stay", "No rule ends unfinished uploads in the whole bucket.", meaning)]
