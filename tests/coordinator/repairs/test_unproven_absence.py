"""Nothing is planned from, and nothing is proven by, what one look alone has missed."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from changes.calls import Answer, Result
from changes.execution import CallOutcome, Execution
from changes.plan import ChangePlan, Refusal
from coordinator.observation.targets import TableTarget
from coordinator.protocols.absence import missed, withhold
from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.verdict import Verdict
from coordinator.repairs.carrying_out import still_holds, unproven, was_overtaken
from coordinator.repairs.facts import RepairFacts
from coordinator.repairs.fresh import FreshPlans, Subject
from coordinator.repairs.planning import plan_repairs
from coordinator.repairs.reading import read_for_repair
from lake.delta.facts import TableFacts
from lake.delta.uri import TableUri
from tests.builders.facts import commit_name, entry, listing, log_store_facts, temp_name
from tests.builders.memory_aws import BUCKET
from tests.coordinator.observation.test_fast_writers import PACES, ROOT, Scene
from tests.coordinator.repairs.states import repair_facts

UNRECOVERABLE = log_store_facts(listing(range(3)), *(entry(v) for v in range(3)), entry(3, complete=False))
STALE_AND_A_HOLE = log_store_facts(
    listing([0, 1, 3, 4], temp=[temp_name(v) for v in range(5)]),
    entry(0, complete=False),
    *(entry(v) for v in (1, 3, 4)),
    equal_bytes={0: True},
)


def once(facts: TableFacts) -> RepairFacts:
    """Facts of which only one look was taken."""
    given = repair_facts(facts)
    return replace(given, verdict=withhold(given.verdict, (), "The second look was refused."))


def plans_of(given: RepairFacts) -> list[str]:
    return [one.kind for one in plan_repairs(given) if isinstance(one, ChangePlan)]


def read(scene: Scene) -> RepairFacts:
    """Read the scene's table for a repair."""
    lake = scene.aws.lake()
    target = TableTarget(TableUri.parse(scene.written.uri(ROOT)))
    return read_for_repair(lake, scene.survey(lake, scanned=False), target, datetime.now(UTC))


def test_a_lost_commit_is_abandoned_only_once_its_absence_is_confirmed() -> None:
    assert plans_of(repair_facts(UNRECOVERABLE)) == ["abandon-commit"]
    assert plans_of(once(UNRECOVERABLE)) == []


def test_no_other_repair_is_planned_while_something_is_being_checked() -> None:
    assert plans_of(repair_facts(STALE_AND_A_HOLE)) == ["complete-entry"]
    assert plans_of(once(STALE_AND_A_HOLE)) == []
    refused = [one for one in plan_repairs(once(STALE_AND_A_HOLE)) if isinstance(one, Refusal)]
    [reason] = [one.reason for one in refused if one.kind == "complete-entry"]
    assert "that is being checked" in reason
    assert "Nothing is planned" in reason


def test_a_loss_is_planned_from_one_reading_for_a_repair() -> None:
    scene = Scene("log store")
    scene.writer.step()
    scene.writer.step()
    for key in scene.aws.memory.keys(BUCKET):
        if commit_name(3) in key:
            scene.written.delete(key)

    assert plans_of(read(scene)) == ["abandon-commit"]


@pytest.mark.parametrize("protocol", ["log store", "coordinated"])
@pytest.mark.parametrize("pace", PACES.values(), ids=PACES.keys())
def test_no_commit_of_a_fast_writer_is_planned_away(protocol: str, pace) -> None:
    scene = Scene(protocol)
    scene.before_requests(pace, lambda number: True)

    for one in plan_repairs(read(scene)):
        assert isinstance(one, Refusal) or not one.can_lose


def verdicts() -> tuple[Verdict, Verdict]:
    """Of the unrecoverable table as one look leaves it, and as two do."""
    verdict = diagnose(UNRECOVERABLE)
    return withhold(verdict, (), "It was refused."), withhold(verdict, missed(verdict.findings), "")


def test_a_repair_is_not_proven_while_its_finding_is_being_checked() -> None:
    [plan] = [one for one in plan_repairs(repair_facts(UNRECOVERABLE)) if isinstance(one, ChangePlan)]
    once_seen, twice_seen = verdicts()
    fresh = FreshPlans(twice_seen, (plan,), ())

    doubtful, standing = unproven(plan, fresh, once_seen), unproven(plan, fresh, twice_seen)
    assert doubtful is not None
    assert doubtful.code == "NotProven"
    assert standing is not None
    assert standing.code == "StillWrong"


def test_a_repair_is_proven_although_another_commit_is_being_checked() -> None:
    [plan] = [one for one in plan_repairs(repair_facts(UNRECOVERABLE)) if isinstance(one, ChangePlan)]
    hole = diagnose(log_store_facts(listing([0, 2]), entry(2)))
    afterwards = withhold(hole, (), "It was refused.")

    assert unproven(plan, FreshPlans(verdicts()[1], (plan,), ()), afterwards) is None

    assert [one.code for one in afterwards.withheld] == ["version-hole"]


def test_a_repair_that_stopped_is_not_called_overtaken_by_what_is_being_checked() -> None:
    [plan] = [one for one in plan_repairs(repair_facts(UNRECOVERABLE)) if isinstance(one, ChangePlan)]
    stopped = Execution(plan.calls, (CallOutcome(plan.calls[0], Answer(Result.STOPPED, "It changed.")),))
    once_seen, twice_seen = (FreshPlans(verdict, (), ()) for verdict in verdicts())

    assert was_overtaken(plan, stopped, twice_seen)
    assert not was_overtaken(plan, stopped, once_seen)
    assert not once_seen.was_read
    assert still_holds(Subject.of(plan), once_seen)
