"""An offer is shown exactly where a plan may follow, over planted lakes and random ones."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from changes.plan import ChangePlan, Refusal
from coordinator.models import TableFinding
from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.verdict import Verdict
from coordinator.repairs import item_calls, object_calls, orphan_calls
from coordinator.repairs.facts import FileCheck, RepairFacts
from coordinator.repairs.guides import offers_of, without_repair
from coordinator.repairs.planning import plan_repairs, wanted_files, with_possible_repairs
from lake.delta.facts import LockDomain, TableFacts
from lake.delta.names import parse_name
from tests.builders.facts import commit_name, entry, listing, log_object, log_store_facts, temp_name
from tests.coordinator.protocols.test_hostile_facts import facts
from tests.coordinator.repairs.states import repair_facts
from tests.coordinator.repairs.test_planning import PLANNED
from tests.coordinator.repairs.test_refused_plans import REFUSED

Offer = tuple[str, int | None, str]
LOG = "orders/_delta_log/"
MOST_LAKES = 3_000
"""Lakes tried for one reading before it counts as one without a plan."""

PAIRS = {(name.partition(" ")[0].partition(",")[0], repair) for name, _, repair, _ in PLANNED}
"""Each kind of finding with each repair that it may offer."""


def judged(read: TableFacts, coordinator: str = "commits", lock_domains: tuple[LockDomain, ...] = ()) -> Verdict:
    """The verdict as it is stored."""
    return with_possible_repairs(read, diagnose(read), lock_domains, coordinator)


def offered(verdict: Verdict) -> set[Offer]:
    return {(one.code, one.version, repair) for one in verdict.findings for repair in one.repairs}


def planned(given_facts: RepairFacts) -> set[Offer]:
    """What is planned of what the diagnosis names."""
    made = {(one.code, one.version, one.kind) for one in plan_repairs(given_facts) if isinstance(one, ChangePlan)}
    return made & offered(diagnose(given_facts.facts))


@pytest.mark.parametrize(("name", "read", "repair", "expected"), PLANNED, ids=[one[0] for one in PLANNED])
def test_what_can_be_planned_is_offered(name, read, repair, expected):
    found = {(code, offer) for code, _, offer in offered(judged(read))}

    assert (name.partition(" ")[0].partition(",")[0], repair) in found


BY_READING_ANEW = ("K6: two matches", "K0: not read as it is", "K3: unknown coordinator")
# What decides the others are files and raw items, which nobody has read yet when an offer is shown.
BY_FACTS = [one for one in REFUSED if "files" not in one[2] and one[0] not in BY_READING_ANEW]


@pytest.mark.parametrize(("name", "read", "options", "repair", "reason"), BY_FACTS, ids=[one[0] for one in BY_FACTS])
def test_what_is_refused_whatever_files_hold_is_not_offered(name, read, options, repair, reason):
    assert offered(judged(read, **options)) == planned(repair_facts(read, **options))


def test_a_leftover_above_a_gap_is_never_offered_but_the_commit_below_it_is():
    log = listing(range(3), temp=[temp_name(3), temp_name(4)])
    read = log_store_facts(log, entry(3, complete=False), entry(4, complete=False))

    assert ("rewind-leftover", 4, "publish-commit") not in offered(judged(read))
    assert ("C2", 3, "publish-commit") in offered(judged(read))


# Random lakes


@given(facts())
def test_every_pair_of_finding_and_repair_has_a_lake_of_its_own_above(read):
    assert {(code, repair) for code, _, repair in offered(diagnose(read))} <= PAIRS


@given(facts(), st.data())
def test_no_lake_has_a_plan_that_is_not_offered_or_that_leaves_the_tables_own_log_and_items(read, data):
    lake = data.draw(st.sampled_from(list(islice(lakes_of(read), 200))))

    assert planned(lake) <= offered(judged(read))
    for outcome in plan_repairs(lake):
        stays_within_the_table(outcome)


def stays_within_the_table(outcome: ChangePlan | Refusal) -> None:
    if isinstance(outcome, Refusal):
        assert outcome.reason
        return
    assert outcome.calls
    for call in outcome.calls:
        assert call.says
        match call:
            case object_calls.Publish():
                assert call.source.startswith(LOG)
                assert call.key.startswith(LOG)
                assert ".." not in call.source
            case orphan_calls.DeleteOrphan():
                assert call.key.startswith(LOG)
            case item_calls.CompleteEntry() | item_calls.DeleteEntry():
                assert call.table_path.rstrip("/").endswith("://lake/orders")
            case item_calls.ClearCommits() | item_calls.RaiseVersion() | item_calls.DeleteRegistration():
                assert call.path.rstrip("/").endswith("://lake/orders")


@given(facts())
def test_every_offer_has_a_lake_in_which_it_can_be_planned(read):
    missing = offered(judged(read))
    for lake in islice(lakes_of(read), MOST_LAKES):
        if not missing:
            return
        missing -= planned(lake)

    assert not missing


def lakes_of(read: TableFacts) -> Iterator[RepairFacts]:
    """What planning may find when it reads such a table: folders that were not listed, and files of any contents."""
    log = read.listing
    whole = replace(read, listing=replace(log, temp_files=log.temp_files or (), staged=log.staged or ()))
    verdict = diagnose(read)
    raw: dict[tuple[str, str], Any] = {
        (one.store, one.table_id): {"commits": {"L": []}} for one in read.registrations if one.table_id
    }
    names = wanted_files(whole, verdict)
    sizes = {one.name: one.size for one in (*(log.temp_files or ()), *(log.staged or ()))}
    sizes |= {name: found.size for name, found in read.heads.items() if found}
    for times in product(*(possible_times(read, name) for name in names)):
        files = {
            name: FileCheck(name, sizes.get(name, 0), "e", name, 1, time)
            for name, time in zip(names, times, strict=True)
        }
        yield RepairFacts(whole, verdict, (), "commits", raw, files)


def possible_times(read: TableFacts, name: str) -> list[int | None]:
    """In-commit timestamps that a file may hold: none, one that an item has for its version, or some other."""
    parsed = parse_name(name)
    version = parsed.version
    listed = [c.in_commit_timestamp for one in read.registrations for c in one.commits if c.version == version]
    accepted = [one.table_timestamp for one in read.registrations if one.table_version == version]
    own = [1] if "/" not in name else []
    return list(dict.fromkeys([*listed, *accepted, *own, None]))


def test_a_commit_seen_by_a_look_at_the_logs_tail_alone_is_offered():
    """Planning lists what that look leaves out."""
    tail = listing(range(3, 4), from_version=3, temp=None, staged=None)
    temp = temp_name(4)
    read = log_store_facts(tail, entry(4, complete=False), heads={temp: log_object(temp), commit_name(4): None})

    assert offered(judged(read)) == {("C2", 4, "publish-commit")}


# What the page says instead


def stored(verdict: Verdict, code: str) -> TableFinding:
    one = next(found for found in verdict.findings if found.code == code)
    return TableFinding(
        code=one.code,
        version=one.version,
        state=one.state,
        summary=one.summary,
        meaning=one.meaning,
        evidence=dict(one.evidence),
        repairs=list(one.repairs),
    )


def test_a_repair_that_a_finding_may_have_and_this_one_cannot_is_shown_with_the_reason():
    read = log_store_facts(
        listing(temp=[temp_name(3)]), entry(3, complete=False, problems=("expireTime is S 'x', not number (N).",))
    )
    finding = stored(judged(read), "C4")

    assert offers_of([finding]) == []
    [without] = without_repair([finding])
    assert (without.title, without.reason.partition(",")[0]) == ("Complete entry 3", "The entry is malformed")
