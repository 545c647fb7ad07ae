"""Plans for a bucket's lifecycle rules: the rule on finished temp files, and that on unfinished uploads. Pure."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, assert_never

from changes.plan import NOTHING_TO_DO, ChangePlan, Refusal
from coordinator.protocols.deadlines import WARNED_BEFORE, moment_in_words
from coordinator.protocols.lifecycle import MOST_RULES, LifecycleAction, is_on_temp_files
from coordinator.protocols.waiting_files import SHORTEST_TEMP_DAYS
from coordinator.protocols.wording import DAY, counted, thousands
from coordinator.settings.equivalents import lifecycle_changed
from coordinator.settings.lifecycle_calls import WriteLifecycle
from coordinator.settings.lifecycle_merge import (
    multipart_rule_xml,
    temp_rule_xml,
    uses_old_form,
    with_days,
    with_rule,
    without_rule,
)
from coordinator.settings.requests import RemoveTempRule, SetMultipartRule, SetTempRule
from lake.aws.lifecycle import Lifecycle, RawRule

LifecycleChange = SetTempRule | RemoveTempRule | SetMultipartRule
TEMP_FOLDER = "_delta_log/.tmp/"
BY_AGE_ALONE = (
    "S3 deletes by age alone: where a published file was lost or replaced, its temp file is the last copy of the "
    "commit and goes as well."
)


@dataclass(frozen=True, slots=True)
class BucketFacts:
    """One bucket as just read. `lifecycle` is None where it could not be read, with the reason in `unreadable`.

    `owned` says whether `account` owns the bucket, None where that is not known. By table prefix: `tables` when the
    oldest unpublished commit was written (None: there is none), `longest_commits` the longest that one took, in
    seconds from its temp file to its published file.
    """

    bucket: str
    region: str
    lifecycle: Lifecycle | None
    unreadable: str = ""
    account: str = ""
    owned: bool | None = None
    versioning: str | None = None
    mfa_delete: bool | None = None
    tables: Mapping[str, datetime | None] = field(default_factory=dict)
    longest_commits: Mapping[str, float] = field(default_factory=dict)


def plan_lifecycle(change: LifecycleChange, facts: BucketFacts, now: datetime) -> ChangePlan | Refusal:
    """The one write that makes the change, or why nothing may be done."""
    code, reason = _why_not(facts)
    if reason or facts.lifecycle is None:
        return _refuse(change, code, reason)
    match change:
        case SetTempRule():
            return _set_temp_rule(change, facts, facts.lifecycle, now)
        case RemoveTempRule():
            return _remove_temp_rule(change, facts, facts.lifecycle)
        case SetMultipartRule():
            return _set_multipart_rule(change, facts, facts.lifecycle)
    assert_never(change)


def temp_prefix(prefix: str) -> str:
    """The folder of a table's temp files, as a key prefix."""
    return f"{prefix}/{TEMP_FOLDER}" if prefix else TEMP_FOLDER


def temp_rule_id(prefix: str) -> str:
    """The name of Levee's rule for a table; S3 allows 255 characters, a prefix may have more."""
    return f"levee-tmp-{hashlib.sha256(prefix.encode()).hexdigest()[:16]}"


MULTIPART_RULE_ID = "levee-unfinished-uploads"


def least_days(longest_commit_seconds: float) -> int:
    """Days that temp files have to live: 3, or one more than the longest commit that was seen."""
    return max(SHORTEST_TEMP_DAYS, math.ceil(longest_commit_seconds / DAY) + 1)


def rule_of(lifecycle: Lifecycle, prefix: str) -> RawRule | None:
    """The enabled rule that deletes a table's temp files by age and nothing else, whoever wrote it."""
    own = temp_rule_id(prefix)
    on_prefix = [rule for rule in lifecycle.rules if rule.id == own or _is_plain_on(rule, temp_prefix(prefix))]
    return next((rule for rule in on_prefix if rule.id == own), on_prefix[0] if on_prefix else None)


def _why_not(facts: BucketFacts) -> tuple[str, str]:
    if facts.owned is False:
        return "not-owned", (
            f"The bucket {facts.bucket} belongs to another account than {facts.account}, that of this connection, and "
            "only its owner can set lifecycle rules: use a connection of that account. Nothing was changed."
        )
    if facts.lifecycle is None:
        return "not-read", (
            f"The lifecycle rules of {facts.bucket} could not be read, so none can be changed without disturbing the "
            f"others: {facts.unreadable}"
        )
    if facts.mfa_delete:
        return "mfa-delete", (
            f"{facts.bucket} has MFA delete, and S3 takes no lifecycle rules for such a bucket: sweep its temp files "
            "instead."
        )
    return "", ""


