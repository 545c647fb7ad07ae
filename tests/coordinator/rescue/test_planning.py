"""When a copy is put back, by whom, and when not: what could let anybody see another state of the table."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from changes.plan import ChangePlan, Refusal
from coordinator.protocols.absence import withhold
from coordinator.repairs.entry_plans import wire_entry
from coordinator.repairs.facts import FileCheck
from coordinator.repairs.rescue import CopiedFrom
from coordinator.repairs.table_under_repair import TableUnderRepair
from coordinator.rescue.copies import CopyKind, SavedCopy, SavedItem
from coordinator.rescue.planning import Restoring, by_hand, plan_file
from lake.delta.facts import TableFacts
from lake.delta.names import checksum_name
from lake.delta.uri import TableUri
from tests.builders.facts import (
    DAY,
    NOW,
    STORE,
    URI,
    commit_name,
    coordinated_facts,
    coordinator_commit,
    entry,
    listing,
    log_object,
    log_store_facts,
    provenance,
    registration,
    staged_name,
    temp_name,
)
from tests.coordinator.repairs.states import DOMAIN, ELSEWHERE, STAMP, file, repair_facts

HERE = CopiedFrom("eu-west-1", "444455556666", "this")
TEMP, STAGED = temp_name(4), staged_name(4)
UNPUBLISHED = log_store_facts(listing(), entry(3))
"""Version 4 is neither published nor accepted."""
NAMED = log_store_facts(listing(), entry(3), entry(4, complete=False))
LISTED = coordinated_facts(listing(), registration(4, coordinator_commit(4)))


def restoring(
    facts: TableFacts,
    kind: CopyKind,
    name: str,
    *,
    copied_from: CopiedFrom = HERE,
    checking: bool = False,
    **known: Any,
) -> Restoring:
    """A copy of an hour after the log was written, and the table of id `this` that is here."""
    assert facts.protocol
    facts = replace(facts, region="eu-west-1", protocol=replace(facts.protocol, table_id="this"))
    given = replace(repair_facts(facts, **known), account="444455556666")
    if checking:
        given = replace(given, verdict=withhold(given.verdict, (), "The second look was refused."))
    copy = SavedCopy(TableUri.parse(URI), "orders/_levee_rescue/x-y-4/z", kind, NOW, "remove-orphans", 4, name)
    return Restoring(TableUnderRepair(given), copy, copied_from)


# Files


def restore(
    facts: TableFacts = UNPUBLISHED,
    name: str = TEMP,
    *,
    check: FileCheck | None = None,
    is_equal: bool | None = None,
    files: Mapping[str, FileCheck] | None = None,
    **given: Any,
) -> ChangePlan | Refusal:
    check = check or file(name, time=STAMP)
    kind = CopyKind.STAGED_FILE if name.startswith("_") else CopyKind.TEMP_FILE
    return plan_file(
        restoring(facts, kind, name, files={**(files or {}), name: check}, **given), check, is_equal=is_equal
    )


def test_a_file_that_no_item_names_is_put_back_by_an_operator() -> None:
    plan = restore()

    assert isinstance(plan, ChangePlan)
    assert (plan.danger, plan.can_lose, plan.version) == ("", False, 4)
    assert plan.calls[0].says.startswith("Copies the saved copy ")


DANGERS: dict[str, tuple[ChangePlan | Refusal, str]] = {
    "an entry names it": (restore(NAMED), f"what readers see of version 4: the entry {commit_name(4)} of {URI} names"),
    "an entry may name it": (
        restore(log_store_facts(listing(), entry(3), entry(4, temp="x", problems=("cut",)))),
        "what readers see of version 4: the entry",
    ),
    "no log store is known": (restore(log_store_facts(listing())), "an entry of a log store that is not known here"),
    "a registration lists it": (restore(LISTED, STAGED), "what readers see of version 4: registration"),
    "the copy has no id": (
        restore(copied_from=CopiedFrom()),
        "what lies in the log of this table: the copy may be of a table that was here before, since it holds no",
    ),
    "the copy has no id and is named": (restore(NAMED, copied_from=CopiedFrom()), "; the copy may be of a table that"),
}


@pytest.mark.parametrize(("plan", "danger"), DANGERS.values(), ids=DANGERS.keys())
def test_a_file_that_may_show_another_state_needs_an_admin(plan: ChangePlan | Refusal, danger: str) -> None:
    assert isinstance(plan, ChangePlan)
    assert plan.can_lose
    assert danger in plan.danger


REFUSED: dict[str, tuple[ChangePlan | Refusal, str]] = {
    "other bytes": (restore(is_equal=False), "nothing is ever overwritten"),
    "being checked": (restore(log_store_facts(listing([0, 2]), entry(2)), checking=True), "is being checked"),
    "entries elsewhere": (restore(replace(UNPUBLISHED, elsewhere=(ELSEWHERE,))), "where this connection does not look"),
    "another table": (
        restore(copied_from=CopiedFrom(metadata_id="another")),
        "The copy is of the table with metaData.id 'another'; the one that is here now has 'this'.",
    ),
    "a younger table": (
        restore(log_store_facts(listing(ages={0: -1}), entry(3)), copied_from=CopiedFrom()),
        "…0.json was written after the copy was saved",
    ),
    "no whole commit": (restore(NAMED, check=file(TEMP, problems=("line 1: cut",))), "is no whole commit"),
    "out of order": (
        restore(NAMED, check=file(TEMP, time=1), files={commit_name(3): file(commit_name(3), time=7)}),
        "in-commit timestamp",
    ),
    "not as accepted": (
        restore(replace(NAMED, provenance={4: provenance(4, store=STORE, file_name="other", size=None)})),
        "other was seen to be accepted as version 4",
    ),
    "another size accepted": (
        restore(LISTED, STAGED, check=file(STAGED, time=STAMP, size=7)),
        "The coordinator accepted",
    ),
}


@pytest.mark.parametrize(("refused", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_a_file_is_not_put_back(refused: ChangePlan | Refusal, reason: str) -> None:
    assert isinstance(refused, Refusal)
    assert (reason in refused.reason, refused.why) == (True, ""), refused.reason


def test_a_file_that_is_there_already_is_nothing_to_do() -> None:
    found = restore(is_equal=True)

    assert isinstance(found, Refusal)
    assert found.why == "nothing-to-do"


def test_a_plan_rests_on_the_place_that_it_was_shown_for() -> None:
    given = restoring(UNPUBLISHED, CopyKind.TEMP_FILE, TEMP)
    elsewhere = replace(given, table=TableUnderRepair(replace(given.table.given, account="1")))
    plans = [plan_file(one, file(TEMP), is_equal=None) for one in (given, elsewhere)]

    assert len({plan.digest for plan in plans if isinstance(plan, ChangePlan)}) == 2


# Items

ABANDONED = log_store_facts(listing(range(4)), entry(3))
"""Version 4 was abandoned, and its entry with it."""
LOST = coordinated_facts(listing())
"""The registration that accepted version 3 last is lost."""


def entry_answer(
    facts: TableFacts = ABANDONED,
    *,
    found: Any = None,
    copied_from: CopiedFrom = HERE,
    checking: bool = False,
    **changed: Any,
) -> Refusal:
    held = replace(entry(4, complete=False), **changed)
    saved = SavedItem(STORE, wire_entry(held), copied_from, entry=held)
    return by_hand(restoring(facts, CopyKind.ENTRY, "", copied_from=copied_from, checking=checking), saved, found, "")


def registration_answer(facts: TableFacts = LOST, *, coordinator: str = "commits", **changed: Any) -> Refusal:
    held = replace(registration(3), **changed)
    saved = SavedItem("commits", {"tableId": {"S": held.table_id}}, HERE, registration=held)
    return by_hand(restoring(facts, CopyKind.REGISTRATION, "", coordinator=coordinator), saved, None, "")


NO_COMMAND: dict[str, tuple[Refusal, str]] = {
    "another item": (entry_answer(found={"x": {"S": "y"}}), "nothing is overwritten"),
    "another region": (
        entry_answer(copied_from=replace(HERE, region="us-east-1")),
        "The copy is from delta_log in 'us-east-1', and this connection reads eu-west-1.",
    ),
    "another account": (
        entry_answer(copied_from=replace(HERE, account="1")),
        "in account '1', and the role of this connection is in 444455556666.",
    ),
    "another table": (entry_answer(copied_from=replace(HERE, metadata_id="another")), "metaData.id 'another'"),
    "being checked": (entry_answer(log_store_facts(listing([0, 2]), entry(2)), checking=True), "is being checked"),
    "entries elsewhere": (entry_answer(replace(ABANDONED, elsewhere=(ELSEWHERE,))), "this connection does not look"),
    "complete": (entry_answer(complete=True), "The entry is complete"),
    "a coordinator": (entry_answer(replace(LOST, entries={DOMAIN: (entry(3),)})), "A commit coordinator gives"),
    "published": (entry_answer(log_store_facts(listing(range(5)), entry(3))), "The log went on without this entry"),
    "a checksum": (
        entry_answer(replace(ABANDONED, listing=replace(listing(), checksums={4: log_object(checksum_name(4))}))),
        "The log went on without this entry",
    ),
    "seen published": (entry_answer(replace(ABANDONED, provenance={4: provenance(4)})), "The log went on without"),
    "a gap below": (entry_answer(log_store_facts(listing(range(3)), entry(2))), "does not end at 3"),
    "not named by metadata": (registration_answer(table_id="other"), "does not name registration other"),
    "another coordinator": (registration_answer(coordinator=""), "do not name the DynamoDB table"),
    "another one accepts": (
        registration_answer(replace(LOST, registrations=(registration(3, table_id="other", store="commits_eu"),))),
        "Registration other in commits_eu accepts commits",
    ),
    "another schema": (registration_answer(schema_version=2), "schemaVersion is 2, and only 1 is known"),
    "a later version": (registration_answer(coordinated_facts(listing(range(5)))), "knows no version after 3"),
    "a later version was seen": (
        registration_answer(replace(LOST, provenance={4: provenance(4)})),
        "knows no version after 3",
    ),
}


@pytest.mark.parametrize(("refused", "reason"), NO_COMMAND.values(), ids=NO_COMMAND.keys())
def test_an_item_has_no_command(refused: Refusal, reason: str) -> None:
    assert (reason in refused.reason, refused.why) == (True, ""), refused.reason


def test_the_answer_says_what_the_command_changes_and_what_was_not_looked_at() -> None:
    with_file = entry_answer(log_store_facts(listing(temp=[log_object(TEMP, age=2 * DAY)]), entry(3)))
    unknown = entry_answer(copied_from=replace(HERE, metadata_id=""))

    assert entry_answer().why == "by-hand"
    assert entry_answer().reason.startswith("Stop the writers of this table first. Version 4 is taken again")
    assert f"fails from then on until {TEMP} is brought back" in entry_answer().reason
    assert f"publishes {TEMP} as that version" in with_file.reason
    assert "Beware: the copy may be of a table that was here before" in unknown.reason
    assert "Writers continue with version 4; every commit from it on" in registration_answer().reason
