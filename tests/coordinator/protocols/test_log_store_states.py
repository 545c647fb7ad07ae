"""States C0 to C11 of the log store, and several versions lost by one cause, which are one finding."""

from typing import Any

import pytest

from coordinator.protocols.verdict import Finding, Severity, State
from lake.delta.facts import LogListing, TableFacts
from tests.builders.facts import (
    DAY,
    commit_name,
    coordinated_facts,
    coordinator_commit,
    entry,
    listing,
    log_object,
    log_store_facts,
    registration,
    staged_name,
    temp_name,
)
from tests.coordinator.protocols.judged import codes, finding, verdict_of

FOUR = [entry(v) for v in range(4)]
TEMPS = [temp_name(v) for v in range(4)]
LOSER = log_object(temp_name(3, "loser"), age=2 * DAY)


def incomplete(log: LogListing, version: int = 3, **facts: object) -> TableFacts:
    """Entries of versions 0 to 3 of which one is incomplete; above it, none."""
    return log_store_facts(log, *FOUR[:version], entry(version, complete=False), **facts)


WAITING = incomplete(listing(range(3), temp=TEMPS))
LOST = log_store_facts(listing(range(3), temp=TEMPS), *FOUR)
UNRECOVERABLE = incomplete(listing(range(3), temp=TEMPS[:3]))
STALE = log_store_facts(listing(temp=TEMPS), *(entry(v, complete=False) for v in range(3)), FOUR[3])

STATES: list[tuple[str, TableFacts, State, str, tuple[str, ...]]] = [
    ("loser", log_store_facts(listing(temp=[*TEMPS, LOSER]), *FOUR), State.HEALTHY, "C1", ("remove-orphans",)),
    ("death before the entry", log_store_facts(listing(temp=[temp_name(4)]), *FOUR), State.HEALTHY, "C1", ()),
    ("pending", WAITING, State.PENDING, "C2", ("publish-commit",)),
    ("first version", incomplete(listing((), temp=TEMPS), 0), State.PENDING, "C2", ("publish-commit",)),
    ("C4", incomplete(listing(temp=TEMPS), equal_bytes={3: True}), State.ATTENTION, "C4", ("complete-entry",)),
    ("other bytes", incomplete(listing(temp=TEMPS), equal_bytes={3: False}), State.UNSAFE, "C4", ()),
    ("no temp file", incomplete(listing()), State.ATTENTION, "C4", ()),
    ("C6", LOST, State.BLOCKED, "C6", ("republish-file",)),
    ("C7", log_store_facts(listing(range(3), temp=TEMPS[:3]), *FOUR), State.BLOCKED, "C7", ()),
    ("C9", STALE, State.ATTENTION, "C9", ("complete-entry",)),
    ("C10", incomplete(listing(()), 0), State.BLOCKED, "C10", ("abandon-commit",)),
    ("C11", UNRECOVERABLE, State.BLOCKED, "C11", ("abandon-commit",)),
]


@pytest.mark.parametrize(("name", "facts", "state", "code", "repairs"), STATES)
def test_each_state_has_its_code_its_state_and_its_repairs(name, facts, state, code, repairs) -> None:
    verdict = verdict_of(facts)

    found = finding(verdict, code)
    assert (verdict.state, found.repairs) == (state, repairs), name
    assert not (repairs and "nothing repairs" in found.meaning.lower()), "beside a button that does"


def test_c0_and_c5_a_table_on_which_nothing_happened_is_healthy() -> None:
    verdict = verdict_of(log_store_facts(listing(), *FOUR))

    assert (verdict.state, verdict.findings, verdict.unpublished) == (State.HEALTHY, (), ())
    assert {one.code for one in verdict.entries} == {"C5"}
    assert verdict.summary == "Every commit up to 3 is published."


