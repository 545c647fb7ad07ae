"""States C0 to C11 of the log store."""

import pytest

from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.verdict import Finding, Severity, State, Verdict
from lake.delta.facts import TableFacts
from tests.builders.facts import (
    DAY,
    commit_name,
    entry,
    listing,
    log_object,
    log_store_facts,
    temp_name,
)

FOUR = [entry(v) for v in range(4)]
THREE = FOUR[:3]
FOUR_TEMPS = [temp_name(v) for v in range(4)]


def finding(verdict: Verdict, code: str) -> Finding:
    return next(one for one in verdict.findings if one.code == code)


def codes(verdict: Verdict) -> list[str]:
    return [one.code for one in verdict.findings]


STATES: list[tuple[str, TableFacts, State, str, int | None, int, tuple[str, ...]]] = [
    (
        "C1 loser's temp file",
        log_store_facts(listing(temp=[*FOUR_TEMPS, log_object(temp_name(3, "loser"), age=2 * DAY)]), *FOUR),
        State.HEALTHY,
        "C1",
        3,
        3,
        ("remove-orphans",),
    ),
    (
        "C1 death before the entry",
        log_store_facts(listing(temp=[temp_name(4)]), *FOUR),
        State.HEALTHY,
        "C1",
        3,
        3,
        (),
    ),
    (
        "C2",
        log_store_facts(listing(range(3), temp=FOUR_TEMPS), *THREE, entry(3, complete=False)),
        State.PENDING,
        "C2",
        2,
        3,
        ("publish-commit",),
    ),
    (
        "C2 of the first version",
        log_store_facts(listing((), temp=[temp_name(0)]), entry(0, complete=False)),
        State.PENDING,
        "C2",
        None,
        0,
        ("publish-commit",),
    ),
    (
        "C4",
        log_store_facts(listing(temp=FOUR_TEMPS), *THREE, entry(3, complete=False), equal_bytes={3: True}),
        State.ATTENTION,
        "C4",
        3,
        3,
        ("complete-entry",),
    ),
    (
        "C4 with other bytes",
        log_store_facts(listing(temp=FOUR_TEMPS), *THREE, entry(3, complete=False), equal_bytes={3: False}),
        State.UNSAFE,
        "C4",
        3,
        3,
        (),
    ),
    (
        "C6",
        log_store_facts(listing(range(3), temp=FOUR_TEMPS), *FOUR),
        State.BLOCKED,
        "C6",
        2,
        3,
        ("republish-file",),
    ),
    ("C7", log_store_facts(listing(range(3), temp=FOUR_TEMPS[:3]), *FOUR), State.BLOCKED, "C7", 2, 3, ()),
    (
        "C9",
        log_store_facts(listing(temp=FOUR_TEMPS), *FOUR[:1], entry(1, complete=False), *FOUR[2:]),
        State.ATTENTION,
        "C9",
        3,
        3,
        ("complete-entry",),
    ),
    (
        "C10",
        log_store_facts(listing(()), entry(0, complete=False)),
        State.BLOCKED,
        "C10",
        None,
        0,
        ("abandon-commit",),
    ),
    (
        "C11",
        log_store_facts(listing(range(3), temp=FOUR_TEMPS[:3]), *THREE, entry(3, complete=False)),
        State.BLOCKED,
        "C11",
        2,
        3,
        ("abandon-commit",),
    ),
]


@pytest.mark.parametrize(
    ("facts", "state", "code", "published", "accepted", "repairs"),
    [case[1:] for case in STATES],
    ids=[case[0] for case in STATES],
)
def test_each_state_has_its_code_its_state_and_its_repairs(
    facts: TableFacts, state: State, code: str, published: int | None, accepted: int, repairs: tuple[str, ...]
) -> None:
    verdict = diagnose(facts)

    assert code in codes(verdict)
    assert (verdict.state, verdict.published_version, verdict.accepted_version) == (state, published, accepted)
    assert finding(verdict, code).repairs == repairs


