"""Every change of a table that is stopped at any request, or whose answer is lost, comes to its end when made again."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from coordinator.coordination.checks import Operation
from coordinator.repairs.kinds import REPAIRS
from tests.schedules import test_coordination, test_repairs, test_sweeps
from tests.schedules.ending import converge
from tests.schedules.exploring import INTERRUPTIONS, Theatre, told
from tests.schedules.scenes import Scene

COORDINATED = {Operation.ENABLE: "plain table", Operation.DROP: "coordinated table, spark before its first change"}


@pytest.fixture
def stopping(make_theatre: Callable[..., Theatre], most_schedules: int) -> Theatre:
    """Plays Levee alone, and ends it at some or each of its requests."""
    return make_theatre(most_schedules, INTERRUPTIONS)


def alone(scenes, name: str) -> Scene:
    return replace(next(one for one in scenes if one.name == name), turns=())


@pytest.mark.parametrize("repair", REPAIRS)
def test_a_repair_converges(stopping: Theatre, repair: str) -> None:
    scene = alone(test_repairs.SCENES, test_repairs.ASKED_FOR_IN[repair])
    with stopping.scene(scene) as stage:
        stage.console.look()
        plan = next(one for one in stage.console.plan() if one["kind"] == repair)
        assert not told(stopping.explore(scene, plan["title"], test_repairs.repair(plan), converge))
    assert stopping.played


@pytest.mark.parametrize("operation", COORDINATED)
def test_an_act_of_coordination_converges(stopping: Theatre, operation: Operation) -> None:
    scenes = (*test_coordination.enabling_scenes(), *test_coordination.dropping_scenes())

    assert not told(test_coordination.explore(stopping, alone(scenes, COORDINATED[operation]), operation))
    assert stopping.played


def test_a_sweep_converges(stopping: Theatre) -> None:
    scene = alone(test_sweeps.SCENES, "a writer died after put temp yesterday")

    assert not told(test_sweeps.explore(stopping, scene))
    assert stopping.played
