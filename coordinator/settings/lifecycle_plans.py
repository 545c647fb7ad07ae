"""Plans for a bucket's lifecycle rules: the rule on finished temp files, and that on unfinished uploads. Pure."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, assert_never

from changes.plan import NOTHING_TO_DO, ChangePlan
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
from coordinator.settings.requests import NotPlanned, RemoveTempRule, SetMultipartRule, SetTempRule
from lake.aws.lifecycle import Lifecycle, RawRule, parse_rule

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


def plan_lifecycle(change: LifecycleChange, facts: BucketFacts, now: datetime) -> ChangePlan:
    """The one write that makes the change. Raises NotPlanned."""
    lifecycle = _changeable(facts)
    match change:
        case SetTempRule():
            return _set_temp_rule(change, facts, lifecycle, now)
        case RemoveTempRule():
            return _remove_temp_rule(change, facts, lifecycle)
        case SetMultipartRule():
            return _set_multipart_rule(change, facts, lifecycle)
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


def _changeable(facts: BucketFacts) -> Lifecycle:
    """The rules as read; raises NotPlanned where none of them may be changed."""
    if facts.owned is False:
        raise NotPlanned(
            "not-owned",
            f"The bucket {facts.bucket} belongs to another account than {facts.account}, that of this connection, and "
            "only its owner can set lifecycle rules: use a connection of that account. Nothing was changed.",
        )
    if facts.lifecycle is None:
        raise NotPlanned(
            "not-read",
            f"The lifecycle rules of {facts.bucket} could not be read, so none can be changed without disturbing the "
            f"others: {facts.unreadable}",
        )
    if facts.mfa_delete:
        raise NotPlanned(
            "mfa-delete",
            f"{facts.bucket} has MFA delete, and S3 takes no lifecycle rules for such a bucket: sweep its temp files "
            "instead.",
        )
    return facts.lifecycle


def _set_temp_rule(change: SetTempRule, facts: BucketFacts, lifecycle: Lifecycle, now: datetime) -> ChangePlan:
    least = least_days(facts.longest_commits.get(change.prefix, 0))
    if change.days < least:
        raise NotPlanned(
            "too-short",
            f"A temp file holds an accepted commit until it is published: give the rule {least} days or more, longer "
            "than the longest commit that was seen.",
        )
    if change.prefix not in facts.tables:
        told = f"Levee knows no Delta table at s3://{facts.bucket}/{change.prefix}: observe it first."
        raise NotPlanned("no-table", told)
    oldest = facts.tables[change.prefix]
    bites = LifecycleAction(change.days, None).bites_at(oldest) if oldest else None
    if oldest and (bites is None or bites - now <= timedelta(days=1)):
        raise NotPlanned(
            "unpublished",
            f"A commit of {change.prefix or 'this table'} has waited unpublished since {oldest:%d %b %Y %H:%M} UTC, "
            "and the rule would take its only copy: publish it first.",
        )
    waits: tuple[str, ...] = ()
    if oldest and bites:
        told = f"One waits since {moment_in_words(oldest)}: the rule takes its only copy at {moment_in_words(bites)}"
        waits = (f"{told}, unless it is published before.",)
    return _put_temp_rule(change, facts, lifecycle, waits)


def _put_temp_rule(change: SetTempRule, facts: BucketFacts, lifecycle: Lifecycle, waits: tuple[str, ...]) -> ChangePlan:
    folder = temp_prefix(change.prefix)
    standing = rule_of(lifecycle, change.prefix)
    own = temp_rule_id(change.prefix)
    versioned = facts.versioning in ("Enabled", "Suspended")
    if standing is not None and standing.id != own:
        if not standing.id:
            raise NotPlanned(
                "no-name",
                f"A rule without a name deletes {folder} already: name it where it is kept, then change it here.",
            )
        xml = with_days(standing, change.days)
    else:
        xml = temp_rule_xml(own, folder, change.days, old_form=uses_old_form(lifecycle), versioned=versioned)
    changed = parse_rule(xml)
    if standing is not None and standing.tree == changed.tree:
        raise NotPlanned(NOTHING_TO_DO, f"Rule {standing.id} deletes {folder} after {change.days} days already.")
    verb = "Change" if standing else "Add"
    says = f"{verb} rule {changed.id}: delete objects under {folder} after {counted(change.days, 'day')}."
    told = [
        f"Finished temp files under {folder} leave {counted(change.days, 'day')} after they were written, at the next "
        "midnight UTC.",
        f"A commit that waits unpublished longer than that is lost with its file: Levee warns {_warned(change.days)}.",
        *waits,
    ]
    if versioned and standing is None:
        kept = "Versions are kept in this bucket" if facts.versioning == "Enabled" else "Versions were kept before"
        told.append(f"{kept}: old versions of temp files leave as many days later.")
    title = f"{verb} the rule on temp files of {change.prefix or 'the bucket root'}"
    plan = _plan(change, facts, lifecycle, title, changed.id, xml, says, told)
    return replace(plan, danger=BY_AGE_ALONE, can_lose=True)


def _warned(days: int) -> str:
    before = WARNED_BEFORE.days
    return f"from {before} days before on" if days > before else "as soon as one waits"


def _remove_temp_rule(change: RemoveTempRule, facts: BucketFacts, lifecycle: Lifecycle) -> ChangePlan:
    found = [rule for rule in lifecycle.rules if rule.id == change.rule]
    if not found:
        raise NotPlanned(NOTHING_TO_DO, f"{facts.bucket} has no rule {change.rule}.")
    prefix = prefix_of(found[0])
    if not is_on_temp_files(prefix):
        raise NotPlanned(
            "not-a-temp-rule",
            f"Rule {change.rule} reaches {prefix or 'the whole bucket'} and not just temp files of one table: change "
            "it where it is kept.",
        )
    told = [f"Temp files under {prefix} then stay until somebody else deletes them; no commit is at risk."]
    title = f"Remove rule {change.rule} of {facts.bucket}"
    says = f"Remove rule {change.rule}, which deletes objects under {prefix}."
    return _plan(change, facts, lifecycle, title, change.rule, "", says, told)


def _set_multipart_rule(change: SetMultipartRule, facts: BucketFacts, lifecycle: Lifecycle) -> ChangePlan:
    other = next((rule.id for rule in lifecycle.rules if rule.id != MULTIPART_RULE_ID and ends_uploads(rule)), None)
    if other is not None:
        named = f"Rule {other}" if other else "A rule without a name"
        raise NotPlanned(NOTHING_TO_DO, f"{named} ends unfinished uploads in the whole bucket already.")
    xml = multipart_rule_xml(MULTIPART_RULE_ID, change.days, old_form=uses_old_form(lifecycle))
    if parse_rule(xml).tree in {rule.tree for rule in lifecycle.rules}:
        told = f"Rule {MULTIPART_RULE_ID} ends unfinished uploads after {change.days} days already."
        raise NotPlanned(NOTHING_TO_DO, told)
    days = counted(change.days, "day")
    freed = f"Parts of uploads that were begun and not finished within {days} are freed; no object is deleted."
    says = f"Rule {MULTIPART_RULE_ID}: end unfinished uploads after {days}."
    title = f"End unfinished uploads in {facts.bucket}"
    return _plan(change, facts, lifecycle, title, MULTIPART_RULE_ID, xml, says, [freed])


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
    lifecycle: Lifecycle,
    title: str,
    rule_id: str,
    xml: str,
    says: str,
    consequences: list[str],
) -> ChangePlan:
    """One rule put or, without `xml`, taken out."""
    merged = with_rule(lifecycle, xml) if xml else without_rule(lifecycle, rule_id)
    if len(merged.rules) > max(MOST_RULES, len(lifecycle.rules)):
        told = f"{facts.bucket} has {thousands(len(lifecycle.rules))} of {thousands(MOST_RULES)} lifecycle rules"
        raise NotPlanned("no-room", f"{told}, so S3 takes no other: sweep temp files instead, which needs no rule.")
    owner = facts.account if facts.owned else ""
    call = WriteLifecycle(facts.bucket, rule_id, xml, lifecycle.digest, says, not merged.rules, owner)
    return ChangePlan(
        kind=change.ACT,
        subject=change.bucket,
        title=title,
        calls=(call,),
        conditions=("The lifecycle configuration is, to the byte, the one that this plan was made from.",),
        consequences=(*consequences, *_kept(lifecycle, rule_id)),
        equivalents=lifecycle_changed(facts.bucket, facts.region, lifecycle, merged),
    )
