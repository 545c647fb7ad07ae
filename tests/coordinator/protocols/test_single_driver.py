"""Tables without a commit store that more than one writer has written of late."""

import pytest

from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.verdict import State
from lake.delta.facts import Mechanism
from tests.builders.facts import listing, table_facts

SPARK, NEWER, RUST = "Apache-Spark/4.2.0 Delta-Lake/4.4.0", "Apache-Spark/4.2.1 Delta-Lake/4.4.1", "delta-rs:py-1.6.6"


def verdict_of(engines: list[str], age: float = 3_600):
    log = listing(range(len(engines)), age=age)
    return diagnose(table_facts(log, mechanism=Mechanism.SINGLE_DRIVER, engines=dict(enumerate(engines))))


@pytest.mark.parametrize("engines", [[SPARK, RUST], [SPARK, NEWER, SPARK], [RUST, RUST, SPARK]])
def test_writers_that_take_turns_are_a_finding(engines):
    verdict = verdict_of(engines)

    assert verdict.state is State.ATTENTION
    [finding] = [one for one in verdict.findings if one.code == "several-writers"]
    assert "S3DynamoDBLogStore" in finding.meaning


@pytest.mark.parametrize("engines", [[SPARK] * 3, [SPARK, SPARK, NEWER], [""], ["", SPARK]])
def test_one_writer_and_its_upgrade_are_none(engines):
    assert [one.code for one in verdict_of(engines).findings] == ["single-driver"]


def test_what_another_wrote_long_ago_is_none():
    assert [one.code for one in verdict_of([SPARK, RUST], age=30 * 86_400).findings] == ["single-driver"]


def test_the_absence_of_a_store_is_what_was_seen_and_not_what_is_so():
    verdict = verdict_of([SPARK])

    assert "No commit store" not in verdict.findings[0].summary
    assert verdict.findings[0].summary.startswith("Nothing shows a commit store behind this table")