def test_a_pending_commit_names_its_temp_file_and_both_witnesses() -> None:
    verdict = verdict_of(WAITING)
    found = finding(verdict, "C2")

    assert (
        found.summary == "Commit 3 is accepted but not published. The next reader will publish it; you can do it now."
    )
    assert found.evidence["dynamodb"]["tempPath"] == temp_name(3)
    assert [one["name"] for one in found.evidence["s3"]] == [commit_name(3), temp_name(3)]
    assert verdict.entries[0].file_present is True
    assert (verdict.published_version, verdict.accepted_version, verdict.unpublished) == (2, 3, (3,))
    assert verdict.oldest_unpublished_at == log_object("any").modified_at


@pytest.mark.parametrize(("age", "severity"), [(59, Severity.INFO), (61, Severity.WARNING)])
def test_a_pending_commit_is_pending_at_once_and_a_warning_after_a_minute(age: float, severity: Severity) -> None:
    verdict = verdict_of(incomplete(listing(range(3), temp=[log_object(temp_name(3), age=age)])))

    assert (verdict.state, finding(verdict, "C2").severity) == (State.PENDING, severity)


@pytest.mark.parametrize(("age", "state"), [(59, State.HEALTHY), (61, State.ATTENTION)])
def test_an_incomplete_entry_of_a_published_commit_weighs_only_after_a_minute(age: float, state: State) -> None:
    assert verdict_of(incomplete(listing(ages={3: age}, temp=TEMPS))).state is state


def test_a_temp_file_that_delta_rs_moved_is_said_to_be_so_and_leaves_nothing_to_compare() -> None:
    moved = entry(3, complete=False, temp="_commit_5f0c.json.tmp")
    found = finding(log_store_facts(listing(), *FOUR[:3], moved), "C4")

    assert "Its temp file was moved or deleted, so the bytes cannot be compared." in found.summary
    assert "Its temp file is not known" in finding(incomplete(listing(temp=None)), "C4").summary


@pytest.mark.parametrize(("apart", "spins"), [(1, True), (600, False)])
def test_many_temp_files_of_one_version_in_a_minute_are_a_spinning_writer(apart: float, spins: bool) -> None:
    tries = [log_object(temp_name(3, f"try{i}"), age=100 + apart * i) for i in range(25)]

    assert ("writers-spinning" in codes(log_store_facts(listing(range(3), temp=tries), *FOUR))) is spins


def test_a_temp_file_that_was_not_looked_up_leaves_the_state_undecided() -> None:
    verdict = verdict_of(incomplete(listing(range(3), temp=None)))

    assert codes(verdict) == ["undecided"]
    assert (verdict.state, verdict.accepted_version, verdict.unpublished) == (State.NOT_CHECKED, 3, (3,))
    assert temp_name(3) in verdict.summary


def test_a_lost_file_blocks_although_its_temp_file_was_not_looked_up() -> None:
    verdict = verdict_of(log_store_facts(listing(range(3), temp=None), *FOUR))

    assert (codes(verdict), verdict.state) == (["undecided"], State.BLOCKED)


def test_an_incomplete_entry_above_a_gap_would_be_published_there() -> None:
    facts = log_store_facts(listing(range(2), temp=TEMPS), *FOUR[:2], entry(3, complete=False))

    assert (verdict_of(facts).state, finding(facts, "rewind-leftover").repairs) == (State.BLOCKED, ())


def test_an_unpublished_commit_below_published_ones_blocks() -> None:
    facts = log_store_facts(listing([0, 1, 3], temp=TEMPS), *FOUR[:2], entry(2, complete=False), FOUR[3])

    assert finding(facts, "C2").state is State.BLOCKED
    assert "version-hole" in codes(facts)


def test_entries_of_a_dropped_table_are_one_finding() -> None:
    verdict = verdict_of(log_store_facts(listing(()), *FOUR))

    assert codes(verdict) == ["leftover-entries"]
    assert (verdict.state, verdict.unpublished) == (State.BLOCKED, ())


def test_a_cleaned_up_log_does_not_make_old_entries_lost() -> None:
    verdict = verdict_of(log_store_facts(listing([2, 3], checkpoints=[2]), *FOUR))

    assert (verdict.state, verdict.unpublished) == (State.HEALTHY, ())


