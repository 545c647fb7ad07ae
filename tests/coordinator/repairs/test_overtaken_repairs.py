"""A repair in each state, overtaken by somebody else before each of its requests, or stopped there for ever."""

from collections.abc import Callable, Sequence

import pytest

from tests.coordinator.repairs.coordinated_history import CoordinatedHistory
from tests.coordinator.repairs.histories import History, LogStoreHistory

MOST_REQUESTS = 60
WRITTEN, ACCEPTED, PUBLISHED = 6, 7, 11
"""Requests of a log store writer until its temp file is written, its entry prepared, its file published."""
STAGED_ACCEPTED, COPIED = 4, 7
"""The same for a coordinated writer: its commit is accepted, its file is copied and the list not cleared."""

Event = tuple[object, ...]


def log_store(*events: Event) -> Callable[[], History]:
    return lambda: after(LogStoreHistory(), [("commit",), ("commit",), *events])


def coordinated(*events: Event) -> Callable[[], History]:
    return lambda: after(CoordinatedHistory(), [("commit",), ("keep_the_item",), ("commit",), *events])


def after(history: History, events: Sequence[Event]) -> History:
    for name, *details in events:
        getattr(history, str(name))(*details)
    history.check()
    return history


def crash(requests: int) -> Event:
    # Starting takes the actor to its first request, so that one step more has to be given.
    return ("crash", "write", 0, requests + 1)


LOG_STORE: dict[str, Callable[[], History]] = {
    "C2": log_store(crash(ACCEPTED)),
    "C4": log_store(crash(PUBLISHED)),
    "C6": log_store(("lose_a_file", 1)),
    "C6 below the newest": log_store(("lose_a_file", 0)),
    "C11": log_store(crash(ACCEPTED), ("lose_a_temp_file",)),
    "C1": log_store(crash(WRITTEN), ("a_day_passes",), ("commit",)),
}
COORDINATED: dict[str, Callable[[], History]] = {
    "K3": coordinated(crash(STAGED_ACCEPTED)),
    "K3 and a later one": coordinated(crash(STAGED_ACCEPTED), crash(STAGED_ACCEPTED)),
    "K4": coordinated(crash(COPIED)),
    "K6": coordinated(("lose_a_file", 0)),
    "K8": coordinated(("lose_the_item",)),
    "K9": coordinated(("restore_an_older_item", 0)),
    "K9 of an unused item": coordinated(("restore_the_first_item",)),
}
OTHERS: dict[str, list[Event]] = {
    "a commit": [("commit",)],
    "a crashed commit": [crash(ACCEPTED)],
    "a reader": [("crash", "refresh", 0, MOST_REQUESTS)],
    "another repair": [("crash", "repair", 0, MOST_REQUESTS)],
    "half a repair": [("crash", "repair", 0, 22)],
    "a day": [("a_day_passes",)],
    "a lost file": [("lose_a_file", 0)],
}
OTHERS_OF_LOG_STORE = OTHERS | {
    "a writer without a lock": [("write_without_a_lock",)],
    "a writer without a lock, and a day": [("write_without_a_lock",), ("a_day_passes",)],
    "a reader, and a day": [("crash", "refresh", 0, MOST_REQUESTS), ("a_day_passes",)],
}
OTHERS_OF_COORDINATED = OTHERS | {
    "a lost item": [("lose_the_item",)],
    "an older item": [("restore_an_older_item", 0)],
}


def overtake_everywhere(scene: Callable[[], History], others: list[Event]) -> None:
    for number in range(1, MOST_REQUESTS):
        history = scene()
        actor = history.start("repair", 0)
        for _ in range(number):
            actor.step()
        is_over = actor.is_done
        after(history, others)
        while not actor.is_done:
            actor.step()
            history.check()
        history.converge()
        if is_over:
            return
    raise AssertionError("the repair is longer than this test")


@pytest.mark.parametrize("others", OTHERS_OF_LOG_STORE.values(), ids=OTHERS_OF_LOG_STORE.keys())
@pytest.mark.parametrize("scene", LOG_STORE.values(), ids=LOG_STORE.keys())
def test_an_overtaken_log_store_repair_changes_no_commit(scene, others):
    overtake_everywhere(scene, others)


@pytest.mark.parametrize("others", OTHERS_OF_COORDINATED.values(), ids=OTHERS_OF_COORDINATED.keys())
@pytest.mark.parametrize("scene", COORDINATED.values(), ids=COORDINATED.keys())
def test_an_overtaken_coordinated_repair_changes_no_commit(scene, others):
    overtake_everywhere(scene, others)


@pytest.mark.slow
@pytest.mark.parametrize("repair", ["repair", "abandon"])
@pytest.mark.parametrize("scene", [*LOG_STORE.values(), *COORDINATED.values()], ids=[*LOG_STORE, *COORDINATED])
def test_a_repair_stopped_before_any_request_converges_when_run_again(scene, repair):
    for number in range(1, MOST_REQUESTS):
        history = scene()
        history.crash(repair, 0, number)
        history.check()
        history.converge()


@pytest.mark.parametrize(("name", "scene"), [*LOG_STORE.items(), *COORDINATED.items()])
def test_each_scene_is_in_its_state(name, scene):
    codes = {finding.code for finding in scene().read().verdict.findings}
    assert name.split()[0] in codes
