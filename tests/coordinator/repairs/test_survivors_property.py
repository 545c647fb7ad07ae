"""Whatever has happened to a lake: no repair and no sweep lets the last copy of an accepted commit go.

The oracle knows the bytes of every commit that was ever accepted, and nothing of names, sizes, times or ETags.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from changes.plan import ChangePlan
from coordinator.repairs import item_calls, object_calls, orphan_calls
from coordinator.repairs.planning import plan_repairs
from coordinator.settings.sweep import SweepTable, Tally, sweep_table
from lake.aws.access import Lake
from tests.builders.changes import execute_plan
from tests.coordinator.repairs.broken_lakes import NOW, BrokenLake, coordinated_lake, log_store_lake, rows
from tests.coordinator.repairs.histories import LOG, URI
from tests.coordinator.repairs.memory_lake import BUCKET, MemoryLake

MAKERS = [log_store_lake, coordinated_lake]


def plans_of(broken: BrokenLake) -> list[ChangePlan]:
    return [one for one in plan_repairs(broken.read()) if isinstance(one, ChangePlan)]


def carry_out(plan: ChangePlan, lake: MemoryLake) -> None:
    execute_plan(plan, lake, now=lambda: NOW.timestamp())


def check_plan(broken: BrokenLake, plan: ChangePlan) -> None:
    """Carry one plan out on a lake of its own, and ask the oracle."""
    after = deepcopy(broken)
    carry_out(plan, after.lake)
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
    entries = broken.lake.items["delta_log"].items()
    incomplete = {int(key[1].partition(".")[0]) for key, item in entries if item["complete"] == {"S": "false"}}
    items = broken.lake.items["commits"].values()
    return incomplete | {int(one["M"]["version"]["N"]) for item in items for one in item["commits"]["L"]}


def check_all(broken: BrokenLake) -> None:
    """Each plan alone, then those without loss until none is left that was not tried."""
    for plan in plans_of(broken):
        check_plan(broken, plan)
    before, tried = broken.surviving(), set()
    while plan := next((one for one in plans_of(broken) if not one.can_lose and one.digest not in tried), None):
        tried.add(plan.digest)
        carry_out(plan, broken.lake)
        assert before <= broken.surviving()


@pytest.mark.parametrize("make", MAKERS)
@given(st.data())
def test_no_repair_lets_the_last_copy_of_an_accepted_commit_go(
    make: Callable[[Any], BrokenLake], data: st.DataObject
) -> None:
    check_all(make(lambda choices: data.draw(st.sampled_from(choices))))


def test_every_repair_that_deletes_or_publishes_is_among_those_tried() -> None:
    """With and without an admin's word, where both exist."""
    tried: Counter[tuple[str, str, bool]] = Counter()
    for make in MAKERS:
        for broken in some_lakes(make, 400):
            tried.update((plan.kind, plan.code, plan.can_lose) for plan in plans_of(broken))
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
    } <= set(tried)


def test_every_deletion_without_a_word_names_its_proof() -> None:
    """Each file has a survivor, an entry that names another, or a comparison just before; each item a comparison."""
    seen: Counter[str] = Counter()
    for make in MAKERS:
        for broken in some_lakes(make, 200):
            for plan in plans_of(broken):
                if not plan.can_lose:
                    seen.update(proven(plan))
    assert {"survivor", "named", "compared", "completed", "cleared"} <= set(seen)


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
    before, call = broken.surviving(), SweepTable(BUCKET, LOG, NOW.isoformat(), (("delta_log", URI),), "")
    for _ in range(2):
        lake = cast("Lake", broken.lake)
        sweep_table(call, lake, delete=True, tally=Tally(), check_cancelled=lambda: None)
        assert before <= broken.surviving()


def test_sweeps_delete_what_is_copied_and_what_lost() -> None:
    swept: Counter[str] = Counter()
    for broken in some_lakes(log_store_lake, 200):
        tally, call = Tally(), SweepTable(BUCKET, LOG, NOW.isoformat(), (("delta_log", URI),), "")
        lake = cast("Lake", broken.lake)
        sweep_table(call, lake, delete=True, tally=tally, check_cancelled=lambda: None)
        swept.update({"deleted": tally.deleted, "kept": sum(tally.verdicts.values()) - tally.deleted})
    assert min(swept["deleted"], swept["kept"]) > 50