def test_c0_a_table_on_which_nothing_happened_is_healthy() -> None:
    verdict = diagnose(log_store_facts(listing(temp=FOUR_TEMPS), *FOUR))

    assert (verdict.state, verdict.findings, verdict.unpublished) == (State.HEALTHY, (), ())
    assert verdict.summary == "Every commit up to 3 is published."


def test_c5_a_complete_entry_with_its_file_needs_no_temp_file() -> None:
    verdict = diagnose(log_store_facts(listing(), *FOUR))

    assert {one.code for one in verdict.entries} == {"C5"}
    assert verdict.state is State.HEALTHY


def test_c8_an_entry_that_ttl_removed_is_no_finding() -> None:
    verdict = diagnose(log_store_facts(listing(ages={0: 3 * DAY, 1: 3 * DAY}), *FOUR[2:]))

    assert verdict.findings == ()


def test_a_pending_commit_names_its_temp_file_and_both_witnesses() -> None:
    verdict = diagnose(log_store_facts(listing(range(3), temp=FOUR_TEMPS), *THREE, entry(3, complete=False)))
    found = finding(verdict, "C2")

    assert (
        found.summary == "Commit 3 is accepted but not published. The next reader will publish it; you can do it now."
    )
    assert found.evidence["dynamodb"]["tempPath"] == temp_name(3)
    assert [one["name"] for one in found.evidence["s3"]] == [commit_name(3), temp_name(3)]
    assert verdict.entries[0].file_present is True
    assert verdict.unpublished == (3,)
    assert verdict.oldest_unpublished_at == log_object("any").modified_at


@pytest.mark.parametrize(("age", "severity"), [(59, Severity.INFO), (61, Severity.WARNING)])
def test_a_pending_commit_is_pending_at_once_and_a_warning_after_a_minute(age: float, severity: Severity) -> None:
    temp = [log_object(temp_name(3), age=age)]
    verdict = diagnose(log_store_facts(listing(range(3), temp=temp), *THREE, entry(3, complete=False)))

    assert verdict.state is State.PENDING
    assert finding(verdict, "C2").severity is severity


@pytest.mark.parametrize(("age", "state"), [(59, State.HEALTHY), (61, State.ATTENTION)])
def test_an_incomplete_entry_of_a_published_commit_weighs_only_after_a_minute(age: float, state: State) -> None:
    facts = log_store_facts(listing(ages={3: age}, temp=FOUR_TEMPS), *THREE, entry(3, complete=False))

    assert diagnose(facts).state is state


def test_copies_of_different_length_differ_without_a_comparison() -> None:
    temp = [log_object(temp_name(3), size=999)]
    verdict = diagnose(log_store_facts(listing(temp=temp), *FOUR))

    assert codes(verdict) == ["bytes-differ"]
    assert verdict.state is State.UNSAFE


def test_a_published_commit_without_its_temp_file_is_not_completed_blindly() -> None:
    verdict = diagnose(log_store_facts(listing(), *THREE, entry(3, complete=False)))

    assert finding(verdict, "C4").repairs == ()


def test_a_temp_file_that_delta_rs_moved_is_said_to_be_so_and_leaves_nothing_to_compare() -> None:
    moved = entry(3, complete=False, temp="_commit_5f0c.json.tmp")

    found = finding(diagnose(log_store_facts(listing(), *THREE, moved)), "C4")

    assert "Its temp file was moved or deleted, so the bytes cannot be compared." in found.summary
    assert found.repairs == ()


def test_a_lost_file_says_what_readers_see_and_what_writers_do() -> None:
    verdict = diagnose(log_store_facts(listing(range(3), temp=FOUR_TEMPS), *FOUR))

    assert verdict.summary == (
        "Commit 3 is complete in DynamoDB, but 3.json is gone. Readers silently see 2; writers retry without end. "
        "The temp file survives."
    )


