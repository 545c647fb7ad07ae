"""Versions that are gone from the end of the log, which then looks whole."""

from dataclasses import replace
from typing import Any

import pytest

from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.log_view import LogView
from coordinator.protocols.needed_facts import wanted_heads
from coordinator.protocols.provenance import abandoned
from coordinator.protocols.remembered import MOST_LOOKED_UP, judge_vanished
from coordinator.protocols.verdict import Finding, Severity, State
from lake.delta.facts import AskedStores, Mechanism, Provenance, ReadingProblem, TableFacts
from tests.builders.facts import (
    COORDINATOR,
    NOW,
    STORE,
    TABLE_ID,
    commit_name,
    coordinated_facts,
    entry,
    listing,
    log_object,
    log_store_facts,
    provenance,
    registration,
    table_facts,
    temp_name,
)

DELTA_RS = "_commit_8f0a3b0c-7f7e-4c5e-9d57-1d2b5f0a9c11.json.tmp"
EXPIRES = 1_700_000_000


def looked_up(facts: TableFacts, *found: int) -> TableFacts:
    """The facts after every object that diagnosis wants was looked up; of versions only those are there."""
    there = {commit_name(version): log_object(commit_name(version)) for version in found}
    return replace(facts, heads={name: there.get(name) for name in wanted_heads(facts)})


def vanished(facts: TableFacts) -> list[Finding]:
    return judge_vanished(LogView(facts))


@pytest.mark.parametrize("mechanism", Mechanism)
def test_versions_that_were_published_and_are_gone_are_one_finding(mechanism: Mechanism) -> None:
    facts = table_facts(listing(range(5)), mechanism=mechanism, seen=[provenance(v) for v in range(8)])
    (found,) = vanished(looked_up(facts))

    assert (found.severity, found.state, found.version) == (Severity.CRITICAL, State.UNSAFE, 7)
    assert found.summary == (
        "Versions 5 to 7 were published and are gone, and no item names them any more. Readers silently see 4."
    )
    assert [one["version"] for one in found.evidence["gone"]] == [5, 6, 7]
    assert found.evidence["gone"][0]["etag"] == "e"


def test_nothing_is_said_before_they_were_looked_up_once_more() -> None:
    facts = table_facts(listing(range(5)), seen=[provenance(v) for v in range(8)])

    assert vanished(facts) == []
    assert wanted_heads(facts) == tuple(commit_name(version) for version in (7, 6, 5))


def test_a_file_that_has_come_back_meanwhile_is_not_gone() -> None:
    facts = looked_up(table_facts(listing(range(5)), seen=[provenance(v) for v in range(6)]), 5)

    assert vanished(facts) == []
    assert diagnose(facts).published_version == 5


def accepted(version: int, name: str = "", **known: Any) -> Provenance:
    """A version that an entry was seen to accept, and that was never seen published."""
    file = name or temp_name(version)
    return provenance(version, store=STORE, file_name=file, seen_at=None, size=None, etag=None, **known)


@pytest.mark.parametrize("expires", [None, EXPIRES])
def test_a_version_that_was_accepted_and_never_seen_published_is_lost_all_the_same(expires: int | None) -> None:
    (found,) = vanished(looked_up(table_facts(listing(range(5)), seen=[accepted(5, expire_time=expires)])))

    assert (found.severity, found.state, found.version) == (Severity.CRITICAL, State.UNSAFE, 5)
    assert found.summary == (
        "Version 5 was accepted and was never seen published, and no item names it any more. Readers silently see 4."
    )


def test_one_that_a_coordinator_accepted_is_lost_with_its_registration() -> None:
    seen = provenance(5, store=COORDINATOR, seen_at=None, size=None, etag=None)
    (found,) = vanished(looked_up(table_facts(listing(range(5)), seen=[replace(seen, lock_domain=TABLE_ID)])))

    assert found.versions == range(5, 6)


def test_published_and_accepted_ones_are_told_together() -> None:
    facts = looked_up(table_facts(listing(range(5)), seen=[provenance(5), accepted(6)]))

    assert "Versions 5 to 6 were published or accepted and are gone" in vanished(facts)[0].summary


REFUSED = [ReadingProblem(f"DynamoDB table {STORE}", "AccessDenied")]


