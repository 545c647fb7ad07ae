"""What lifecycle rules and versioning of a bucket mean for the tables in it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from coordinator.protocols.bucket_tables import TableInBucket
from coordinator.protocols.lifecycle import read_rules
from coordinator.protocols.verdict import State
from lake.aws.buckets import BucketDescription
from tests.builders.buckets import diagnose_bucket
from tests.builders.facts import NOW

LOG = "orders/_delta_log/"
TAG = {"Key": "k", "Value": "v"}
OLD_FORM = {"ID": "old", "Status": "Enabled", "Prefix": LOG, "Expiration": {"Days": 9}}


def rule(filters: dict[str, Any] | None = None, days: int | None = 30, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"ID": "r1", "Status": "Enabled", "Filter": filters or {}, **more}
    return made | {"Expiration": {"Days": days}} if days is not None else made


def bucket(*rules: dict[str, Any], **changes: Any) -> BucketDescription:
    facts: dict[str, Any] = {"versioning": "Enabled", "lifecycle_rules": rules, "tiering": (), **changes}
    return BucketDescription(name="lake", region="eu-west-1", **facts)


def state_and_codes(*rules: dict[str, Any]) -> tuple[State, list[str]]:
    state, _, findings = diagnose_bucket(bucket(*rules), [TableInBucket("orders")], now=NOW)
    return state, [one.code for one in findings if one.code not in ("temp-rules", "unfinished-uploads-stay")]


@pytest.mark.parametrize(
    ("given", "state", "code"),
    [
        (rule(), State.UNSAFE, "lifecycle-reaches-log"),
        (rule({"Prefix": LOG}), State.UNSAFE, "lifecycle-reaches-log"),
        (rule({"Prefix": LOG + "0000"}), State.UNSAFE, "lifecycle-reaches-log"),
        (rule({"Prefix": "ord"}), State.UNSAFE, "lifecycle-reaches-log"),
        (
            {"ID": "old", "Status": "Enabled", "Prefix": LOG, "Expiration": {"Days": 9}},
            State.UNSAFE,
            "lifecycle-reaches-log",
        ),
        (rule({"Prefix": "orders/date=2020"}), State.UNSAFE, "lifecycle-reaches-data"),
        (rule({"Tag": TAG}), State.ATTENTION, "lifecycle-reaches-log"),
        (
            rule({"And": {"Prefix": LOG, "Tags": [{"Key": "k", "Value": "v"}]}}),
            State.ATTENTION,
            "lifecycle-reaches-log",
        ),
        (rule({"ObjectSizeGreaterThan": 9}), State.ATTENTION, "lifecycle-reaches-log"),
        (rule({"And": {"Prefix": LOG, "ObjectSizeLessThan": 9}}), State.ATTENTION, "lifecycle-reaches-log"),
        (rule({"Prefix": LOG + ".tmp/"}, days=1), State.ATTENTION, "lifecycle-too-short"),
        (rule({"Prefix": LOG + "_staged_commits/"}, days=2), State.ATTENTION, "lifecycle-too-short"),
        (
            rule({"Prefix": LOG}, days=None, Transitions=[{"Days": 9, "StorageClass": "GLACIER"}]),
            State.UNSAFE,
            "lifecycle-reaches-log",
        ),
        (
            rule({"Prefix": LOG}, days=None, NoncurrentVersionExpiration={"NoncurrentDays": 3}),
            State.HEALTHY,
            "deletes-old-versions",
        ),
        (
            rule({"Prefix": LOG}, days=None, Expiration={"Date": "2026-12-01T00:00:00+00:00"}),
            State.UNSAFE,
            "lifecycle-reaches-log",
        ),
    ],
)
def test_each_form_of_rule_is_judged_by_what_it_can_reach(given: dict[str, Any], state: State, code: str) -> None:
    assert state_and_codes(given) == (state, [code])


@pytest.mark.parametrize(
    "given",
    [
        rule(Status="Disabled"),
        rule({"Prefix": "customers/"}),
        rule({"Prefix": "orders_old/"}),
        rule({"Prefix": LOG + ".tmp/"}, days=7),
        rule({"Prefix": LOG + ".tmp"}, days=7),
        rule(days=None, Transitions=[{"Days": 9, "StorageClass": "STANDARD_IA"}]),
        rule(days=None, AbortIncompleteMultipartUpload={"DaysAfterInitiation": 7}),
        rule(days=None, Expiration={"ExpiredObjectDeleteMarker": True}),
    ],
)
def test_a_rule_that_takes_nothing_needed_is_no_finding(given: dict[str, Any]) -> None:
    assert state_and_codes(given) == (State.HEALTHY, [])


def test_tables_with_and_without_a_temp_rule_are_counted() -> None:
    given = rule({"Prefix": LOG + ".tmp/"}, days=7)
    _, _, findings = diagnose_bucket(bucket(given), ["orders", "customers"], now=NOW)

    assert findings[0].summary == "1 of 2 tables have a lifecycle rule on .tmp."


def test_the_limit_of_a_thousand_rules_is_announced() -> None:
    rules = [rule({"Prefix": f"t{i}/_delta_log/.tmp/"}, days=7) for i in range(962)]
    state, summary, _ = diagnose_bucket(bucket(*rules), [f"t{i}" for i in range(962)], now=NOW)

    assert (state, summary) == (State.ATTENTION, "38 lifecycle rules are left of 1,000.")


@pytest.mark.parametrize("versioning", ["Off", "Suspended"])
def test_versioning_that_is_not_on_is_a_note(versioning: str) -> None:
    state, _, findings = diagnose_bucket(bucket(versioning=versioning), now=NOW)

    assert (state, findings[0].code) == (State.HEALTHY, "no-versioning")


def test_a_bucket_in_another_region_than_its_stores_is_a_note() -> None:
    state, _, findings = diagnose_bucket(bucket(), now=NOW, stores_region="us-east-1")

    assert state is State.HEALTHY
    assert "other-region" in [one.code for one in findings]
    assert "other-region" not in [one.code for one in diagnose_bucket(bucket(), stores_region="eu-west-1").findings]


def test_rules_that_could_not_be_read_are_not_checked() -> None:
    denied = bucket(lifecycle_rules=None, unknown=(("lifecycle", "s3:GetLifecycleConfiguration is denied."),))
    state, summary, _ = diagnose_bucket(denied, ["orders"], now=NOW)

    assert (state, summary) == (
        State.NOT_CHECKED,
        "Lifecycle could not be read: s3:GetLifecycleConfiguration is denied.",
    )


def test_a_bucket_that_could_not_be_described_says_why() -> None:
    assert diagnose_bucket(None, error="AccessDenied on s3:ListBucket.").state is State.NOT_CHECKED


def test_a_table_at_the_root_of_its_bucket_is_reached() -> None:
    state, _, _ = diagnose_bucket(bucket(rule({"Prefix": "_delta_log/0"})), [""], now=NOW)

    assert state is State.UNSAFE


@pytest.mark.parametrize(
    "garbled",
    [
        {"Status": "Enabled", "Filter": 5, "Expiration": "soon"},
        {"Status": "Enabled", "Prefix": 7, "Expiration": {"Days": "x", "Date": "never"}},
        {"Status": "Enabled", "Filter": {"And": []}, "Transitions": "x", "Expiration": {"Days": 2**80}},
    ],
)
def test_a_garbled_rule_does_nothing_and_breaks_nothing(garbled: dict[str, Any]) -> None:
    assert read_rules([garbled, "no rule"])[0].acts == ()


def test_a_rule_acts_at_the_midnight_after_its_days() -> None:
    (act,) = read_rules([rule(days=1)])[0].acts

    assert act.bites_at(datetime(2026, 11, 19, 15, 0, tzinfo=UTC)) == datetime(2026, 11, 21, tzinfo=UTC)
