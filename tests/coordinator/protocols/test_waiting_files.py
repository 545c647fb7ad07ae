"""Lifecycle rules on files that hold accepted commits: graded by the days that are left, dated, and never green."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from coordinator.protocols.bucket_tables import LostFile, TableInBucket, WaitingFile
from coordinator.protocols.buckets import BucketVerdict, judge_bucket
from coordinator.protocols.deadlines import AtRisk
from coordinator.protocols.verdict import Finding, State
from tests.builders.buckets import lifecycle_rule
from tests.builders.facts import staged_name, temp_name

DAY = timedelta(days=1)
WRITTEN = datetime(2026, 11, 10, 15, 30, tzinfo=UTC)
TMP = "orders/_delta_log/.tmp/"
TAG = {"Key": "k", "Value": "v"}


def rule(prefix: str = TMP, days: int | None = 7, **more: Any) -> dict[str, Any]:
    return lifecycle_rule(prefix, days, **more)


def orders(*waiting: WaitingFile, **facts: Any) -> TableInBucket:
    return TableInBucket("orders", waiting or (WaitingFile(42, temp_name(42), WRITTEN, 900),), **facts)


def judged(now: datetime, *rules: Any, tables: tuple[TableInBucket, ...] = (), **facts: Any) -> BucketVerdict:
    description = {"name": "lake", "versioning": "Enabled", "lifecycle_rules": list(rules), "tiering": [], **facts}
    return judge_bucket(description, tables or (orders(),), now=now)


def about_waiting(verdict: BucketVerdict) -> Finding:
    codes = ("lifecycle-takes-unpublished", "lifecycle-would-take-unpublished", "lifecycle-date-unknown")
    (found,) = [one for one in verdict.assessment.findings if one.code in codes]
    return found


BITES = datetime(2026, 11, 18, tzinfo=UTC)
"""The midnight by which seven days have passed since it was written."""


COPY, AT = "the only copy of an unpublished commit of orders", "at 18 Nov 2026 00:00 UTC"
OF_NO_SIZE, OF_NO_AGE = (orders(WaitingFile(42, temp_name(42), at)) for at in (WRITTEN, None))
ARCHIVED = {"Transitions": [{"Days": 4, "StorageClass": "DEEP_ARCHIVE"}]}
UNREAD = TableInBucket("orders", is_read=False)
LOST = TableInBucket("orders", lost=(LostFile(7, (temp_name(7),), WRITTEN),))
RETURNS = TableInBucket("returns", (WaitingFile(7, temp_name(7), WRITTEN - 2 * DAY, 1),))
OLD_VERSIONS = {"NoncurrentVersionExpiration": {"NoncurrentDays": 7}}
KEPT = {"NoncurrentVersionExpiration": {"NoncurrentDays": 7, "NewerNoncurrentVersions": 1}}


@pytest.mark.parametrize(
    ("now", "given", "tables", "state", "summary"),
    [
        (BITES - 4 * DAY, rule(), (orders(),), State.ATTENTION,
         f"Rule r1 will delete {COPY} {AT}."),
        (BITES - 4 * DAY, rule(filters={"ObjectSizeGreaterThan": 10**9}), (OF_NO_SIZE,), State.ATTENTION,
         f"Rule r1 will delete {COPY} {AT}, if it is larger than 1000000000 B, which is not known."),
        (BITES - DAY, rule(filters={"Tags": [TAG]}), (orders(),), State.UNSAFE,
         f"Rule r1 will delete {COPY} {AT}, if it is tagged k=v, which is not known."),
        (WRITTEN + 2 * DAY, rule(days=30, **ARCHIVED), (orders(),), State.ATTENTION,
         f"Rule r1 will archive {COPY} at 15 Nov 2026 00:00 UTC."),
        (BITES, rule(), (OF_NO_AGE,), State.NOT_CHECKED,
         "Rule r1 takes the only copy of commit 42 of orders, and when is not known: nothing tells when its file was "
         "written."),
        (BITES, rule(), (UNREAD,), State.NOT_CHECKED,
         "Whether a commit waits where a rule deletes files is not known of 1 table, read in part or not at all."),
        (BITES, rule("returns/"), (UNREAD,), State.HEALTHY, None),
        (BITES - 4 * DAY, rule(days=None, **OLD_VERSIONS), (LOST,), State.ATTENTION,
         "The file of commit 7 of orders is gone. Where versioning kept it, rule r1 deletes that old version by "
         "18 Nov 2026 00:00 UTC."),
        (BITES - DAY, rule(days=None, **KEPT), (LOST,), State.HEALTHY, None),
    ],
    ids=[
        "in four days", "of unknown size", "a tag", "an archive", "of unknown age", "a table unread",
        "unread elsewhere", "an old version", "the newest old version is kept",
    ],
)  # fmt: skip
def test_what_a_rule_takes_gives_the_bucket_its_sentence(now, given, tables, state, summary) -> None:
    assessment = judged(now, given, tables=tables).assessment

    assert (assessment.state, assessment.summary) == (state, summary or assessment.summary)


def test_the_first_of_several_tables_is_named_and_the_others_are_counted() -> None:
    found = about_waiting(judged(BITES - 4 * DAY, rule(""), tables=(orders(), RETURNS)))

    assert "an unpublished commit of returns and of 1 other table at 16 Nov 2026 00:00 UTC" in found.summary


def test_a_deadline_without_a_date_is_kept_and_one_that_is_over_is_not() -> None:
    lost = judged(BITES - 4 * DAY, rule(days=None, **OLD_VERSIONS), tables=(LOST,))

    assert [(one.at, one.state) for one in judged(BITES, rule(), tables=(OF_NO_AGE,)).deadlines] == [
        (None, State.NOT_CHECKED)
    ]
    assert [(one.at, one.what) for one in lost.deadlines] == [(BITES, AtRisk.LOST)]
    assert judged(BITES, rule(days=None, **OLD_VERSIONS), tables=(LOST,)).deadlines == ()


@pytest.mark.parametrize(
    ("left", "state"),
    [
        (timedelta(days=14, seconds=1), State.HEALTHY),
        (timedelta(days=14), State.ATTENTION),
        (timedelta(days=1, seconds=1), State.ATTENTION),
        (timedelta(days=1), State.UNSAFE),
        (timedelta(0), State.UNSAFE),
        (-3 * DAY, State.UNSAFE),
    ],
)
def test_the_days_that_are_left_decide(left: timedelta, state: State) -> None:
    bites = datetime(2026, 12, 11, tzinfo=UTC)
    verdict = judged(bites - left, rule(days=30))

    assert verdict.assessment.state is state
    assert f"at {bites:%d %b %Y} 00:00 UTC" in about_waiting(verdict).summary
    assert [one.at for one in verdict.deadlines] == [bites]


def test_each_change_of_the_verdict_by_the_clock_is_foretold() -> None:
    bites = datetime(2026, 12, 11, tzinfo=UTC)
    moments, now = [], WRITTEN + DAY
    while (at := judged(now, rule(days=30)).judge_again_at) is not None:
        moments.append(at)
        now = at

    assert moments == [bites - 14 * DAY, bites - DAY, bites]


def test_a_commit_in_its_writers_hands_is_no_trouble_and_judged_again_when_it_no_longer_can_be() -> None:
    now = WRITTEN + timedelta(seconds=30)
    verdict = judged(now, rule(days=3))

    assert verdict.assessment.state is State.HEALTHY
    assert verdict.judge_again_at == WRITTEN + timedelta(seconds=60)
    assert judged(WRITTEN + timedelta(seconds=60), rule(days=3)).assessment.state is State.ATTENTION


@pytest.mark.parametrize(
    ("file", "prefix", "is_taken"),
    [
        (temp_name(42), ".tmp", True),
        (temp_name(42), "_staged_commits/", False),
        (temp_name(42), temp_name(42), True),
        (temp_name(42), f"{temp_name(42)}0", False),
        (staged_name(42), "_staged_commits/", True),
        (staged_name(42), ".tmp/", False),
        ("", "_staged_commits/", True),
        ("", "_commits/", True),
        ("", ".tmp/", False),
        ("_commit_7f3c9b52.json.tmp", "_commit_", True),
    ],
)
def test_only_a_prefix_that_the_files_key_can_have_takes_it(file: str, prefix: str, is_taken: bool) -> None:
    verdict = judged(BITES - DAY, rule(f"orders/_delta_log/{prefix}"), tables=(orders(WaitingFile(42, file, WRITTEN)),))

    assert (verdict.assessment.state is State.UNSAFE) == bool(verdict.deadlines) == is_taken
    assert "lifecycle-reaches-log" not in [one.code for one in verdict.assessment.findings]


def test_of_several_rules_the_soonest_is_told() -> None:
    verdict = judged(WRITTEN + 5 * DAY, rule(days=12), rule(days=9) | {"ID": "r2"})

    assert "Rule r2 will delete" in verdict.assessment.summary
    assert [one.rule for one in verdict.deadlines] == ["r2", "r1"]


def test_of_one_moment_an_unpublished_commit_comes_before_what_may_be_a_last_copy() -> None:
    copies = (WaitingFile(7, temp_name(7, str(number)), WRITTEN, 900, is_last_copy=True) for number in range(2))
    earlier = TableInBucket("lines", tuple(copies))
    verdict = judged(BITES - 4 * DAY, rule(""), tables=(earlier, orders()))

    assert [one.at for one in verdict.deadlines[:3]] == [BITES] * 3
    assert verdict.deadlines[0].what is AtRisk.UNPUBLISHED


def test_of_what_is_equally_bad_the_soonest_gives_the_bucket_its_sentence() -> None:
    later = {"ID": "years", "Status": "Enabled", "Filter": {"Prefix": "orders/"}, "Expiration": {"Days": 3_650}}
    verdict = judged(BITES - DAY, later, rule(), tables=(orders(oldest_log_at=WRITTEN),))

    codes = [one.code for one in verdict.assessment.findings if one.state is State.UNSAFE]
    assert codes == ["lifecycle-takes-unpublished", "lifecycle-reaches-log"]
    assert "at 18 Nov 2026 00:00 UTC" in verdict.assessment.summary


@pytest.mark.parametrize(
    ("versioning", "stays"), [("Enabled", True), ("Suspended", False), ("Off", False), (None, False)]
)
def test_what_versioning_keeps_is_said(versioning: str | None, stays: bool) -> None:
    finding = about_waiting(judged(BITES - DAY, rule(), versioning=versioning))

    assert ("stays as an old version" in finding.meaning) is stays


@pytest.mark.parametrize(
    ("left", "is_certain", "state", "code"),
    [
        (20 * DAY, True, State.HEALTHY, "lifecycle-would-take-last-copy"),
        (20 * DAY, False, State.HEALTHY, "lifecycle-would-take-last-copy"),
        (4 * DAY, True, State.ATTENTION, "lifecycle-takes-unpublished"),
        (4 * DAY, False, State.ATTENTION, "lifecycle-takes-unpublished"),
        (timedelta(hours=3), True, State.UNSAFE, "lifecycle-takes-unpublished"),
        (timedelta(hours=3), False, State.ATTENTION, "lifecycle-takes-unpublished"),
    ],
)
def test_what_was_perhaps_never_accepted_alarms_nobody(left, is_certain, state, code) -> None:
    file = WaitingFile(42, temp_name(42), WRITTEN, 900, is_last_copy=True, is_certain=is_certain)
    verdict = judged(BITES - left, rule(), tables=(orders(file),))

    [found] = [one for one in verdict.assessment.findings if one.code == code]
    assert (verdict.assessment.state, found.state) == (state, state)
    assert "the last copy of a commit of orders at 18 Nov 2026 00:00 UTC." in found.summary
    assert [(one.what, one.at) for one in verdict.deadlines] == [(AtRisk.LAST_COPY, BITES)]