@pytest.mark.parametrize(
    "read",
    [
        {"problems": (ReadingProblem("entries", "AccessDenied"),)},
        {"unread_stores": tuple(REFUSED)},
        {"asked_stores": AskedStores(frozenset({"another"}))},
        {"asked_stores": AskedStores(coordinators=frozenset({STORE}))},
        {"region": "us-east-1"},
    ],
    ids=["entries unread", "store refused", "store not asked", "asked as another kind", "another region"],
)
def test_while_its_store_is_not_read_a_lost_commit_is_undecided(read: dict[str, Any]) -> None:
    facts = looked_up(table_facts(listing(range(5)), seen=[accepted(5)]))
    (found,) = vanished(replace(facts, **read))

    assert (found.code, found.severity, found.state) == ("undecided", Severity.WARNING, State.NOT_CHECKED)
    assert f"{STORE}, which accepted it, was not read" in found.summary


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (AskedStores(log_stores=frozenset({COORDINATOR})), "undecided"),
        (AskedStores(registrations=frozenset({(COORDINATOR, "another")})), "undecided"),
        (AskedStores(registrations=frozenset({(COORDINATOR, TABLE_ID)})), "vanished"),
        (AskedStores(coordinators=frozenset({COORDINATOR})), "vanished"),
    ],
    ids=["as a log store", "another registration", "the registration", "scanned"],
)
def test_what_a_coordinator_accepted_is_lost_where_it_was_scanned_or_the_registration_read(
    asked: AskedStores, code: str
) -> None:
    seen = provenance(5, store=COORDINATOR, lock_domain=TABLE_ID, seen_at=None, size=None, etag=None)
    facts = replace(looked_up(table_facts(listing(range(5)), seen=[seen])), asked_stores=asked)

    assert [one.code for one in vanished(facts)] == [code]


def test_a_refusal_of_another_store_decides_nothing() -> None:
    other = (ReadingProblem("DynamoDB table another", "AccessDenied"),)
    facts = looked_up(table_facts(listing(range(5)), seen=[accepted(5)]))

    assert [one.code for one in vanished(replace(facts, unread_stores=other))] == ["vanished"]


def test_what_an_admin_gave_up_is_not_lost_again() -> None:
    given_up = abandoned(accepted(5), [temp_name(5)], NOW)

    assert vanished(looked_up(table_facts(listing(range(5)), seen=[given_up]))) == []


def test_the_temp_file_of_an_accepted_version_is_a_last_copy() -> None:
    temp = log_object(temp_name(5))
    facts = looked_up(log_store_facts(listing(range(5), temp=[temp]), entry(4), seen=[accepted(5)]))
    (found,) = (one for one in diagnose(facts).findings if one.code == "vanished")

    assert [one["file"] for one in found.evidence["last_copies"]] == [temp.name]


def test_an_entry_that_delta_rs_may_have_given_up_is_undecided() -> None:
    facts = looked_up(table_facts(listing(range(5)), seen=[accepted(5, DELTA_RS)]))
    (found,) = vanished(facts)

    assert (found.code, found.severity, found.state) == ("undecided", Severity.WARNING, State.NOT_CHECKED)
    assert found.summary == (
        "Whether version 5 was lost cannot be decided: its entry was gone before it was complete, and delta-rs, "
        "which wrote it, removes what it gives up."
    )


def test_one_that_delta_rs_had_completed_is_lost() -> None:
    (found,) = vanished(looked_up(table_facts(listing(range(5)), seen=[accepted(5, DELTA_RS, expire_time=EXPIRES)])))

    assert found.code == "vanished"


def test_while_an_entry_names_it_a_lost_file_has_its_state() -> None:
    facts = looked_up(log_store_facts(listing(range(5)), entry(4), entry(5), seen=[provenance(5)]))

    assert [one.code for one in diagnose(facts).findings] == ["C7"]


def test_while_a_registration_names_it_a_lost_file_has_its_state() -> None:
    facts = replace(coordinated_facts(listing(range(5)), registration(5)), provenance={5: provenance(5)})

    assert vanished(looked_up(facts)) == []


def test_a_gap_and_a_cleaned_up_beginning_are_other_matters() -> None:
    facts = looked_up(table_facts(listing([3, 5]), seen=[provenance(v) for v in range(6)]))

    assert vanished(facts) == []


def test_a_log_without_any_commit_is_another_matter() -> None:
    assert vanished(looked_up(table_facts(listing(()), seen=[provenance(0)]))) == []


def test_files_that_hold_what_was_committed_are_named() -> None:
    temp = log_object(temp_name(5))
    facts = looked_up(table_facts(listing(range(5), temp=[temp]), seen=[provenance(5)]))

    assert vanished(facts)[0].evidence["gone"][0]["survivors"] == [temp.name]


def test_of_very_many_only_those_next_to_the_end_are_looked_up() -> None:
    facts = table_facts(listing(range(5)), seen=[provenance(v) for v in range(99)])
    (found,) = vanished(looked_up(facts))

    assert sorted(wanted_heads(facts)) == [commit_name(version) for version in range(5, 5 + MOST_LOOKED_UP)]
    assert (found.version, found.evidence["count"], len(found.evidence["gone"])) == (98, 94, MOST_LOOKED_UP)