def _set_temp_rule(
    change: SetTempRule, facts: BucketFacts, lifecycle: Lifecycle, now: datetime
) -> ChangePlan | Refusal:
    folder = temp_prefix(change.prefix)
    least = least_days(facts.longest_commits.get(change.prefix, 0))
    if change.days < least:
        return _refuse(
            change,
            "too-short",
            f"A temp file holds an accepted commit until it is published: give the rule {least} days or more, longer "
            "than the longest commit that was seen.",
        )
    if change.prefix not in facts.tables:
        return _refuse(
            change, "no-table", f"Levee knows no Delta table at s3://{facts.bucket}/{change.prefix}: observe it first."
        )
    oldest = facts.tables[change.prefix]
    bites = LifecycleAction(change.days, None).bites_at(oldest) if oldest else None
    if oldest and (bites is None or bites - now <= timedelta(days=1)):
        return _refuse(
            change,
            "unpublished",
            f"A commit of {change.prefix or 'this table'} has waited unpublished since {oldest:%d %b %Y %H:%M} UTC, "
            "and the rule would take its only copy: publish it first.",
        )
    return _put_temp_rule(change, facts, lifecycle, folder)


def _put_temp_rule(change: SetTempRule, facts: BucketFacts, lifecycle: Lifecycle, folder: str) -> ChangePlan | Refusal:
    standing = rule_of(lifecycle, change.prefix)
    own = temp_rule_id(change.prefix)
    versioned = facts.versioning in ("Enabled", "Suspended")
    if standing is not None and standing.id != own:
        if not standing.id:
            return _refuse(
                change,
                "no-name",
                f"A rule without a name deletes {folder} already: name it where it is kept, then change it here.",
            )
        xml = with_days(standing, change.days)
    else:
        xml = temp_rule_xml(own, folder, change.days, old_form=uses_old_form(lifecycle), versioned=versioned)
    merged = with_rule(lifecycle, xml)
    if standing is None and len(merged.rules) > MOST_RULES:
        return _refuse(
            change,
            "no-room",
            f"{facts.bucket} has {thousands(len(lifecycle.rules))} of {thousands(MOST_RULES)} lifecycle rules, so S3 "
            "takes no other: sweep the temp files of its tables instead, which needs no rule.",
        )
    changed = next(rule for rule in merged.rules if rule.id == (standing.id if standing else own))
    if standing is not None and standing.tree == changed.tree:
        return _refuse(change, NOTHING_TO_DO, f"Rule {standing.id} deletes {folder} after {change.days} days already.")
    verb = "Change" if standing else "Add"
    says = f"{verb} rule {changed.id}: delete objects under {folder} after {counted(change.days, 'day')}."
    told = [
        f"Finished temp files under {folder} leave {counted(change.days, 'day')} after they were written, at the next "
        "midnight UTC.",
        f"A commit that waits unpublished longer than that is lost with its file: Levee warns {_warned(change.days)}.",
        *_waiting(change, facts),
        *_kept(lifecycle, changed.id),
    ]
    if versioned and standing is None:
        kept = "Versions are kept in this bucket" if facts.versioning == "Enabled" else "Versions were kept before"
        told.append(f"{kept}: old versions of temp files leave as many days later.")
    title = f"{verb} the rule on temp files of {change.prefix or 'the bucket root'}"
    return replace(
        _plan(change, facts, title, lifecycle, merged, changed.id, xml, says, told), danger=BY_AGE_ALONE, can_lose=True
    )


def _warned(days: int) -> str:
    before = WARNED_BEFORE.days
    return f"from {before} days before on" if days > before else "as soon as one waits"


def _waiting(change: SetTempRule, facts: BucketFacts) -> list[str]:
    """When the rule would take the oldest commit that waits now."""
    oldest = facts.tables.get(change.prefix)
    bites = LifecycleAction(change.days, None).bites_at(oldest) if oldest else None
    if oldest is None or bites is None:
        return []
    return [
        f"One waits since {moment_in_words(oldest)}: the rule takes its only copy at {moment_in_words(bites)}, unless "
        "it is published before."
    ]


def _remove_temp_rule(change: RemoveTempRule, facts: BucketFacts, lifecycle: Lifecycle) -> ChangePlan | Refusal:
    found = [rule for rule in lifecycle.rules if rule.id == change.rule]
    if not found:
        return _refuse(change, NOTHING_TO_DO, f"{facts.bucket} has no rule {change.rule}.")
    prefix = prefix_of(found[0])
    if not is_on_temp_files(prefix):
        return _refuse(
            change,
            "not-a-temp-rule",
            f"Rule {change.rule} reaches {prefix or 'the whole bucket'} and not just temp files of one table: change "
            "it where it is kept.",
        )
    merged = without_rule(lifecycle, change.rule)
    told = [
        f"Temp files under {prefix} then stay until somebody else deletes them; no commit is at risk.",
        *_kept(lifecycle, change.rule),
    ]
    title = f"Remove rule {change.rule} of {facts.bucket}"
    says = f"Remove rule {change.rule}, which deletes objects under {prefix}."
    return _plan(change, facts, title, lifecycle, merged, change.rule, "", says, told)


