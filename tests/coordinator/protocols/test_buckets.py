"""What lifecycle rules and versioning of a bucket mean for the tables in it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from coordinator.protocols.bucket_tables import SizeRange, TableInBucket
from coordinator.protocols.buckets import BucketVerdict, judge_bucket
from coordinator.protocols.deadlines import AtRisk
from coordinator.protocols.verdict import State
from tests.builders.buckets import lifecycle_rule as rule

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
DAY = timedelta(days=1)
LOG = "orders/_delta_log/"
TAG = {"Key": "k", "Value": "v"}
MOVES = {"Transitions": [{"Days": 30, "StorageClass": "GLACIER"}]}
ENDS_UPLOADS = rule(days=None, AbortIncompleteMultipartUpload={"DaysAfterInitiation": 7})
COMMITS = SizeRange("STANDARD", 900, 1_020, NOW - 20 * DAY)
CHECKPOINTS = SizeRange("STANDARD", 2_000_000, 2_050_000, NOW - 10 * DAY)


def judged(*rules: Any, tables: Any = ("orders",), region: str = "", **facts: Any) -> BucketVerdict:
    """A bucket with these rules and tables, or tables at these prefixes."""
    description = {"name": "lake", "region": "eu-west-1", "versioning": "Enabled", "tiering": [], **facts}
    held = [TableInBucket(one) if isinstance(one, str) else one for one in tables]
    return judge_bucket({"lifecycle_rules": list(rules), **description}, held, now=NOW, stores_region=region)


def codes(verdict: BucketVerdict) -> list[str]:
    return [one.code for one in verdict.assessment.findings]


@pytest.mark.parametrize(
    ("given", "state", "code"),
    [
        (rule(), State.UNSAFE, "lifecycle-reaches-log"),
        (rule(LOG + "0000"), State.UNSAFE, "lifecycle-reaches-log"),
        (rule("ord"), State.UNSAFE, "lifecycle-reaches-log"),
        ({"ID": "old", "Status": "Enabled", "Prefix": LOG, "Expiration": {"Days": 9}}, State.UNSAFE,
         "lifecycle-reaches-log"),
        (rule("orders/date=2020"), State.UNSAFE, "lifecycle-reaches-data"),
        (rule(Filter={"Tag": TAG}), State.ATTENTION, "lifecycle-reaches-log"),
        (rule(LOG, filters={"Tags": [TAG]}), State.ATTENTION, "lifecycle-reaches-log"),
        (rule(filters={"ObjectSizeGreaterThan": 9}), State.ATTENTION, "lifecycle-reaches-log"),
        (rule(LOG, filters={"ObjectSizeLessThan": 9}), State.ATTENTION, "lifecycle-reaches-log"),
        (rule(LOG + ".tmp/", days=1), State.ATTENTION, "lifecycle-too-short"),
        (rule(LOG + "_staged_commits/", days=2), State.ATTENTION, "lifecycle-too-short"),
        (rule(LOG, days=None, **MOVES), State.UNSAFE, "lifecycle-reaches-log"),
        (rule(LOG, days=None, NoncurrentVersionExpiration={"NoncurrentDays": 3}), State.HEALTHY,
         "deletes-old-versions"),
        (rule(LOG, Expiration={"Date": "2026-12-01T00:00:00+00:00"}), State.UNSAFE, "lifecycle-reaches-log"),
        (rule(Status="Disabled"), State.HEALTHY, None),
        (rule("orders_old/"), State.HEALTHY, None),
        (rule(LOG + ".tmp", days=7), State.HEALTHY, None),
        (rule(days=None, Transitions=[{"Days": 9, "StorageClass": "STANDARD_IA"}]), State.HEALTHY, None),
        (ENDS_UPLOADS, State.HEALTHY, None),
        (rule(days=None, Expiration={"ExpiredObjectDeleteMarker": True}), State.HEALTHY, None),
    ],
)  # fmt: skip
def test_each_form_of_rule_is_judged_by_what_it_can_reach(given: Any, state: State, code: str | None) -> None:
    verdict = judged(given)

    found = [one for one in codes(verdict) if one not in ("temp-rules", "unfinished-uploads-stay")]
    assert (verdict.assessment.state, found) == (state, [code] if code else [])


@pytest.mark.parametrize(
    ("prefix", "covered"), [("sales/_delta_log/.tmp/", 1), ("sales/_delta_log/.tmp", 1), ("/sales/_delta_log/.tmp/", 0)]
)
def test_tables_with_and_without_a_temp_rule_are_counted(prefix: str, covered: int) -> None:
    found = judged(rule(prefix, days=7), tables=["sales", "customers"]).assessment.findings

    assert f"{covered} of 2 tables have a lifecycle rule on .tmp." in [one.summary for one in found]


def test_the_limit_of_a_thousand_rules_is_announced() -> None:
    rules = [rule(f"t{i}/_delta_log/.tmp/", days=7) for i in range(962)]

    assert judged(*rules, tables=[f"t{i}" for i in range(962)]).assessment[:2] == (
        State.ATTENTION,
        "38 lifecycle rules are left of 1,000.",
    )


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({"versioning": "Off"}, "no-versioning"),
        ({"versioning": "Suspended"}, "no-versioning"),
        ({"replication": True}, "replicated"),
        ({"region": "us-east-1"}, "other-region"),
        ({}, "unfinished-uploads-stay"),
    ],
)
def test_what_only_informs_is_a_note(facts: dict[str, Any], code: str) -> None:
    verdict = judged(**facts)

    assert verdict.assessment.state is State.HEALTHY
    assert code in codes(verdict)
    assert code not in codes(judged(ENDS_UPLOADS, region="eu-west-1"))


def test_rules_that_could_not_be_read_are_not_checked() -> None:
    why = [["lifecycle", "s3:GetLifecycleConfiguration is denied."]]

    assert judged(lifecycle_rules=None, unknown=why).assessment[:2] == (
        State.NOT_CHECKED,
        "Lifecycle could not be read: s3:GetLifecycleConfiguration is denied.",
    )


@pytest.mark.parametrize("absent", ["lifecycle_rules", "tiering"])
def test_a_fact_that_is_simply_not_there_makes_no_green_bucket(absent: str) -> None:
    state, summary, _ = judged(**{absent: None}).assessment

    assert state is State.NOT_CHECKED
    assert summary.endswith("could not be read: no answer of S3 is kept.")


def test_where_nothing_is_in_force_that_is_all_that_is_said() -> None:
    assert judged(rule("orders/", Status="Disabled")).assessment[:2] == (
        State.HEALTHY,
        "No lifecycle rule and no archive configuration is in force.",
    )


def test_without_a_known_table_nothing_was_compared() -> None:
    assert judged(rule("orders/"), tables=()).assessment[:2] == (
        State.HEALTHY,
        "No Delta table is known in this bucket, so nothing was compared with its 1 lifecycle rule.",
    )


@pytest.mark.parametrize(
    ("prefix", "begins", "meant"),
    [
        ("/orders/_delta_log/.tmp", "a slash", "orders/_delta_log/.tmp"),
        ("/", "a slash", "an empty prefix, for the whole bucket"),
        ("s3://lake/orders/", "the name of a bucket", "orders/"),
        ("s3a://lake/", "the name of a bucket", "an empty prefix, for the whole bucket"),
    ],
)
def test_a_prefix_that_no_key_begins_with_is_a_finding(prefix: str, begins: str, meant: str) -> None:
    state, summary, findings = judged(rule(prefix)).assessment

    assert (state, summary) == (
        State.ATTENTION,
        f"Rule r1 never applies to a table: its prefix {prefix} begins with {begins}, and no key of a table does.",
    )
    assert findings[0].meaning == f"A prefix begins where a key does: write {meant}."


def test_one_that_would_reach_no_table_is_noted() -> None:
    verdict = judged(rule("/exports/"))

    assert verdict.assessment.state is State.HEALTHY
    assert "lifecycle-never-applies" in codes(verdict)


@pytest.mark.parametrize(
    ("given", "trouble"),
    [
        ({}, "its Status is neither Enabled nor Disabled"),
        (rule("x/", Status="enabled"), "its Status is neither Enabled nor Disabled"),
        (rule("x/", filters={"Age": 3}), "its Filter has the term Age"),
        (rule("x/", Expiration={"Hours": 3}), "its Expiration names neither days nor a date"),
        (rule("x/", Transitions=[{"StorageClass": "GLACIER"}]),
         "one of its transitions names no class, or neither days nor a date"),
        (rule("x/", NoncurrentVersionExpiration={"NewerNoncurrentVersions": 2}),
         "its NoncurrentVersionExpiration names no days"),
    ],
)  # fmt: skip
def test_a_rule_that_cannot_be_understood_makes_no_green_bucket(given: Any, trouble: str) -> None:
    state, _, findings = judged(given).assessment

    assert state.rank <= State.NOT_CHECKED.rank
    assert trouble in [one.evidence.get("trouble") for one in findings]


def of_sizes(given: Any, *sizes: SizeRange, known: bool = True, **facts: Any) -> BucketVerdict:
    """A table whose log files have these sizes, or sizes that are not known."""
    table = TableInBucket("orders", oldest_log_at=NOW - 20 * DAY, log_sizes=sizes if known else None)
    return judged(given, tables=[table], **facts)


def limited(**limits: int) -> dict[str, Any]:
    return rule(LOG, filters={f"ObjectSize{name}Than": size for name, size in limits.items()})


@pytest.mark.parametrize(
    ("given", "state", "at"),
    [
        (limited(Less=901), State.UNSAFE, NOW - 20 * DAY),
        (limited(Less=900), State.HEALTHY, None),
        (limited(Greater=1_020), State.UNSAFE, NOW - 10 * DAY),
        (limited(Greater=2_050_000), State.HEALTHY, None),
        (limited(Greater=1_020, Less=2_000_000), State.HEALTHY, None),
    ],
)
def test_a_limit_of_size_is_held_against_the_sizes_of_the_logs_files(given: Any, state: State, at: Any) -> None:
    verdict = of_sizes(given, COMMITS, CHECKPOINTS)

    assert verdict.assessment.state is state
    assert [one.at for one in verdict.deadlines] == ([(at + 31 * DAY).replace(hour=0)] if at else [])


def test_a_rule_whose_size_no_file_has_now_is_noted_with_the_sizes_there_are() -> None:
    [spared] = [
        one
        for one in of_sizes(limited(Greater=5_000_000), COMMITS, CHECKPOINTS).assessment.findings
        if one.code == "lifecycle-spares-log"
    ]

    assert spared.summary == (
        "Rule r1 deletes objects after 30 days under orders/_delta_log/, only those larger than 5000000 B: no file of "
        "the log of 1 table is of that size now. They have 900 to 2,050,000 B."
    )


@pytest.mark.parametrize(
    ("given", "known", "said"),
    [
        (limited(Greater=5_000_000), False, "How large the files of the logs are is not known."),
        (rule("orders/", filters={"ObjectSizeGreaterThan": 5_000_000}), True,
         "How large the data files are is not known."),
        (rule(LOG, filters={"Tags": [TAG], "ObjectSizeLessThan": 10_000}), True,
         "Which of these files carry the tag is not known."),
    ],
)  # fmt: skip
def test_what_is_not_known_of_files_is_named_and_makes_no_green_bucket(given: Any, known: bool, said: str) -> None:
    verdict = of_sizes(given, COMMITS, CHECKPOINTS, known=known)

    assert verdict.assessment.state is State.ATTENTION
    assert said in verdict.assessment.summary


@pytest.mark.parametrize(
    ("prefix", "least", "sizes", "state"),
    [
        (LOG, "", [COMMITS], State.UNSAFE),
        (LOG, "varies_by_storage_class", [COMMITS], State.UNSAFE),
        (LOG, "all_storage_classes_128K", [COMMITS], State.HEALTHY),
        (LOG, "all_storage_classes_128K", [COMMITS, CHECKPOINTS], State.UNSAFE),
        (LOG, "all_storage_classes_128K", [SizeRange("STANDARD", 900, 128 * 1_024, NOW)], State.UNSAFE),
        ("orders/", "all_storage_classes_128K", [COMMITS], State.UNSAFE),
    ],
)
def test_a_move_to_an_archive_is_held_against_the_buckets_least_size(prefix, least, sizes, state) -> None:
    verdict = of_sizes(rule(prefix, days=None, **MOVES), *sizes, least_size_moved=least)

    assert verdict.assessment.state is state


def test_logs_and_data_have_a_deadline_each() -> None:
    verdict = of_sizes(rule("orders/"), COMMITS, CHECKPOINTS)

    assert [(one.what, one.at, one.state) for one in verdict.deadlines] == [
        (AtRisk.LOG, datetime(2026, 12, 1, tzinfo=UTC), State.UNSAFE),
        (AtRisk.DATA, datetime(2026, 12, 1, tzinfo=UTC), State.UNSAFE),
    ]
    assert verdict.judge_again_at == datetime(2026, 11, 30, tzinfo=UTC)
    assert "It first acts at 01 Dec 2026 00:00 UTC." in verdict.assessment.summary
