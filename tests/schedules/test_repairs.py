"""Levee repairs while others commit: nothing is lost, nothing invented, and every repair that stopped converges."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from tests.schedules import coordinated_scenes, guarded_scenes, log_store_scenes
from tests.schedules.ending import converge
from tests.schedules.exploring import Stage, Theatre, told
from tests.schedules.scenes import Scene

SCENES = (
    *(*log_store_scenes.SOUND, *log_store_scenes.LOSSES, *log_store_scenes.BREACHES, *log_store_scenes.SEEN_BEFORE),
    *(*coordinated_scenes.SOUND, *coordinated_scenes.LOSSES, *coordinated_scenes.BREACHES),
    *guarded_scenes.SCENES,
)
ASKED_FOR_IN: Mapping[str, str] = {
    "publish-commit": "spark after put entry",
    "complete-entry": "spark after copy",
    "republish-file": "newest file lost",
    "abandon-commit": "temp file of a pending commit lost",
    "backfill": "coordinated after register commit",
    "clear-entries": "coordinated after backfill",
    "publish-accepted-staged-file": "list cleared too early",
    "raise-coordinator-version": "registration from a backup",
    "re-register": "registration lost",
    "remove-orphans": "a writer died after put temp yesterday",
}
PUBLISHING = (
    *("publish-commit", "complete-entry", "republish-file", "backfill"),
    "publish-accepted-staged-file",
)
"""Repairs after which the accepted commit of their version is in the log."""
SHOWN = ("operation", "says", "condition")


def repair(plan: dict[str, Any]) -> Callable[[Stage], None]:
    """Confirm a plan that was made before, and carry it out: what was confirmed, or nothing."""

    def act(stage: Stage) -> None:
        if plan["can_lose"]:
            stage.gate.given_up = tuple(stage.world.ledger.accepted)
        if plan["kind"] in PUBLISHING and not plan["can_lose"]:
            stage.gate.fact = lambda: stage.world.ledger.is_in_the_log(stage.world.lake, plan["version"])
        job = stage.console.repair(plan)
        stage.gate.given_up, held = (), stage.gate.held
        sent = job.result.get("after", {}).get("calls", [])
        confirmed = [{name: call[name] for name in SHOWN} for call in plan["calls"]]
        made = [{name: call[name] for name in SHOWN} for call in sent]
        stage.expect(made == confirmed[: len(made)], f"{made} was sent, and {confirmed} was confirmed")
        if job.state == "succeeded":
            outcomes = {call["outcome"] for call in sent}
            stage.expect(len(made) == len(confirmed), f"“{job.message}”, and not every call was made")
            stage.expect(outcomes <= {"done", "already"}, f"“{job.message}”, and calls ended as {outcomes}")
            stage.expect(any(held), f"“{job.message}”, and at no request after the last write was that so")

    return act


def explore(theatre: Theatre, scene: Scene) -> Iterator[str]:
    """Play the schedules of every repair that the scene asks for."""
    with theatre.scene(scene) as stage:
        stage.console.look()
        for plan in stage.console.plan():
            found = theatre.explore(scene, plan["title"], repair(plan), converge)
            yield from (wrong for wrong in found if not is_beyond_every_condition(scene, wrong))


def is_beyond_every_condition(scene: Scene, wrong: str) -> bool:
    """Whether another lock gave the version away after the last look at it: no condition of S3's PUT spans DynamoDB.

    A reader of the first lock publishes its commit at the same moment. What loses is the second lock.
    """
    met = any(f"({operation}): s3:Put took commit" in wrong for operation in ("s3:Get", "s3:Head", "s3:Put"))
    return met and scene.name in {one.name for one in log_store_scenes.DIVIDED}


@pytest.mark.parametrize("scene", SCENES, ids=str)
def test_a_repair_loses_nothing_whatever_happens_between_two_requests(theatre: Theatre, scene):
    assert not told(explore(theatre, scene))