def _set_multipart_rule(change: SetMultipartRule, facts: BucketFacts, lifecycle: Lifecycle) -> ChangePlan | Refusal:
    other = next((rule.id for rule in lifecycle.rules if rule.id != MULTIPART_RULE_ID and ends_uploads(rule)), None)
    if other is not None:
        named = f"Rule {other}" if other else "A rule without a name"
        return _refuse(change, NOTHING_TO_DO, f"{named} ends unfinished uploads in the whole bucket already.")
    xml = multipart_rule_xml(MULTIPART_RULE_ID, change.days, old_form=uses_old_form(lifecycle))
    merged = with_rule(lifecycle, xml)
    if len(merged.rules) > MOST_RULES:
        return _refuse(
            change, "no-room", f"{facts.bucket} has {thousands(MOST_RULES)} lifecycle rules, and S3 takes no other."
        )
    if {rule.tree for rule in merged.rules} == {rule.tree for rule in lifecycle.rules}:
        return _refuse(
            change,
            NOTHING_TO_DO,
            f"Rule {MULTIPART_RULE_ID} ends unfinished uploads after {change.days} days already.",
        )
    told = [
        f"Parts of uploads that were begun and not finished within {counted(change.days, 'day')} are freed; no object "
        "is deleted.",
        *_kept(lifecycle, MULTIPART_RULE_ID),
    ]
    says = f"Rule {MULTIPART_RULE_ID}: end unfinished uploads after {counted(change.days, 'day')}."
    title = f"End unfinished uploads in {facts.bucket}"
    return _plan(change, facts, title, lifecycle, merged, MULTIPART_RULE_ID, xml, says, told)


def ends_uploads(rule: RawRule) -> bool:
    """Whether an enabled rule ends unfinished uploads in the whole bucket."""
    enabled = any(part[:2] == ("Status", "Enabled") for part in rule.tree[2])
    ends = any(part[0] == "AbortIncompleteMultipartUpload" for part in rule.tree[2])
    return enabled and ends and all(part[:2] == ("Prefix", "") for part in _filter_parts(rule))


def prefix_of(rule: RawRule) -> str:
    """The key prefix that a rule is limited to, in whichever form; "" for the whole bucket."""
    found = _filter_parts(rule)
    return next((text for name, text, _ in found if name == "Prefix"), "")


def _filter_parts(rule: RawRule) -> tuple[Any, ...]:
    parts = rule.tree[2]
    chosen = next((part[2] for part in parts if part[0] == "Filter"), None)
    if chosen is None:
        return tuple(part for part in parts if part[0] == "Prefix")
    inner = next((part[2] for part in chosen if part[0] == "And"), None)
    return inner if inner is not None else chosen


def _is_plain_on(rule: RawRule, folder: str) -> bool:
    """Whether an enabled rule deletes whatever lies in this folder by age, under no other condition."""
    enabled = any(part[:2] == ("Status", "Enabled") for part in rule.tree[2])
    alone = [part[0] for part in _filter_parts(rule)] == ["Prefix"]
    on_folder = prefix_of(rule) in (folder, folder.removesuffix("/"))
    return enabled and alone and on_folder and bool(with_days(rule, 1))


def _kept(lifecycle: Lifecycle, rule_id: str) -> list[str]:
    others = sum(rule.id != rule_id for rule in lifecycle.rules)
    if not others:
        return []
    return [
        f"{counted(others, 'other rule')} {'goes' if others == 1 else 'go'} back byte for byte as S3 sent "
        f"{'it' if others == 1 else 'them'}.",
        "S3 knows no condition for this write: Levee reads the rules just before and again after, and says so if "
        "somebody changed them at that moment.",
    ]


def _plan(
    change: LifecycleChange,
    facts: BucketFacts,
    title: str,
    lifecycle: Lifecycle,
    merged: Lifecycle,
    rule_id: str,
    xml: str,
    says: str,
    consequences: list[str],
) -> ChangePlan:
    owner = facts.account if facts.owned else ""
    call = WriteLifecycle(facts.bucket, rule_id, xml, lifecycle.digest, says, not merged.rules, owner)
    return ChangePlan(
        kind=change.ACT,
        subject=change.bucket,
        title=title,
        calls=(call,),
        conditions=("The lifecycle configuration is, to the byte, the one that this plan was made from.",),
        consequences=tuple(consequences),
        equivalents=lifecycle_changed(facts.bucket, facts.region, lifecycle, merged),
    )


def _refuse(change: LifecycleChange, code: str, reason: str) -> Refusal:
    return Refusal(change.ACT, change.bucket, reason, code)