def test_a_table_that_cannot_be_listed_is_said_to_be_intact() -> None:
    facts = log_store_facts(listing(range(3), temp=FOUR_TEMPS[:3]), *THREE, entry(3, complete=False))

    assert diagnose(facts).summary.startswith("Readers get DELTA_TABLE_NOT_FOUND although the table is intact up to 2")


def test_many_temp_files_of_one_version_in_a_minute_are_a_spinning_writer() -> None:
    tries = [log_object(temp_name(3, f"try{i}"), age=100 + i) for i in range(25)]
    verdict = diagnose(log_store_facts(listing(range(3), temp=[*FOUR_TEMPS, *tries]), *FOUR))

    assert finding(verdict, "writers-spinning").evidence["files_within_a_minute"] == 25
    assert verdict.state is State.BLOCKED


def test_temp_files_spread_over_hours_are_no_spinning_writer() -> None:
    tries = [log_object(temp_name(3, f"try{i}"), age=100 + 600 * i) for i in range(25)]

    assert "writers-spinning" not in codes(diagnose(log_store_facts(listing(range(3), temp=tries), *THREE)))


def test_a_temp_file_that_was_not_looked_up_leaves_the_state_undecided() -> None:
    verdict = diagnose(log_store_facts(listing(range(3), temp=None), *THREE, entry(3, complete=False)))

    assert codes(verdict) == ["undecided"]
    assert (verdict.state, verdict.accepted_version, verdict.unpublished) == (State.NOT_CHECKED, 3, (3,))
    assert temp_name(3) in verdict.summary


def test_a_lost_file_blocks_although_its_temp_file_was_not_looked_up() -> None:
    verdict = diagnose(log_store_facts(listing(range(3), temp=None), *FOUR))

    assert (codes(verdict), verdict.state) == (["undecided"], State.BLOCKED)


def test_an_object_looked_up_singly_wins_over_the_listing() -> None:
    heads = {commit_name(3): log_object(commit_name(3)), temp_name(3): log_object(temp_name(3))}
    verdict = diagnose(log_store_facts(listing(range(3), temp=None), *FOUR, heads=heads))

    assert (verdict.state, verdict.published_version) == (State.HEALTHY, 3)


def test_an_incomplete_entry_above_a_gap_would_be_published_there() -> None:
    facts = log_store_facts(listing(range(2), temp=FOUR_TEMPS[3:]), *FOUR[:2], entry(3, complete=False))
    verdict = diagnose(facts)

    assert (verdict.state, finding(verdict, "rewind-leftover").repairs) == (State.BLOCKED, ())


def test_an_unpublished_commit_below_published_ones_blocks() -> None:
    facts = log_store_facts(listing([0, 1, 3], temp=FOUR_TEMPS), *FOUR[:2], entry(2, complete=False), FOUR[3])
    verdict = diagnose(facts)

    assert verdict.state is State.BLOCKED
    assert {"C2", "version-hole"} <= set(codes(verdict))


def test_entries_of_a_dropped_table_are_one_finding() -> None:
    verdict = diagnose(log_store_facts(listing(()), *FOUR))

    assert verdict.findings[0].code == "leftover-entries"
    assert (verdict.state, verdict.unpublished) == (State.BLOCKED, ())
    assert "C7" not in codes(verdict)


def test_a_cleaned_up_log_does_not_make_old_entries_lost() -> None:
    verdict = diagnose(log_store_facts(listing([2, 3], checkpoints=[2]), *FOUR))

    assert (verdict.state, verdict.unpublished) == (State.HEALTHY, ())


def test_stale_entries_are_drawn_together() -> None:
    stale = [entry(v, complete=False) for v in range(3)]
    found = finding(diagnose(log_store_facts(listing(temp=FOUR_TEMPS), *stale, FOUR[3])), "C9")

    assert (found.version, found.evidence["count"]) == (2, 3)
    assert found.summary == "Entries 0 to 2 still say incomplete although newer ones exist."
