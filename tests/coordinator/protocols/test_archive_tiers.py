"""Archive tiers of Intelligent-Tiering: log and data files that can fall into one cannot be read."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from coordinator.protocols.bucket_tables import SizeRange, TableInBucket, WaitingFile
from coordinator.protocols.buckets import BucketVerdict, judge_bucket
from coordinator.protocols.deadlines import AtRisk
from coordinator.protocols.verdict import State
from tests.builders.facts import temp_name

DAY = timedelta(days=1)
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LOG = "orders/_delta_log/"
KB = 1_024
TIERED = SizeRange("INTELLIGENT_TIERING", 100 * KB, 128 * KB, NOW - 50 * DAY)
SMALL = SizeRange("INTELLIGENT_TIERING", 1, 128 * KB - 1, NOW - 500 * DAY)
STANDARD = SizeRange("STANDARD", 1, 10**9, NOW - 500 * DAY)


def tiers(filters: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    tierings = [{"AccessTier": "ARCHIVE_ACCESS", "Days": 90}]
    return {"Id": "cold", "Status": "Enabled", "Filter": filters or {}, "Tierings": tierings, **more}


def judged(*configurations: Any, sizes: Any = (TIERED,), rules: Any = (), now: datetime = NOW) -> BucketVerdict:
    description = {"versioning": "Enabled", "lifecycle_rules": list(rules), "tiering": list(configurations)}
    table = TableInBucket("orders", oldest_log_at=NOW - 50 * DAY, log_sizes=sizes)
    return judge_bucket(description, [table], now=now)


def test_log_files_of_the_class_can_fall_and_the_first_moment_is_told() -> None:
    verdict = judged(tiers({"Prefix": LOG}))

    assert verdict.assessment[:2] == (
        State.ATTENTION,
        "Intelligent-Tiering configuration cold archives objects that nobody read for 90 days in Archive Access: it "
        "can take log files of 1 table, the first at 30 Dec 2026 12:00 UTC if nobody has read it by then.",
    )
    assert [(one.what, one.at, one.rule) for one in verdict.deadlines] == [(AtRisk.LOG, NOW + 40 * DAY, "cold")]


@pytest.mark.parametrize(
    ("left", "state"), [(2, State.ATTENTION), (1, State.UNSAFE), (0, State.UNSAFE), (-9, State.UNSAFE)]
)
def test_a_day_before_it_is_unsafe(left: int, state: State) -> None:
    assert judged(tiers({"Prefix": LOG}), now=NOW + (40 - left) * DAY).assessment.state is state


DEEP = {"AccessTier": "DEEP_ARCHIVE_ACCESS", "Days": 180}
TWO = tiers({"Prefix": LOG}, Tierings=[DEEP, {"AccessTier": "ARCHIVE_ACCESS", "Days": 95}])
TAGGED = tiers({"And": {"Prefix": LOG, "Tags": [{"Key": "k", "Value": "v"}]}})


def test_the_first_of_two_tiers_counts() -> None:
    assert [one.at for one in judged(TWO).deadlines] == [NOW + 45 * DAY]
    assert "for 95 days in Archive Access" in judged(TWO).assessment.summary


def test_tags_leave_it_at_attention() -> None:
    verdict = judged(TAGGED, now=NOW + 60 * DAY)

    assert verdict.assessment.state is State.ATTENTION
    assert "Only objects tagged k=v; which carry it is not known." in verdict.assessment.summary


def moves(prefix: str) -> dict[str, Any]:
    transition = {"Days": 10, "StorageClass": "INTELLIGENT_TIERING"}
    return {"ID": "move", "Status": "Enabled", "Filter": {"Prefix": prefix}, "Transitions": [transition]}


@pytest.mark.parametrize(
    ("configurations", "sizes", "rules"),
    [
        ([tiers({"Prefix": LOG})], (SMALL, STANDARD), ()),
        ([tiers({"Prefix": LOG})], (), ()),
        ([tiers({"Prefix": LOG})], (STANDARD,), [moves("orders/day=1/")]),
        ([], (STANDARD,), [moves("orders/")]),
        ([tiers(Status="Disabled")], (TIERED,), ()),
        ([tiers({"Prefix": "returns/"})], (TIERED,), ()),
    ],
    ids=["small and other files", "no files", "other files are moved", "no configuration", "disabled", "elsewhere"],
)
def test_what_no_configuration_reaches_does_not_fall(configurations: Any, sizes: Any, rules: Any) -> None:
    verdict = judged(*configurations, sizes=sizes, rules=rules)

    assert (verdict.assessment.state, verdict.deadlines) == (State.HEALTHY, ())


@pytest.mark.parametrize(
    ("prefix", "sizes", "what"),
    [
        (LOG, None, "log files"),
        (LOG, (SizeRange("", 1, 10**6, NOW),), "log files"),
        ("orders/", (STANDARD,), "data files"),
    ],
)
def test_a_class_that_is_not_known_is_named_and_makes_no_green_bucket(prefix: str, sizes: Any, what: str) -> None:
    assert judged(tiers({"Prefix": prefix}), sizes=sizes).assessment[:2] == (
        State.NOT_CHECKED,
        f"Whether Intelligent-Tiering configuration cold archives {what} of 1 table cannot be decided: their storage "
        "class is not known.",
    )


@pytest.mark.parametrize("given", [{}, tiers(Status="enabled"), tiers(Tierings=[]), tiers(Tierings=[{"Days": None}])])
def test_a_configuration_that_cannot_be_understood_makes_no_green_bucket(given: Any) -> None:
    verdict = judged(given, sizes=(STANDARD,))

    assert verdict.assessment.state is State.NOT_CHECKED
    assert any("its Status or its Tierings cannot be read." in one.summary for one in verdict.assessment.findings)


def test_a_rule_that_moves_files_into_the_class_decides_it() -> None:
    moved_at = (NOW - 39 * DAY).replace(hour=0)
    verdict = judged(tiers(), sizes=(SizeRange("STANDARD", 1, 10**6, NOW - 50 * DAY),), rules=[moves("orders/")])

    assert verdict.assessment.state is State.ATTENTION
    assert {(one.what, one.at) for one in verdict.deadlines} == {
        (AtRisk.LOG, moved_at + 90 * DAY),
        (AtRisk.DATA, moved_at + 90 * DAY),
    }


@pytest.mark.parametrize(
    ("size", "left", "state"),
    [
        (200_000, 40, State.HEALTHY),
        (200_000, 1, State.UNSAFE),
        (None, 10, State.ATTENTION),
        (128 * KB - 1, 1, State.HEALTHY),
    ],
)
def test_a_commit_that_waits_can_fall_into_an_archive_too(size: int | None, left: int, state: State) -> None:
    table = TableInBucket("orders", (WaitingFile(42, temp_name(42), NOW - 50 * DAY, size),), log_sizes=())
    description = {"versioning": "Enabled", "lifecycle_rules": [], "tiering": [tiers({"Prefix": f"{LOG}.tmp/"})]}
    at = (NOW + 41 * DAY).replace(hour=0)

    verdict = judge_bucket(description, [table], now=at - left * DAY)

    assert verdict.assessment.state is state
    assert [one.at for one in verdict.deadlines] == ([at] if size != 128 * KB - 1 else [])
    if state is not State.HEALTHY:
        assert verdict.assessment.summary == (
            "Intelligent-Tiering configuration cold will archive the only copy of an unpublished commit of orders at "
            f"{at:%d %b %Y} 00:00 UTC, if it is of the class INTELLIGENT_TIERING and not read until then, which is not "
            "known."
        )