def test_stale_entries_are_drawn_together() -> None:
    found = finding(STALE, "C9")

    assert (found.version, found.evidence["count"]) == (2, 3)
    assert found.summary == "Entries 0 to 2 still say incomplete although newer ones exist."


EIGHT = [entry(v) for v in range(8)]
EIGHT_TEMPS = [temp_name(v) for v in range(8)]


def critical(facts: TableFacts) -> list[Finding]:
    return [one for one in verdict_of(facts).findings if one.severity is Severity.CRITICAL]


def keys(facts: TableFacts) -> list[tuple[str, int | None, int | None]]:
    return [(one.code, one.first_version, one.version) for one in critical(facts)]


def test_three_lost_trailing_files_of_the_log_store_are_one_finding() -> None:
    [losing] = critical(log_store_facts(listing(range(5), temp=EIGHT_TEMPS), *EIGHT))

    assert (losing.code, list(losing.versions), losing.repairs) == ("C6", [5, 6, 7], ("republish-file",))
    assert losing.summary == (
        "Commits 5 to 7 are complete in DynamoDB, but their files are gone. Readers silently see 4; writers retry "
        "without end. The temp files survive."
    )
    assert (losing.evidence["first_version"], losing.evidence["count"]) == (5, 3)


def losing(published: Any, temp: Any = EIGHT_TEMPS, entries: Any = EIGHT, **log: Any) -> TableFacts:
    return log_store_facts(listing(published, temp=temp, **log), *entries)


NOT_THE_FIFTH = [*EIGHT_TEMPS[:5], *EIGHT_TEMPS[6:]]
TWO_SPELLINGS = [*EIGHT[:6], EIGHT[7], *(entry(v, path="s3://lake/orders") for v in (6, 7))]


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        (losing(range(6)), [("C6", 6, 7)]),
        (losing(range(7)), [("C6", None, 7)]),
        (losing(range(5), NOT_THE_FIFTH), [("C6", 6, 7), ("C7", None, 5)]),
        (losing([0, 1, 4, 5]), [("C6", 6, 7), ("C6", 2, 3)]),
        (losing(range(6), (), TWO_SPELLINGS), [("C7", 6, 7)]),
    ],
    ids=["one was mended", "two were mended", "another kind", "a gap and the end", "two spellings"],
)
def test_only_consecutive_versions_of_one_state_and_effect_are_one_finding(facts: TableFacts, found: Any) -> None:
    assert [one for one in keys(facts) if one[0] in ("C6", "C7")] == found


def test_lost_files_that_no_readable_run_leads_to_are_not_republished() -> None:
    assert [one.repairs for one in critical(losing(range(5), NOT_THE_FIFTH))] == [(), ()]


def test_files_below_and_above_a_checkpoint_weigh_differently() -> None:
    found = [one for one in verdict_of(losing([0, 1, 4, 5, 6, 7], checkpoints=[2])).findings if one.code == "C6"]

    assert [(one.version, one.state) for one in found] == [(3, State.BLOCKED), (2, State.ATTENTION)]


def test_three_lost_trailing_files_of_a_coordinated_table_are_one_finding() -> None:
    staged = [staged_name(v) for v in range(1, 8)]
    [losing] = critical(coordinated_facts(listing(range(5), staged=staged), registration(7)))

    assert (losing.code, list(losing.versions), losing.repairs) == ("K6", [5, 6, 7], ())
    assert losing.summary == (
        "The coordinator's newest version is 7, and it no longer lists 5 to 7, and their files are gone. Readers "
        "silently see 4; writers retry without end. 3 staged files of those versions are there."
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
    [losing] = critical(coordinated_facts(listing([]), registration(last)))

    assert (losing.code, losing.first_version, losing.version) == ("K6", 0, last)
    assert losing.evidence["count"] == 2**63
    assert "No staged file of those versions is there." in losing.summary
