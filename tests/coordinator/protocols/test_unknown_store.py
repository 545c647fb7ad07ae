"""Tables whose log store is known by its temp files alone: what these prove, and what they leave open."""

from typing import Any

import pytest

from coordinator.protocols.verdict import Severity, State
from lake.delta.facts import LogObject, Mechanism, ReadingProblem, TableFacts
from tests.builders.facts import DAY, entry, listing, log_object, table_facts, temp_name
from tests.coordinator.protocols.judged import codes, finding, verdict_of

SPARK, RUST = "Apache-Spark/4.2.0 Delta-Lake/4.4.0", "delta-rs:py-1.6.6"
HOUR = 3_600


def table(*temp: LogObject | str, age: float = 10 * DAY, commits: Any = range(4), **facts: Any) -> TableFacts:
    return table_facts(listing(commits, temp=temp, age=age), mechanism=Mechanism.LOG_STORE, **facts)


def old(version: int, uid: str = "7f3c9b52", age: float = 10 * DAY) -> LogObject:
    return log_object(temp_name(version, uid), age=age)


@pytest.mark.parametrize(
    ("facts", "state", "severity", "said"),
    [
        (table(old(2), old(3)), State.HEALTHY, Severity.INFO, "is in use here, as its temp files show"),
        (table(old(3), old(4)), State.NOT_CHECKED, Severity.WARNING, "1 temp file may hold an accepted commit"),
        (table(old(3), log_object("_commit_5f0c.json.tmp", age=10 * DAY)), State.NOT_CHECKED, Severity.WARNING,
         "1 temp file may hold an accepted commit"),
        (table(old(1), old(2)), State.NOT_CHECKED, Severity.INFO, "the newest left of version 2"),
        (table(), State.NOT_CHECKED, Severity.INFO, "none of which is left"),
        (table(old(3, age=HOUR), age=HOUR), State.NOT_CHECKED, Severity.WARNING,
         "A writer with a log store was at work 1 h ago"),
        (table(old(3, age=5), age=5), State.NOT_CHECKED, Severity.INFO, "A writer with a log store was at work 5 s"),
        (table(old(3), old(4, "now", age=5), age=5), State.NOT_CHECKED, Severity.INFO, "1 temp file may hold"),
        (table(old(0), commits=()), State.NOT_CHECKED, Severity.WARNING, "1 temp file may hold"),
        (table(old(3), entries=[entry(3, path="s3a://lake/other")]), State.HEALTHY, Severity.INFO, "is in use here"),
    ],
)  # fmt: skip
def test_temp_files_alone_tell_whether_a_commit_may_wait(facts, state, severity, said) -> None:
    found = finding(facts, "unknown-log-store")

    assert (found.state, found.severity) == (state, severity)
    assert said in found.summary


def test_two_writers_of_such_a_table_are_not_said_to_be_kept_apart_by_nothing() -> None:
    facts = table(old(3, age=HOUR), age=HOUR, engines={1: SPARK, 2: RUST, 3: SPARK})

    assert codes(facts) == ["unknown-log-store"]


@pytest.mark.parametrize("place", ["entries", "DynamoDB table log", "listing"])
def test_nothing_is_said_of_entries_where_a_store_could_not_be_read(place: str) -> None:
    assert codes(table(old(3), problems=[ReadingProblem(place, "not authorised.")])) == ["not-read"]


@pytest.mark.parametrize("facts", [{"entries": [entry(3)]}, {"had_entries": True}])
def test_a_store_that_is_known_is_judged_by_its_entries(facts: dict[str, Any]) -> None:
    assert "unknown-log-store" not in codes(table(old(3), **facts))


def several(engines: list[str], age: float = HOUR) -> TableFacts:
    """A table without a commit store whose versions these wrote."""
    return table_facts(listing(range(len(engines)), age=age), engines=dict(enumerate(engines)))


NEWER = "Apache-Spark/4.2.1 Delta-Lake/4.4.1"


@pytest.mark.parametrize("engines", [[SPARK, RUST], [SPARK, NEWER, SPARK], [RUST, RUST, SPARK]])
def test_writers_that_take_turns_are_a_finding(engines: list[str]) -> None:
    verdict = verdict_of(several(engines))

    assert (verdict.state, codes(verdict)) == (State.ATTENTION, ["several-writers"])


@pytest.mark.parametrize("engines", [[SPARK] * 3, [SPARK, SPARK, NEWER], [""], ["", SPARK]])
def test_one_writer_and_its_upgrade_are_none(engines: list[str]) -> None:
    assert codes(several(engines)) == ["single-driver"]


def test_what_another_wrote_long_ago_is_none() -> None:
    assert codes(several([SPARK, RUST], age=30 * DAY)) == ["single-driver"]
