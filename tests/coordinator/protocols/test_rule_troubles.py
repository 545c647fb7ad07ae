"""Rules that are written in a way in which they never apply, or that cannot be understood."""

from typing import Any

import pytest

from coordinator.protocols.bucket_tables import TableInBucket
from coordinator.protocols.verdict import Finding, State
from tests.builders.buckets import diagnose_bucket
from tests.builders.facts import NOW


def diagnosed(*rules: Any, **facts: Any) -> tuple[State, str, tuple[Finding, ...]]:
    description = {"name": "lake", "versioning": "Enabled", "lifecycle_rules": list(rules), "tiering": [], **facts}
    return diagnose_bucket(description, [TableInBucket("sales/orders")], now=NOW)


def rule(prefix: Any, **more: Any) -> dict[str, Any]:
    return {"ID": "r1", "Status": "Enabled", "Filter": {"Prefix": prefix}, "Expiration": {"Days": 7}, **more}


@pytest.mark.parametrize(
    ("prefix", "begins"),
    [
        ("/sales/orders/_delta_log/.tmp", "a slash"),
        ("//sales/", "a slash"),
        ("/", "a slash"),
        ("s3://lake/sales/orders/_delta_log/.tmp/", "the name of a bucket"),
        ("s3a://lake/", "the name of a bucket"),
    ],
)
def test_a_prefix_that_no_key_begins_with_is_a_finding(prefix: str, begins: str) -> None:
    state, summary, _ = diagnosed(rule(prefix))

    assert (state, summary) == (
        State.ATTENTION,
        f"Rule r1 never applies to a table: its prefix {prefix} begins with {begins}, and no key of a table does.",
    )


def test_the_prefix_that_was_meant_is_named() -> None:
    _, _, findings = diagnosed(rule("/sales/orders/_delta_log/.tmp"))

    assert findings[0].meaning == "A prefix begins where a key does: write sales/orders/_delta_log/.tmp."


def test_one_that_would_reach_no_table_is_noted() -> None:
    state, _, findings = diagnosed(rule("/exports/"))

    assert state is State.HEALTHY
    assert "lifecycle-never-applies" in [one.code for one in findings]


@pytest.mark.parametrize("prefix", ["sales/orders/_delta_log/.tmp", "sales/orders/_delta_log/.tmp/"])
def test_a_rule_on_temp_files_counts_with_and_without_its_last_slash(prefix: str) -> None:
    _, _, findings = diagnosed(rule(prefix))

    assert "1 of 1 table have a lifecycle rule on .tmp." in [one.summary for one in findings]


def test_one_with_a_leading_slash_does_not_count() -> None:
    _, _, findings = diagnosed(rule("/sales/orders/_delta_log/.tmp/"))

    assert "0 of 1 table have a lifecycle rule on .tmp." in [one.summary for one in findings]


@pytest.mark.parametrize(
    ("given", "trouble"),
    [
        ("no rule", "it is no rule"),
        (rule("x/", Status="On"), "its Status is neither Enabled nor Disabled"),
        (rule("x/", Filter=5), "its Filter has no parts"),
        (rule(7), "its Prefix is no text"),
        (rule("x/", Filter={"Prefix": "x/", "Age": 3}), "its Filter has the term Age"),
        (rule("x/", Filter={"ObjectSizeLessThan": "9"}), "its Filter has a size that is no number"),
        (rule("x/", Expiration="soon"), "its Expiration has no parts"),
        (rule("x/", Expiration={"Days": 2**80}), "its Expiration names neither days nor a date"),
        (rule("x/", Transitions="x"), "its Transitions are no list"),
        (
            rule("x/", Transitions=[{"StorageClass": "GLACIER"}]),
            "one of its transitions names no class, or neither days nor a date",
        ),
        (
            rule("x/", NoncurrentVersionExpiration={"NoncurrentDays": "x"}),
            "its NoncurrentVersionExpiration names no days",
        ),
    ],
)
def test_a_rule_that_cannot_be_understood_makes_no_green_bucket(given: Any, trouble: str) -> None:
    state, _, findings = diagnosed(given)

    assert state.rank <= State.NOT_CHECKED.rank
    assert trouble in [one.evidence.get("trouble") for one in findings]


@pytest.mark.parametrize("absent", ["lifecycle_rules", "tiering"])
def test_a_fact_that_is_simply_not_there_makes_no_green_bucket(absent: str) -> None:
    state, summary, _ = diagnosed(**{absent: None})

    assert state is State.NOT_CHECKED
    assert summary.endswith("could not be read: no answer of S3 is kept.")


def test_where_nothing_is_in_force_that_is_all_that_is_said() -> None:
    assert diagnosed(rule("sales/", Status="Disabled"))[:2] == (
        State.HEALTHY,
        "No lifecycle rule and no archive configuration is in force.",
    )


def test_without_a_known_table_nothing_was_compared() -> None:
    facts = {"lifecycle_rules": [rule("sales/")], "tiering": [], "versioning": "Enabled"}

    assert diagnose_bucket(facts, [], now=NOW)[:2] == (
        State.HEALTHY,
        "No Delta table is known in this bucket, so nothing was compared with its 1 lifecycle rule.",
    )
