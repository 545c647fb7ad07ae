"""Lifecycle rules on published logs and data: judged by the real sizes of the log's files, and dated."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from coordinator.protocols.bucket_tables import SizeRange, TableInBucket
from coordinator.protocols.buckets import BucketVerdict, judge_bucket
from coordinator.protocols.deadlines import AtRisk
from coordinator.protocols.verdict import State

DAY = timedelta(days=1)
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LOG = "orders/_delta_log/"
COMMITS = SizeRange("STANDARD", 900, 1_020, NOW - 20 * DAY)
CHECKPOINTS = SizeRange("STANDARD", 2_000_000, 2_050_000, NOW - 10 * DAY)


def judged(
    filters: dict[str, Any], days: int | None = 30, sizes: Any = (COMMITS, CHECKPOINTS), **more: Any
) -> BucketVerdict:
    expires = {"Expiration": {"Days": days}} if days is not None else {}
    facts = {"least_size_moved": more.pop("least_size_moved", "")}
    rule = {"ID": "r1", "Status": "Enabled", "Filter": filters, **expires, **more}
    table = TableInBucket("orders", oldest_log_at=NOW - 20 * DAY, log_sizes=sizes)
    description = {"versioning": "Enabled", "lifecycle_rules": [rule], "tiering": [], **facts}
    return judge_bucket(description, [table], now=NOW)


def under(prefix: str, **limits: Any) -> dict[str, Any]:
    return {"And": {"Prefix": prefix, **limits}}


@pytest.mark.parametrize(
    ("limits", "state", "at"),
    [
        ({"ObjectSizeLessThan": 901}, State.UNSAFE, NOW - 20 * DAY),
        ({"ObjectSizeLessThan": 900}, State.HEALTHY, None),
        ({"ObjectSizeGreaterThan": 1_019}, State.UNSAFE, NOW - 10 * DAY),
        ({"ObjectSizeGreaterThan": 1_020}, State.UNSAFE, NOW - 10 * DAY),
        ({"ObjectSizeGreaterThan": 2_050_000}, State.HEALTHY, None),
        ({"ObjectSizeGreaterThan": 1_020, "ObjectSizeLessThan": 2_000_000}, State.HEALTHY, None),
    ],
)
def test_a_limit_of_size_is_held_against_the_sizes_of_the_logs_files(
    limits: dict[str, int], state: State, at: datetime | None
) -> None:
    verdict = judged(under(LOG, **limits))

    assert verdict.assessment.state is state
    if at and limits != {"ObjectSizeGreaterThan": 1_019}:
        [deadline] = verdict.deadlines
        assert deadline.at == (at + 31 * DAY).replace(hour=0)


def test_a_rule_whose_size_no_file_has_now_is_noted_with_the_sizes_there_are() -> None:
    verdict = judged(under(LOG, ObjectSizeGreaterThan=5_000_000))

    [spared] = [one for one in verdict.assessment.findings if one.code == "lifecycle-spares-log"]
    assert spared.summary == (
        "Rule r1 deletes objects after 30 days under orders/_delta_log/, only those larger than 5000000 B: no file of "
        "the log of 1 table is of that size now. They have 900 to 2,050,000 B."
    )
    assert verdict.assessment.summary.startswith("By prefix, size and age, its 1 lifecycle rule takes no published")


def test_sizes_that_are_not_known_are_named_and_make_no_green_bucket() -> None:
    verdict = judged(under(LOG, ObjectSizeGreaterThan=5_000_000), sizes=None)

    assert verdict.assessment.state is State.ATTENTION
    assert "How large the files of the logs are is not known." in verdict.assessment.summary


def test_sizes_of_data_files_are_never_known() -> None:
    verdict = judged(under("orders/", ObjectSizeGreaterThan=5_000_000))

    assert verdict.assessment.state is State.ATTENTION
    assert "it can reach data of 1 table." in verdict.assessment.summary
    assert "How large the data files are is not known." in verdict.assessment.summary


def test_tags_leave_it_open_whatever_the_size() -> None:
    verdict = judged(under(LOG, Tags=[{"Key": "k", "Value": "v"}], ObjectSizeLessThan=10_000))

    assert verdict.assessment.state is State.ATTENTION
    assert "Which of these files carry the tag is not known." in verdict.assessment.summary
    assert [one.condition for one in verdict.deadlines] == ["tagged k=v"]


MOVES = {"Transitions": [{"Days": 30, "StorageClass": "GLACIER"}]}


def test_a_move_to_an_archive_is_held_against_the_buckets_least_size() -> None:
    small = (COMMITS,)

    assert judged({"Prefix": LOG}, None, small, **MOVES).assessment.state is State.UNSAFE
    of_old_buckets = {"least_size_moved": "varies_by_storage_class", **MOVES}
    assert judged({"Prefix": LOG}, None, small, **of_old_buckets).assessment.state is State.UNSAFE
    of_new_buckets = {"least_size_moved": "all_storage_classes_128K", **MOVES}
    assert judged({"Prefix": LOG}, None, small, **of_new_buckets).assessment.state is State.HEALTHY
    assert judged({"Prefix": LOG}, None, (COMMITS, CHECKPOINTS), **of_new_buckets).assessment.state is State.UNSAFE
    assert judged({"Prefix": "orders/"}, None, small, **of_new_buckets).assessment.state is State.UNSAFE


def test_logs_and_data_have_a_deadline_each() -> None:
    verdict = judged({"Prefix": "orders/"})

    assert [(one.what, one.at, one.state) for one in verdict.deadlines] == [
        (AtRisk.LOG, datetime(2026, 12, 1, tzinfo=UTC), State.UNSAFE),
        (AtRisk.DATA, datetime(2026, 12, 1, tzinfo=UTC), State.UNSAFE),
    ]
    assert verdict.judge_again_at == datetime(2026, 11, 30, tzinfo=UTC)
    assert "It first acts at 01 Dec 2026 00:00 UTC." in verdict.assessment.summary
