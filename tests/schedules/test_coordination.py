"""Levee enables and drops coordinated commits while others commit: nothing is lost, and what it says done is done."""

from collections.abc import Callable, Iterator

import pytest

from coordinator.coordination.checks import Operation
from dashboard.jobs.models import Job
from lake.delta.facts import Mechanism
from tests.schedules import coordinated_scenes as coordinated
from tests.schedules.coordinator import Upgrade
from tests.schedules.ending import converge
from tests.schedules.exploring import Stage, Theatre, told
from tests.schedules.place import COORDINATOR
from tests.schedules.scenes import Scene, Turn, alone, beside, places, standing
from tests.schedules.world import Program, World

ENABLE, DROP = Operation.ENABLE, Operation.DROP
AFTERWARDS = {ENABLE: Mechanism.COORDINATED_COMMITS, DROP: Mechanism.SINGLE_DRIVER}


def enabling_scenes() -> Iterator[Scene]:
    """A table that nothing guards, with a writer that reads it anew for each commit, and somebody who undoes it."""
    actors = (("rival", coordinated.plain_commit, 0), ("undoing", coordinated.drop, 0))
    turns = beside(alone("rival", 1), (Turn("undoing"),), (Turn("undoing", 2),))
    for looked in (False, True):
        play = standing(*actors, looked=looked)
        yield Scene(f"plain table{', its writer had looked' if looked else ''}", coordinated.plain_past, play, turns)


def dropping_scenes() -> Iterator[Scene]:
    """A coordinated table, with writers at every place of a commit, and somebody who enables it again."""
    for changes, where in places(coordinated.COMMIT_CHANGES):
        actors = (("spark", coordinated.commit, changes), ("rival", coordinated.commit, 0), ("undoing", undrop, 0))
        left = len(coordinated.COMMIT_CHANGES) - changes
        turns = beside(alone("spark", left), (Turn("rival"),), (Turn("rival", 2),), (Turn("undoing"),))
        yield Scene(f"coordinated table, spark {where}", coordinated.past, standing(*actors), turns)


def undrop(world: World) -> Program:
    """Enable again, once the registration of before accepts no more."""
    yield "look at the registration"
    if not any(item["acceptingCommits"]["BOOL"] for item in world.lake.items(COORDINATOR)):
        yield from Upgrade(world, coordinated.OTHER_ID).run()


def carry_out(checked: Job, operation: Operation) -> Callable[[Stage], None]:
    """Confirm what was checked before, and do it; what is said done has to be so."""

    def act(stage: Stage) -> None:
        job = stage.console.act(checked)
        stage.expect(job.state in ("succeeded", "failed"), f"the job is {job.state}")
        if job.state == "succeeded":
            mechanism = stage.console.table.mechanism
            stage.expect(mechanism == AFTERWARDS[operation], f"“{job.message}”, and the table is {mechanism}")

    return act


def explore(theatre: Theatre, scene: Scene, operation: Operation) -> Iterator[str]:
    with theatre.scene(scene) as stage:
        stage.console.look()
        checked = stage.console.check(operation)
        yield from theatre.explore(scene, operation.value, carry_out(checked, operation), converge)


@pytest.mark.parametrize("scene", [*enabling_scenes()], ids=str)
def test_an_enable_loses_nothing_whatever_happens_between_two_requests(theatre: Theatre, scene):
    assert not told(explore(theatre, scene, ENABLE))


@pytest.mark.parametrize("scene", [*dropping_scenes()], ids=str)
def test_a_drop_loses_nothing_whatever_happens_between_two_requests(theatre: Theatre, scene):
    assert not told(explore(theatre, scene, DROP))
