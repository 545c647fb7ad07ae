"""Several versions lost by one cause are one finding."""

from typing import Any

import pytest

from coordinator.protocols.verdict import Finding, Severity, State
from lake.delta.facts import TableFacts
from tests.builders.facts import (
    coordinated_facts,
    coordinator_commit,
    entry,
    listing,
    log_store_facts,
    registration,
    staged_name,
    temp_name,
)
from tests.coordinator.protocols.judged import verdict_of

EIGHT = [entry(v) for v in range(8)]
TEMPS = [temp_name(v) for v in range(8)]


def critical(facts: TableFacts) -> list[Finding]:
    return [one for one in verdict_of(facts).findings if one.severity is Severity.CRITICAL]


def keys(facts: TableFacts) -> list[tuple[str, int | None, int | None]]:
    return [(one.code, one.first_version, one.version) for one in critical(facts)]


def test_three_lost_trailing_files_of_the_log_store_are_one_finding() -> None:
    [lost] = critical(log_store_facts(listing(range(5), temp=TEMPS), *EIGHT))

    assert (lost.code, list(lost.versions), lost.repairs) == ("C6", [5, 6, 7], ("republish-file",))
    assert lost.summary == (
        "Commits 5 to 7 are complete in DynamoDB, but their files are gone. Readers silently see 4; writers retry "
        "without end. The temp files survive."
    )
    assert (lost.evidence["first_version"], lost.evidence["count"]) == (5, 3)


def lost(published: Any, temp: Any = TEMPS, entries: Any = EIGHT, **log: Any) -> TableFacts:
    return log_store_facts(listing(published, temp=temp, **log), *entries)


NOT_THE_FIFTH = [*TEMPS[:5], *TEMPS[6:]]
TWO_SPELLINGS = [*EIGHT[:6], EIGHT[7], *(entry(v, path="s3://lake/orders") for v in (6, 7))]


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        (lost(range(6)), [("C6", 6, 7)]),
        (lost(range(7)), [("C6", None, 7)]),
        (lost(range(5), NOT_THE_FIFTH), [("C6", 6, 7), ("C7", None, 5)]),
        (lost([0, 1, 4, 5]), [("C6", 6, 7), ("C6", 2, 3)]),
        (lost(range(6), (), TWO_SPELLINGS), [("C7", 6, 7)]),
    ],
    ids=["one was mended", "two were mended", "another kind", "a gap and the end", "two spellings"],
)
def test_only_consecutive_versions_of_one_state_and_effect_are_one_finding(facts: TableFacts, found: Any) -> None:
    assert [one for one in keys(facts) if one[0] in ("C6", "C7")] == found


def test_lost_files_that_no_readable_run_leads_to_are_not_republished() -> None:
    assert [one.repairs for one in critical(lost(range(5), NOT_THE_FIFTH))] == [(), ()]


def test_files_below_and_above_a_checkpoint_weigh_differently() -> None:
    found = [one for one in verdict_of(lost([0, 1, 4, 5, 6, 7], checkpoints=[2])).findings if one.code == "C6"]

    assert [(one.version, one.state) for one in found] == [(3, State.BLOCKED), (2, State.ATTENTION)]


def test_three_lost_trailing_files_of_a_coordinated_table_are_one_finding() -> None:
    staged = [staged_name(v) for v in range(1, 8)]
    [lost] = critical(coordinated_facts(listing(range(5), staged=staged), registration(7)))

    assert (lost.code, list(lost.versions), lost.repairs) == ("K6", [5, 6, 7], ())
    assert lost.summary == (
        "The coordinator stands at 7 and no longer lists 5 to 7, and their files are gone. Readers silently see 4; "
        "writers retry without end. 3 staged files of those versions are there."
    )


def test_a_gap_below_what_is_published_stays_a_finding_of_its_own() -> None:
    facts = coordinated_facts(listing(range(5)), registration(9, coordinator_commit(7)))

    assert keys(facts) == [("K6", 8, 9), ("K7", None, 7), ("list-not-contiguous", None, 6)]


def test_lost_staged_files_of_consecutive_versions_are_one_finding() -> None:
    listed = [coordinator_commit(v) for v in (5, 6, 7, 9)]
    found = [
        one for one in critical(coordinated_facts(listing(range(5)), registration(9, *listed))) if one.code == "K7"
    ]

    assert [(one.first_version, one.version) for one in found] == [(None, 9), (5, 7)]
    assert found[1].summary == (
        "Commits 5 to 7 are accepted, but their staged files are gone and they were never backfilled. Every read fails "
        "with FAILED_READ_FILE."
    )
    assert len(found[1].absent) == 3


def test_an_item_far_above_the_log_is_judged_at_once() -> None:
    assert keys(coordinated_facts(listing(), registration(2**62))) == [("K6", 4, 2**62)]


def test_a_run_up_to_the_last_version_that_delta_can_have_is_counted() -> None:
    last = 2**63 - 1
    [lost] = critical(coordinated_facts(listing([]), registration(last)))

    assert (lost.code, lost.first_version, lost.version) == ("K6", 0, last)
    assert lost.evidence["count"] == 2**63
    assert "No staged file of those versions is there." in lost.summary
