"""Whatever has happened to a lake: no repair and no sweep lets the last copy of an accepted commit go.

The oracle knows the bytes of every commit that was ever accepted, and nothing of names, sizes, times or ETags.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from changes.plan import ChangePlan
from coordinator.repairs import item_calls, object_calls, orphan_calls
from coordinator.repairs.planning import plan_repairs
from coordinator.settings.sweep import SweepTable, Tally, sweep_table
from lake.aws.access import Lake
from tests.builders.changes import execute_plan
from tests.schedules.broken_lakes import BrokenLake, coordinated_lake, log_store_lake, rows
from tests.schedules.clients import open_through, read_table_anew, straight_work
from tests.schedules.clock import NOW, stopped_clock
from tests.schedules.gate import Gate
from tests.schedules.place import BUCKET, COORDINATOR, LOG, LOG_STORE, PATH
from tests.schedules.world import World

MAKERS = [log_store_lake, coordinated_lake]
LAKES = 150
"""Lakes of each kind in which every repair is planned at least once."""


@pytest.fixture(autouse=True, scope="module")
def _straight() -> Iterator[None]:
    with straight_work():
        yield


@contextmanager
def clients_of(broken: BrokenLake) -> Iterator[Lake]:
    """Levee's clients of the lake, at the moment at which it is broken."""
    with stopped_clock() as clock, open_through(Gate(World(clock, broken.lake), clock)) as lake:
        yield lake


def plans_of(broken: BrokenLake) -> list[ChangePlan]:
    with clients_of(broken) as lake:
        read = read_table_anew(lake, had_entries=not broken.is_coordinated, seen=broken.seen)
    return [one for one in plan_repairs(read) if isinstance(one, ChangePlan)]


def carry_out(plan: ChangePlan, broken: BrokenLake) -> None:
    with clients_of(broken) as lake:
        execute_plan(plan, lake)


def check_plan(broken: BrokenLake, plan: ChangePlan) -> None:
    """Carry one plan out on a lake of its own, and ask the oracle."""
    after = deepcopy(broken)
    carry_out(plan, after)
    assert broken.surviving() <= after.surviving(), f"{plan.title} let the last copy of an accepted commit go"
    if plan.can_lose:
        return
    for version, data in after.published().items():
        if broken.published().get(version) != data:
            assert rows(data) == rows(accepted(broken, version)), f"{plan.title} published what was not accepted"
    for version in open_versions(broken) - open_versions(after):
        assert after.published().get(version) == accepted(broken, version), f"{plan.title} settled another commit"


def accepted(broken: BrokenLake, version: int) -> bytes:
    return broken.accepted[version][-1].data


def open_versions(broken: BrokenLake) -> set[int]:
    """Versions of which an item says that something is left to do: incomplete entries, and listed commits."""
    entries = [item for item in broken.items(LOG_STORE) if item["complete"] == {"S": "false"}]
    incomplete = {int(item["fileName"]["S"].partition(".")[0]) for item in entries}
    items = broken.items(COORDINATOR)
    return incomplete | {int(one["M"]["version"]["N"]) for item in items for one in item["commits"]["L"]}


def check_all(broken: BrokenLake) -> None:
    """Each plan alone, then those without loss until none is left that was not tried."""
    for plan in plans_of(broken):
        check_plan(broken, plan)
    before, tried = broken.surviving(), set()
    while plan := next((one for one in plans_of(broken) if not one.can_lose and one.digest not in tried), None):
        tried.add(plan.digest)
        carry_out(plan, broken)
        assert before <= broken.surviving()


@pytest.mark.parametrize("make", MAKERS)
@given(st.data())
def test_no_repair_lets_the_last_copy_of_an_accepted_commit_go(
    make: Callable[[Any], BrokenLake], data: st.DataObject
) -> None:
    check_all(make(lambda choices: data.draw(st.sampled_from(choices))))


@pytest.fixture(scope="module")
def tried() -> list[ChangePlan]:
    """Every plan of some lakes of each kind."""
    return [plan for make in MAKERS for broken in some_lakes(make, LAKES) for plan in plans_of(broken)]


def test_every_repair_that_deletes_or_publishes_is_among_those_tried(tried: list[ChangePlan]) -> None:
    """With and without an admin's word, where both exist."""
    assert {
        ("publish-commit", "C2", False),
        ("complete-entry", "C4", False),
        ("complete-entry", "C9", False),
        ("republish-file", "C6", False),
        ("abandon-commit", "C11", True),
        ("remove-orphans", "C1", False),
        ("remove-orphans", "C1", True),
        ("remove-orphans", "K0", False),
        ("remove-orphans", "K2", False),
        ("remove-orphans", "K2", True),
        ("backfill", "K3", False),
        ("clear-entries", "K4", False),
        ("publish-accepted-staged-file", "K6", False),
        ("publish-accepted-staged-file", "K6", True),
        ("re-register", "K8", True),
        ("raise-coordinator-version", "K9", False),
    } <= {(plan.kind, plan.code, plan.can_lose) for plan in tried}


def test_every_deletion_without_a_word_names_its_proof(tried: list[ChangePlan]) -> None:
    """Each file has a survivor, an entry that names another, or a comparison just before; each item a comparison."""
    seen = {how for plan in tried if not plan.can_lose for how in proven(plan)}
    assert {"survivor", "named", "compared", "completed", "cleared"} <= seen


def proven(plan: ChangePlan) -> Iterator[str]:
    compared = {(call.one, call.other) for call in plan.calls if isinstance(call, object_calls.RequireEqual)}
    for call in plan.calls:
        match call:
            case orphan_calls.DeleteOrphan():
                kinds = {"survivor": call.survivor, "named": call.named, "compared": call.registration and compared}
                listed = call.registration and not compared
                assert any(kinds.values()) or listed, call
                yield next((kind for kind, there in kinds.items() if there), "listed")
            case item_calls.CompleteEntry():
                assert (f"{LOG}{call.temp_path}", f"{LOG}{call.file_name}") in compared, call
                yield "completed"
            case item_calls.ClearCommits():
                published = {other for _, other in compared} | {
                    c.key for c in plan.calls if isinstance(c, object_calls.Publish)
                }
                assert len(published) >= len(call.commits["L"]), call
                yield "cleared"
            case item_calls.DeleteEntry():
                raise AssertionError("an entry goes only where an admin says so")


def some_lakes(make: Callable[[Any], BrokenLake], count: int) -> Iterator[BrokenLake]:
    for seed in range(count):
        yield make(random.Random(seed).choice)


@given(st.data())
def test_no_sweep_lets_the_last_copy_of_an_accepted_commit_go(data: st.DataObject) -> None:
    broken = log_store_lake(lambda choices: data.draw(st.sampled_from(choices)))
    before = broken.surviving()
    for _ in range(2):
        swept(broken)
        assert before <= broken.surviving()


def test_sweeps_delete_what_is_copied_and_what_lost() -> None:
    counts: Counter[str] = Counter()
    for broken in some_lakes(log_store_lake, 100):
        tally = swept(broken)
        counts.update({"deleted": tally.deleted, "kept": sum(tally.verdicts.values()) - tally.deleted})
    assert min(counts["deleted"], counts["kept"]) > 25


def swept(broken: BrokenLake) -> Tally:
    call, tally = SweepTable(BUCKET, LOG, NOW.isoformat(), ((LOG_STORE, PATH),), ""), Tally()
    with clients_of(broken) as lake:
        sweep_table(call, lake, delete=True, tally=tally, check_cancelled=lambda: None)
    return tally
