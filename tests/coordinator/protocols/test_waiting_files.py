"""Lifecycle rules on files that hold accepted commits: graded by the days that are left, dated, and never green."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from coordinator.protocols.bucket_tables import LostFile, TableInBucket, WaitingFile
from coordinator.protocols.buckets import BucketVerdict, judge_bucket
from coordinator.protocols.deadlines import AtRisk
from coordinator.protocols.verdict import Finding, State
from tests.builders.facts import staged_name, temp_name

DAY = timedelta(days=1)
WRITTEN = datetime(2026, 11, 10, 15, 30, tzinfo=UTC)
TMP = "orders/_delta_log/.tmp/"
TAG = {"Key": "k", "Value": "v"}


def rule(prefix: str = TMP, days: int | None = 7, filters: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    chosen = {"And": {"Prefix": prefix, **filters}} if filters else {"Prefix": prefix}
    expires = {} if days is None else {"Expiration": {"Days": days}}
    return {"ID": "r1", "Status": "Enabled", "Filter": chosen, **expires, **more}


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


def test_a_rule_that_takes_the_only_copy_in_four_days_is_attention_with_its_date_in_the_headline() -> None:
    state, summary, _ = judged(BITES - 4 * DAY, rule()).assessment

    assert (state, summary) == (
        State.ATTENTION,
        "Rule r1 will delete the only copy of an unpublished commit of orders at 18 Nov 2026 00:00 UTC.",
    )


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


def test_where_the_first_date_is_far_away_all_is_well_only_until_then() -> None:
    state, summary, _ = judged(WRITTEN + DAY, rule(days=30)).assessment

    assert (state, summary) == (
        State.HEALTHY,
        "By prefix, size and age, its 1 lifecycle rule takes no published log or data file of the 1 known table, and "
        "no commit that waits to be published before 11 Dec 2026 00:00 UTC.",
    )


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


def test_only_the_folder_in_which_the_file_lies_counts() -> None:
    staged = rule("orders/_delta_log/_staged_commits/")
    coordinated = orders(WaitingFile(42, staged_name(42), WRITTEN))

    assert judged(BITES - DAY, staged).deadlines == ()
    assert judged(BITES - DAY, rule(), tables=(coordinated,)).deadlines == ()
    assert judged(BITES - DAY, staged, tables=(coordinated,)).assessment.state is State.UNSAFE


@pytest.mark.parametrize("folder", ["_staged_commits/", "_commits/"])
def test_a_staged_file_whose_name_is_not_known_may_lie_in_either_folder(folder: str) -> None:
    lost_list = orders(WaitingFile(42, "", WRITTEN))

    assert (
        judged(BITES - DAY, rule(f"orders/_delta_log/{folder}"), tables=(lost_list,)).assessment.state is State.UNSAFE
    )
    assert judged(BITES - DAY, rule(), tables=(lost_list,)).deadlines == ()


def test_a_temp_file_of_delta_rs_lies_beside_the_log() -> None:
    waiting = orders(WaitingFile(42, "_commit_7f3c9b52.json.tmp", WRITTEN))

    assert judged(BITES - DAY, rule("orders/_delta_log/_commit_"), tables=(waiting,)).assessment.state is State.UNSAFE


def test_the_official_prefix_without_its_last_slash_takes_temp_files() -> None:
    verdict = judged(BITES - 4 * DAY, rule("orders/_delta_log/.tmp"))

    assert verdict.assessment.state is State.ATTENTION
    assert "lifecycle-reaches-log" not in [one.code for one in verdict.assessment.findings]


@pytest.mark.parametrize(
    ("limits", "is_taken"),
    [
        ({"ObjectSizeGreaterThan": 899}, True),
        ({"ObjectSizeGreaterThan": 900}, False),
        ({"ObjectSizeLessThan": 900}, False),
        ({"ObjectSizeLessThan": 901}, True),
        ({"ObjectSizeGreaterThan": 800, "ObjectSizeLessThan": 950}, True),
    ],
)
def test_a_limit_of_size_is_held_against_the_real_size(limits: dict[str, int], is_taken: bool) -> None:
    assert bool(judged(BITES - DAY, rule(filters=limits)).deadlines) is is_taken


def test_a_file_of_unknown_size_may_be_of_any() -> None:
    unknown = orders(WaitingFile(42, temp_name(42), WRITTEN))
    verdict = judged(BITES - 4 * DAY, rule(filters={"ObjectSizeGreaterThan": 10**9}), tables=(unknown,))

    assert verdict.assessment.summary.endswith(
        "at 18 Nov 2026 00:00 UTC, if it is larger than 1000000000 B, which is not known."
    )


def test_a_tag_that_nobody_read_is_named_and_does_not_soothe() -> None:
    verdict = judged(BITES - DAY, rule(filters={"Tags": [TAG]}))

    assert verdict.assessment.state is State.UNSAFE
    assert verdict.assessment.summary.endswith("if it is tagged k=v, which is not known.")


def test_a_file_of_unknown_age_makes_no_green_bucket() -> None:
    unknown = orders(WaitingFile(42, temp_name(42), None))
    state, summary, _ = judged(BITES, rule(), tables=(unknown,)).assessment

    assert (state, summary) == (
        State.NOT_CHECKED,
        "Rule r1 takes the only copy of commit 42 of orders, and when is not known: nothing tells when its file was "
        "written.",
    )


def test_its_deadline_is_kept_without_a_date() -> None:
    unknown = orders(WaitingFile(42, temp_name(42), None))

    assert [(one.at, one.state) for one in judged(BITES, rule(), tables=(unknown,)).deadlines] == [
        (None, State.NOT_CHECKED)
    ]


def test_a_prefix_longer_than_the_files_key_does_not_take_it() -> None:
    assert judged(BITES, rule(f"orders/_delta_log/{temp_name(42)}0")).deadlines == ()
    assert judged(BITES, rule(f"orders/_delta_log/{temp_name(42)}")).deadlines


def test_a_move_to_an_archive_takes_it_out_of_reach_as_well() -> None:
    moves = {"Transitions": [{"Days": 4, "StorageClass": "DEEP_ARCHIVE"}]}
    verdict = judged(WRITTEN + 2 * DAY, rule(days=30, **moves))

    assert verdict.assessment.summary == (
        "Rule r1 will archive the only copy of an unpublished commit of orders at 15 Nov 2026 00:00 UTC."
    )


def test_a_move_spares_small_files_where_the_bucket_says_so_and_the_rule_names_no_size() -> None:
    moves = {"Transitions": [{"Days": 4, "StorageClass": "GLACIER"}]}
    spared = {"least_size_moved": "all_storage_classes_128K"}

    assert judged(WRITTEN + DAY, rule(days=None, **moves), **spared).deadlines == ()
    assert judged(WRITTEN + DAY, rule(days=None, **moves), least_size_moved="varies_by_storage_class").deadlines
    sized = rule(days=None, filters={"ObjectSizeGreaterThan": 1}, **moves)
    assert judged(WRITTEN + DAY, sized, **spared).deadlines


def test_a_date_takes_what_is_there_on_it_and_whatever_comes_later() -> None:
    dated = rule(days=None, Expiration={"Date": "2026-11-18T00:00:00+00:00"})
    later = orders(WaitingFile(42, temp_name(42), BITES + 5 * DAY, 1))

    assert [one.at for one in judged(BITES - 4 * DAY, dated).deadlines] == [BITES]
    assert [one.at for one in judged(BITES + 6 * DAY, dated, tables=(later,)).deadlines] == [BITES + 5 * DAY]


def test_the_first_of_several_gives_the_sentence_and_the_others_are_counted() -> None:
    other = TableInBucket("returns", (WaitingFile(7, temp_name(7), WRITTEN - 2 * DAY, 1),))
    both = judged(BITES - 4 * DAY, rule(""), tables=(orders(), other))

    assert (
        "an unpublished commit of returns and of 1 other table at 16 Nov 2026 00:00 UTC" in about_waiting(both).summary
    )


def test_of_several_rules_the_soonest_is_told() -> None:
    verdict = judged(WRITTEN + 5 * DAY, rule(days=12), rule(days=9) | {"ID": "r2"})

    assert "Rule r2 will delete" in verdict.assessment.summary
    assert [one.rule for one in verdict.deadlines] == ["r2", "r1"]


def test_of_what_is_equally_bad_the_soonest_gives_the_bucket_its_sentence() -> None:
    later = {"ID": "years", "Status": "Enabled", "Filter": {"Prefix": "orders/"}, "Expiration": {"Days": 3_650}}
    verdict = judged(BITES - DAY, later, rule(), tables=(orders(oldest_log_at=WRITTEN),))

    codes = [one.code for one in verdict.assessment.findings if one.state is State.UNSAFE]
    assert codes == ["lifecycle-takes-unpublished", "lifecycle-reaches-log"]
    assert "at 18 Nov 2026 00:00 UTC" in verdict.assessment.summary


@pytest.mark.parametrize("status", ["Disabled", "disabled", None])
def test_a_rule_that_is_not_in_force_takes_nothing(status: str | None) -> None:
    verdict = judged(BITES, rule(Status=status))

    assert verdict.deadlines == ()
    assert verdict.assessment.state is (State.HEALTHY if status == "Disabled" else State.NOT_CHECKED)


@pytest.mark.parametrize(
    ("versioning", "stays"), [("Enabled", True), ("Suspended", False), ("Off", False), (None, False)]
)
def test_what_versioning_keeps_is_said(versioning: str | None, stays: bool) -> None:
    finding = about_waiting(judged(BITES - DAY, rule(), versioning=versioning))

    assert ("stays as an old version" in finding.meaning) is stays


def test_two_tables_of_one_prefix_are_both_held_against_the_rules() -> None:
    other = TableInBucket("orders", (WaitingFile(7, temp_name(7), WRITTEN, 1),))

    assert [one.version for one in judged(BITES - DAY, rule(), tables=(orders(), other)).deadlines] == [42, 7]


def test_a_table_that_could_not_be_read_may_have_a_commit_under_the_rule() -> None:
    unread = TableInBucket("orders", is_read=False)

    assert judged(BITES, rule(), tables=(unread,)).assessment[:2] == (
        State.NOT_CHECKED,
        "Whether a commit waits where a rule deletes files is not known of 1 table, read in part or not at all.",
    )
    assert judged(BITES, rule("returns/"), tables=(unread,)).assessment.state is State.HEALTHY


OLD_VERSIONS = {"NoncurrentVersionExpiration": {"NoncurrentDays": 7}}


def test_an_old_version_of_a_lost_file_has_a_deadline_too() -> None:
    lost = TableInBucket("orders", lost=(LostFile(7, (temp_name(7),), WRITTEN),))
    verdict = judged(BITES - 4 * DAY, rule(days=None, **OLD_VERSIONS), tables=(lost,))

    assert verdict.assessment[:2] == (
        State.ATTENTION,
        "The file of commit 7 of orders is gone. Where versioning kept it, rule r1 deletes that old version by "
        "18 Nov 2026 00:00 UTC.",
    )
    assert [(one.at, one.what) for one in verdict.deadlines] == [(BITES, AtRisk.LOST)]
    assert judged(BITES, rule(days=None, **OLD_VERSIONS), tables=(lost,)).deadlines == ()


def test_old_versions_of_which_the_newest_is_kept_are_not_lost() -> None:
    kept = {"NoncurrentVersionExpiration": {"NoncurrentDays": 7, "NewerNoncurrentVersions": 1}}
    lost = TableInBucket("orders", lost=(LostFile(7, (temp_name(7),), WRITTEN),))

    assert judged(BITES - DAY, rule(days=None, **kept), tables=(lost,)).assessment.state is State.HEALTHY


def test_lone_delete_markers_may_go() -> None:
    assert judged(BITES, rule(days=None, Expiration={"ExpiredObjectDeleteMarker": True})).deadlines == ()


def last_copy(**facts: Any) -> TableInBucket:
    return orders(WaitingFile(42, temp_name(42), WRITTEN, 900, is_last_copy=True, **facts))


@pytest.mark.parametrize("is_certain", [True, False])
def test_a_rule_that_takes_what_may_be_a_last_copy_says_so_with_its_date(is_certain: bool) -> None:
    verdict = judged(BITES - 4 * DAY, rule(), tables=(last_copy(is_certain=is_certain),))

    assert verdict.assessment.state is State.ATTENTION
    assert verdict.assessment.summary == (
        "Rule r1 will delete what may be the last copy of a commit of orders at 18 Nov 2026 00:00 UTC."
    )
    assert [(one.what, one.at) for one in verdict.deadlines] == [(AtRisk.LAST_COPY, BITES)]


@pytest.mark.parametrize(("is_certain", "state"), [(True, State.UNSAFE), (False, State.ATTENTION)])
def test_what_was_perhaps_never_accepted_alarms_nobody(is_certain: bool, state: State) -> None:
    verdict = judged(BITES - timedelta(hours=3), rule(), tables=(last_copy(is_certain=is_certain),))

    assert verdict.assessment.state is state


def test_a_last_copy_that_goes_in_weeks_is_a_note_with_its_date() -> None:
    verdict = judged(BITES - 20 * DAY, rule(), tables=(last_copy(),))

    assert verdict.assessment.state is State.HEALTHY
    assert "lifecycle-would-take-last-copy" in [one.code for one in verdict.assessment.findings]
    assert "before 18 Nov 2026 00:00 UTC" in verdict.assessment.summary
