"""Versions that are gone from the end of the log, which then looks whole."""

from dataclasses import replace

import pytest

from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.log_view import LogView
from coordinator.protocols.needed_facts import wanted_heads
from coordinator.protocols.vanished import MOST_LOOKED_UP, judge_vanished
from coordinator.protocols.verdict import Finding, Severity, State
from lake.delta.facts import Mechanism, TableFacts
from tests.builders.facts import (
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


def looked_up(facts: TableFacts, *found: int) -> TableFacts:
    """The facts after every object that diagnosis wants was looked up; of versions only those are there."""
    there = {commit_name(version): log_object(commit_name(version)) for version in found}
    return replace(facts, heads={name: there.get(name) for name in wanted_heads(facts)})


def vanished(facts: TableFacts) -> list[Finding]:
    return list(judge_vanished(LogView(facts)).findings)


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


def test_a_version_that_was_only_accepted_was_never_published() -> None:
    waiting = replace(provenance(5, store="delta_log"), seen_at=None)

    assert vanished(looked_up(table_facts(listing(range(5)), seen=[waiting]))) == []


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
