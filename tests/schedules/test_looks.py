"""Levee looks while others commit: no alarm on a sound lake, and what is wrong is found."""

from collections.abc import Iterator

import pytest

from coordinator.protocols.verdict import State
from tests.schedules import coordinated_scenes, log_store_scenes
from tests.schedules.ending import finish_all
from tests.schedules.exploring import Judge, Stage, Theatre, later, told
from tests.schedules.scenes import Scene

SOUND = (*log_store_scenes.SOUND, *coordinated_scenes.SOUND)
UNSOUND = (
    *(*log_store_scenes.LOSSES, *log_store_scenes.BREACHES, *log_store_scenes.SEEN_BEFORE),
    *(*coordinated_scenes.LOSSES, *coordinated_scenes.BREACHES),
)
SEEN_BEFORE = log_store_scenes.SEEN_BEFORE


def look(stage: Stage) -> None:
    stage.console.look()


def look_in_full(stage: Stage) -> None:
    stage.console.look(in_full=True)


def look_table_by_table(stage: Stage) -> None:
    """The stores are too large to be scanned in each pass."""
    stage.console.make_stores_large()
    stage.console.look()


def raise_no_alarm(stage: Stage) -> None:
    """Neither now, nor at the next look, nor when everybody has come to an end; then all is well."""
    expect_no_alarm(stage, "at once")
    later(stage.clock)
    stage.console.look()
    expect_no_alarm(stage, "at the next look")
    expect_unpublished_is_said(stage)
    finish_all(stage)
    later(stage.clock)
    stage.console.look(in_full=True)
    expect_no_alarm(stage, "in the end")
    expect_all_is_well(stage)


def expect_no_alarm(stage: Stage, when: str) -> None:
    alarms = stage.console.alarms()
    stage.expect(not alarms or not stage.world.ledger.is_sound(stage.world.lake), f"{when}, {'; '.join(alarms)}")


def expect_unpublished_is_said(stage: Stage) -> None:
    if not stage.world.ledger.is_published(stage.world.lake):
        stage.expect(stage.console.state != State.HEALTHY, "healthy, and an accepted commit is not published")


def expect_all_is_well(stage: Stage) -> None:
    ledger = stage.world.ledger
    if ledger.is_settled(stage.world.lake) and not ledger.losses and not ledger.breaches:
        is_well = stage.console.state == State.HEALTHY or stage.console.has_leftovers_only
        stage.expect(is_well, f"all is settled, and {stage.console.said}")


def tell_of_it(stage: Stage) -> None:
    """Whatever is wrong in the end is told of, at the second look without anything between at the latest."""
    finish_all(stage)
    for _ in range(2):
        later(stage.clock)
        stage.console.look(in_full=True)
    troubles = stage.world.ledger.troubles(stage.world.lake)
    stage.expect(not troubles or bool(stage.console.alarms()), f"{'; '.join(troubles)}, and {stage.console.said}")


ACTS = {"look": look, "look in full": look_in_full, "look table by table": look_table_by_table}


def explore(theatre: Theatre, scene: Scene, judge: Judge) -> Iterator[str]:
    with theatre.scene(scene):
        for name, act in ACTS.items():
            yield from theatre.explore(scene, name, act, judge)


def explore_sound(theatre: Theatre, scene: Scene) -> Iterator[str]:
    return explore(theatre, scene, raise_no_alarm)


def explore_first_look(theatre: Theatre, scene: Scene, judge: Judge) -> Iterator[str]:
    with theatre.scene(scene, known=False):
        yield from theatre.explore(scene, "first look", look, judge)


@pytest.mark.parametrize("scene", SOUND, ids=str)
def test_a_sound_lake_raises_no_alarm_whatever_happens_between_two_requests(theatre: Theatre, scene):
    assert not told(explore_sound(theatre, scene))


@pytest.mark.parametrize("scene", SOUND, ids=str)
def test_a_sound_lake_raises_no_alarm_at_first_sight(theatre: Theatre, scene):
    assert not told(explore_first_look(theatre, scene, raise_no_alarm))


@pytest.mark.parametrize("scene", UNSOUND, ids=str)
def test_what_is_wrong_is_told_whatever_happens_between_two_requests(theatre: Theatre, scene):
    assert not told(explore(theatre, scene, tell_of_it))


@pytest.mark.parametrize("scene", [scene for scene in UNSOUND if scene not in SEEN_BEFORE], ids=str)
def test_what_is_wrong_is_told_at_first_sight(theatre: Theatre, scene):
    assert not told(explore_first_look(theatre, scene, tell_of_it))
