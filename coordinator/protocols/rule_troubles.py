"""What is wrong with lifecycle rules as such, whatever moment it is: unclear, misplaced, missing, or too many."""

from collections.abc import Iterable, Sequence

from coordinator.protocols.bucket_tables import TableInBucket, TablesByPrefix, cuts_of
from coordinator.protocols.judgement import note
from coordinator.protocols.lifecycle import LifecycleRule, ends_unfinished_uploads, unclear_rules
from coordinator.protocols.verdict import Finding, Severity, State
from coordinator.protocols.wording import counted, thousands

MOST_RULES = 1_000
"""Lifecycle rules that S3 allows in one bucket."""

FEW_RULES_LEFT = 50


def rule_troubles(
    raw: Sequence[object], rules: Sequence[LifecycleRule], bucket: str, tables: Sequence[TableInBucket]
) -> list[Finding]:
    """`raw` are all rules as read, `rules` those in force; `bucket` is the bucket's name, "" where it is not known."""
    return [
        *_room(len(raw)),
        *_multipart(raw),
        *_temp_rules(rules, tables),
        *_unclear(raw),
        *_misplaced(rules, bucket, TablesByPrefix(tables)),
        *_unread_tables(rules, tables),
    ]


def _unclear(raw: Iterable[object]) -> list[Finding]:
    return [
        Finding(
            "lifecycle-not-understood",
            Severity.WARNING,
            State.NOT_CHECKED,
            f"What rule {name} does cannot be decided: {trouble}.",
            meaning="It may take what a table needs.",
            evidence={"rule": name, "trouble": trouble},
        )
        for name, trouble in unclear_rules(raw)
    ]


def _misplaced(rules: Iterable[LifecycleRule], bucket: str, tables: TablesByPrefix) -> list[Finding]:
    """Rules whose prefix no key of a table can begin with, though it was meant to."""
    found = []
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
            finding = Finding(
                "lifecycle-never-applies", Severity.WARNING, State.ATTENTION, summary, None, meaning, evidence
            )
        else:
            finding = note("lifecycle-never-applies", summary, meaning, **evidence)
        found.append(finding)
    return found


def _meant(prefix: str, bucket: str) -> str:
    """The prefix without what stands before the key: slashes, or scheme and bucket."""
    for scheme in ("s3://", "s3a://", "s3n://"):
        if bucket and f"{prefix}/".startswith(f"{scheme}{bucket}/"):
            return prefix.removeprefix(scheme).removeprefix(bucket).lstrip("/")
    return prefix.lstrip("/")


def _unread_tables(rules: Iterable[LifecycleRule], tables: Iterable[TableInBucket]) -> list[Finding]:
    """Tables whose temp or staged files a rule takes, and of which it is not known whether a commit waits in them."""
    by_prefix = TablesByPrefix(table for table in tables if not table.is_read)
    unread = {
        table.prefix
        for rule in rules
        if rule.acts
        for table in by_prefix.reached_by(rule.prefix)
        if any(rule.reaches(folder) for folder in table.held)
    }
    if not unread:
        return []
    count = counted(len(unread), "table")
    return [
        Finding(
            "waiting-not-known",
            Severity.WARNING,
            State.NOT_CHECKED,
            f"Whether a commit waits where a rule deletes files is not known of {count}, read in part or not at all.",
            meaning="A rule on temp or staged files takes the only copy of a commit that waits unpublished.",
            evidence={"tables": sorted(unread)[:20]},
        )
    ]


def _temp_rules(rules: Sequence[LifecycleRule], tables: Sequence[TableInBucket]) -> list[Finding]:
    """Whether finished temp files ever leave by a rule; nobody else deletes them."""
    if not tables:
        return []
    sweeping = [rule for rule in rules if not rule.conditions and any(not act.archives for act in rule.acts)]
    prefixes = {rule.prefix for rule in sweeping}
    covered = [table for table in tables if not prefixes.isdisjoint(cuts_of(table.held[0]))]
    summary = f"{thousands(len(covered))} of {counted(len(tables), 'table')} have a lifecycle rule on .tmp."
    meaning = "Writers never delete finished temp files; without a rule somebody else has to."
    return [note("temp-rules", summary, meaning, tables=len(tables), covered=len(covered))]


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


def _multipart(rules: Sequence[object]) -> list[Finding]:
    """Whether parts of uploads that never ended leave by a rule for the whole bucket; they are billed and unseen."""
    if any(ends_unfinished_uploads(rule) for rule in rules):
        return []
    meaning = "Writers that die while they upload leave parts that no listing shows and that are billed for ever."
    return [note("unfinished-uploads-stay", "No rule ends unfinished uploads in the whole bucket.", meaning)]
