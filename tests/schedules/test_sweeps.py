"""Levee sweeps finished temp files while others commit: no last copy of an accepted commit goes."""

from collections.abc import Callable, Iterator

import pytest

from dashboard.jobs.models import Job
from tests.schedules import log_store_scenes
from tests.schedules.ending import converge
from tests.schedules.exploring import Stage, Theatre, told
from tests.schedules.scenes import Scene

SCENES = (
    *(*log_store_scenes.SOUND, *log_store_scenes.LOSSES),
    *(*log_store_scenes.BREACHES, *log_store_scenes.SEEN_BEFORE),
)


def sweep(planned: Job) -> Callable[[Stage], None]:
    def act(stage: Stage) -> None:
        job = stage.console.sweep(planned)
        stage.expect(job.state in ("succeeded", "failed"), f"the job is {job.state}")

    return act


def explore(theatre: Theatre, scene: Scene) -> Iterator[str]:
    """Play the schedules of a sweep, where there is anything to sweep."""
    with theatre.scene(scene) as stage:
        stage.console.look()
        planned = stage.console.plan_sweep()
        if planned.result["plan"]:
            yield from theatre.explore(scene, "sweep", sweep(planned), converge)


@pytest.mark.parametrize("scene", SCENES, ids=str)
def test_a_sweep_loses_nothing_whatever_happens_between_two_requests(theatre: Theatre, scene):
    assert not told(explore(theatre, scene))
