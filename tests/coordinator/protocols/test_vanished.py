"""Versions that are gone from the end of the log, which then looks whole."""

from dataclasses import replace
from typing import Any

import pytest

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
from tests.coordinator.protocols.judged import codes, finding, verdict_of

DELTA_RS = "_commit_8f0a3b0c-7f7e-4c5e-9d57-1d2b5f0a9c11.json.tmp"
EXPIRES = 1_700_000_000
NEVER_SEEN: dict[str, Any] = {"seen_at": None, "size": None, "etag": None}


def looked_up(facts: TableFacts, *found: int) -> TableFacts:
    """The facts after every object that diagnosis wants was looked up; of versions only those are there."""
    there = {commit_name(version): log_object(commit_name(version)) for version in found}
    return replace(facts, heads={name: there.get(name) for name in wanted_heads(facts)})


def after(*seen: Provenance, log: Any = None, **facts: Any) -> TableFacts:
    """Versions 0 to 4 are there, these were seen, and all that is wanted was looked up and is not there."""
    return looked_up(table_facts(log or listing(range(5)), seen=seen, **facts))


def vanished(facts: TableFacts) -> list[Finding]:
    return judge_vanished(LogView(facts))


def accepted(version: int, name: str = "", **known: Any) -> Provenance:
    """A version that an entry was seen to accept, and that was never seen published."""
    return provenance(version, store=STORE, file_name=name or temp_name(version), **NEVER_SEEN, **known)


COORDINATED = provenance(5, store=COORDINATOR, **{**NEVER_SEEN, "lock_domain": TABLE_ID})


@pytest.mark.parametrize("mechanism", Mechanism)
def test_versions_that_were_published_and_are_gone_are_one_finding(mechanism: Mechanism) -> None:
    (found,) = vanished(after(*(provenance(v) for v in range(8)), mechanism=mechanism))

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
    assert verdict_of(facts).published_version == 5


def test_a_version_that_was_accepted_and_never_seen_published_is_lost_all_the_same() -> None:
    (found,) = vanished(after(accepted(5)))

    assert (found.severity, found.state, found.version) == (Severity.CRITICAL, State.UNSAFE, 5)
    assert found.summary == (
        "Version 5 was accepted and was never seen published, and no item names it any more. Readers silently see 4."
    )


def test_published_and_accepted_ones_are_told_together() -> None:
    assert "Versions 5 to 6 were published or accepted and are gone" in vanished(
        after(provenance(5), accepted(6))
    )[0].summary  # fmt: skip


def asked(**stores: Any) -> dict[str, Any]:
    return {"asked_stores": AskedStores(**{name: frozenset(held) for name, held in stores.items()})}


@pytest.mark.parametrize(
    ("seen", "read", "code"),
    [
        (accepted(5), {"problems": [ReadingProblem("entries", "AccessDenied")]}, "undecided"),
        (accepted(5), {"unread_stores": [ReadingProblem(f"DynamoDB table {STORE}", "AccessDenied")]}, "undecided"),
        (accepted(5), {"unread_stores": [ReadingProblem("DynamoDB table another", "AccessDenied")]}, "vanished"),
        (accepted(5), asked(log_stores=["another"]), "undecided"),
        (accepted(5), asked(coordinators=[STORE]), "undecided"),
        (accepted(5), asked(log_stores=[STORE]), "vanished"),
        (accepted(5), {"region": "us-east-1"}, "undecided"),
        (accepted(5, expire_time=EXPIRES), {}, "vanished"),
        (accepted(5, DELTA_RS, expire_time=EXPIRES), {}, "vanished"),
        (COORDINATED, asked(log_stores=[COORDINATOR]), "undecided"),
        (COORDINATED, asked(registrations=[(COORDINATOR, "another")]), "undecided"),
        (COORDINATED, asked(registrations=[(COORDINATOR, TABLE_ID)]), "vanished"),
        (COORDINATED, asked(coordinators=[COORDINATOR]), "vanished"),
        (COORDINATED, {}, "vanished"),
    ],
)
def test_a_lost_commit_is_undecided_while_its_store_is_not_read(seen, read, code) -> None:
    assert [one.code for one in vanished(after(seen, **read))] == [code]


def test_the_store_that_was_not_read_is_named() -> None:
    (found,) = vanished(after(accepted(5), region="us-east-1"))

    assert (found.severity, found.state) == (Severity.WARNING, State.NOT_CHECKED)
    assert f"{STORE}, which accepted it, was not read" in found.summary


def test_what_an_admin_gave_up_is_not_lost_again() -> None:
    assert vanished(after(abandoned(accepted(5), [temp_name(5)], NOW))) == []


def test_an_entry_that_delta_rs_may_have_given_up_is_undecided() -> None:
    (found,) = vanished(after(accepted(5, DELTA_RS)))

    assert (found.code, found.severity, found.state) == ("undecided", Severity.WARNING, State.NOT_CHECKED)
    assert found.summary == (
        "Whether version 5 was lost cannot be decided: its entry was gone before it was complete, and delta-rs, "
        "which wrote it, removes what it gives up."
    )


def test_while_an_item_names_it_a_lost_file_has_its_state() -> None:
    by_entry = looked_up(log_store_facts(listing(range(5)), entry(4), entry(5), seen=[provenance(5)]))
    by_registration = looked_up(coordinated_facts(listing(range(5)), registration(5), seen=[provenance(5)]))

    assert codes(by_entry) == ["C7"]
    assert vanished(by_registration) == []


@pytest.mark.parametrize("commits", [[3, 5], []], ids=["a gap and a cleaned-up beginning", "no commit at all"])
def test_what_is_not_gone_from_the_end_is_another_matter(commits: list[int]) -> None:
    assert vanished(after(*(provenance(v) for v in range(6)), log=listing(commits))) == []


def test_files_that_hold_what_was_committed_are_named() -> None:
    temp = log_object(temp_name(5))
    facts = after(provenance(5), log=listing(range(5), temp=[temp]))

    assert vanished(facts)[0].evidence["gone"][0]["survivors"] == [temp.name]
    assert [one["file"] for one in finding(facts, "vanished").evidence["last_copies"]] == [temp.name]


def test_of_very_many_only_those_next_to_the_end_are_looked_up() -> None:
    facts = table_facts(listing(range(5)), seen=[provenance(v) for v in range(99)])
    (found,) = vanished(looked_up(facts))

    assert sorted(wanted_heads(facts)) == [commit_name(version) for version in range(5, 5 + MOST_LOOKED_UP)]
    assert (found.version, found.evidence["count"], len(found.evidence["gone"])) == (98, 94, MOST_LOOKED_UP)
