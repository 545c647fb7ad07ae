"""Findings that rest on something not being there, and what a second look makes of them."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from coordinator.protocols.absence import BEING_CHECKED, COMMIT_FILE, ENTRY, Missed, doubtful, missed, withhold
from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.verdict import Absence, Severity, State, Verdict
from lake.delta.facts import LockDomain, TableFacts
from tests.builders.facts import (
    DAY,
    STORE,
    URI,
    coordinated_facts,
    coordinator_commit,
    entry,
    listing,
    log_object,
    log_store_facts,
    provenance,
    registration,
    staged_name,
    table_facts,
    temp_name,
)
from tests.coordinator.protocols.judged import codes, finding
from tests.coordinator.protocols.test_coordinated_states import STATES as COORDINATED_STATES
from tests.coordinator.protocols.test_log_store_states import STATES as LOG_STORE_STATES

FOUR = [entry(v) for v in range(4)]
INCOMPLETE = entry(3, complete=False)
LOST = log_store_facts(listing([0, 1, 3]), *FOUR)
SEEN = {"C4", "bytes-differ", "K4", "two-lock-domains", "staged-size-differs", "path-differs", "refuses-commits"}
"""Critical findings that rest on what was seen: no later look takes them back."""
NO_EQUAL_COPY = "bytes-differ, no staged copy"
"""The same code where it rests on a staged file that is not there."""


def at(published: Iterable[int], version: int, *listed: int, staged: Iterable[str] = (), **item: Any) -> TableFacts:
    log = listing(published, staged=staged)
    return coordinated_facts(log, registration(version, *map(coordinator_commit, listed), **item))


CASES: dict[str, TableFacts] = {
    **{f"{code}, {name}": facts for name, facts, _, code, _ in (*LOG_STORE_STATES, *COORDINATED_STATES)},
    "C2 below": log_store_facts(listing([0, 1, 3], temp=[temp_name(2)]), *FOUR[:2], entry(2, complete=False), FOUR[3]),
    "rewind-leftover": log_store_facts(listing(range(2), temp=[temp_name(3)]), *FOUR[:2], INCOMPLETE),
    "undecided": log_store_facts(listing(range(3), temp=None), *FOUR),
    "leftover-entries": log_store_facts(listing(()), *FOUR),
    "foreign-writer": log_store_facts(listing(), FOUR[0], FOUR[3], engines={1: "delta-rs", 2: "delta-rs"}),
    "incomplete-with-expiry": log_store_facts(listing(range(3)), *FOUR[:3], replace(INCOMPLETE, expire_time=1)),
    "two-lock-domains": log_store_facts(listing(), *FOUR, entry(3, path=URI.replace("s3a:", "s3:"))),
    "bytes-differ": log_store_facts(listing(temp=[log_object(temp_name(3), size=999)]), *FOUR),
    NO_EQUAL_COPY: coordinated_facts(listing(staged=[log_object(staged_name(2), size=900)]), registration(3)),
    "bytes-differ, entry expired": log_store_facts(
        listing(age=2 * DAY, temp=[log_object(temp_name(2), size=900, age=2 * DAY)]),
        *FOUR[3:],
        seen=[provenance(2, store=STORE, file_name=temp_name(2).partition("/")[2])],
    ),
    "version-hole": table_facts(listing([0, 3])),
    "log-start-missing": table_facts(listing([5, 6])),
    "checkpoint-without-commit": table_facts(listing((), checkpoints=[9])),
    "list-not-contiguous": at([0, 1], 4, 4),
    "K3 below": at([0, 1, 3], 3, 2, 3, staged=[staged_name(2)]),
    "staged-size-differs": coordinated_facts(
        listing(staged=[staged_name(4)]), registration(4, coordinator_commit(4, size=7))
    ),
    "path-differs": at(range(4), 3, path="s3a://lake/original"),
    "refuses-commits": at(range(4), 0, accepting=False),
}


def withheld(facts: TableFacts, before: tuple[Missed, ...] = ()) -> Verdict:
    return withhold(diagnose(facts), before, "Somebody is at it.")


@pytest.mark.parametrize("facts", CASES.values(), ids=CASES.keys())
def test_every_critical_finding_says_whether_it_rests_on_an_absence(facts: TableFacts) -> None:
    for one in diagnose(facts).findings:
        if one.severity is Severity.CRITICAL:
            assert bool(one.absent) == (one.code not in SEEN or facts is CASES[NO_EQUAL_COPY]), one.code


def test_the_cases_hold_every_critical_finding_there_is() -> None:
    found = {one.code for facts in CASES.values() for one in diagnose(facts).findings if one.severity == "critical"}

    assert found == SEEN | {
        "C2", "C6", "C7", "C10", "C11", "K3", "K6", "K7", "K8", "K9", "rewind-leftover", "undecided",
        "leftover-entries", "foreign-writer", "incomplete-with-expiry", "version-hole", "log-start-missing",
        "checkpoint-without-commit",
        "list-not-contiguous",
    }  # fmt: skip


@pytest.mark.parametrize("facts", CASES.values(), ids=CASES.keys())
def test_what_one_look_alone_has_missed_is_neither_critical_nor_healthy(facts: TableFacts) -> None:
    before, verdict = diagnose(facts), withheld(facts)

    assert {one.code for one in verdict.findings if one.severity is Severity.CRITICAL} <= SEEN
    assert (BEING_CHECKED in codes(verdict)) == bool(verdict.withheld) == bool(doubtful(before, ()))
    if verdict.withheld:
        assert verdict.state is not State.HEALTHY


@pytest.mark.parametrize("facts", CASES.values(), ids=CASES.keys())
def test_what_a_look_before_missed_too_is_raised_as_it_is(facts: TableFacts) -> None:
    assert withheld(facts, missed(diagnose(facts).findings)) == diagnose(facts)


def test_what_is_being_checked_is_said_with_the_reason_and_its_entry_is_not_called_lost() -> None:
    verdict = withheld(LOST)

    assert (verdict.state, codes(verdict)) == (State.NOT_CHECKED, [BEING_CHECKED])
    assert verdict.summary == "One look did not see …2.json, and that is being checked. Somebody is at it."
    assert [(one.code, one.version) for one in verdict.withheld] == [("C7", 2), ("version-hole", 2)]
    assert [(one.version, one.code, one.published) for one in verdict.entries] == [
        (3, "C5", True),
        (2, "unknown", None),
        (1, "C5", True),
        (0, "C5", True),
    ]


@pytest.mark.parametrize(
    ("code", "what", "first", "last"),
    [("version-hole", COMMIT_FILE, 3, 9), ("C7", COMMIT_FILE, 2, 2), ("version-hole", ENTRY, 2, 2)],
)
def test_another_thing_missing_before_confirms_nothing(code: str, what: str, first: int, last: int) -> None:
    hole = table_facts(listing([0, 1, 3]))

    assert withheld(hole, (Missed(code, Absence(what, first, last)),)).withheld


def test_a_run_is_confirmed_by_each_version_that_was_missing_before() -> None:
    hole = table_facts(listing([0, 1, 5]))

    assert not withheld(hole, (Missed("version-hole", Absence(COMMIT_FILE, 4, 7)),)).withheld


def test_only_what_is_doubtful_is_withheld() -> None:
    holes = table_facts(listing([0, 2, 3, 5]))
    verdict = withheld(holes, (Missed("version-hole", Absence(COMMIT_FILE, 1, 1)),))

    assert [(one.code, one.version) for one in verdict.findings[:2]] == [("version-hole", 1), (BEING_CHECKED, None)]
    assert verdict.state is State.BLOCKED


def test_a_temp_file_that_a_new_try_names_is_another_thing() -> None:
    first = log_store_facts(listing(range(3)), *FOUR[:3], entry(3, complete=False, temp=temp_name(3, "one")))
    again = replace(
        first, entries={LockDomain(STORE, URI): (*FOUR[:3], entry(3, complete=False, temp=temp_name(3, "two")))}
    )

    assert withheld(again, missed(diagnose(first).findings)).withheld


def test_findings_that_are_drawn_into_one_keep_what_each_rests_on() -> None:
    both = [entry(3, path=path) for path in (URI, URI.replace("s3a:", "s3:"))]

    assert finding(log_store_facts(listing(range(3)), *both), "C7").absent == (Absence(COMMIT_FILE, 3, 3),)
