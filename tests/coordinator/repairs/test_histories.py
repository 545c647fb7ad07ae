"""Random histories of both protocols with crashes, mishaps and repairers between every two requests."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.coordinator.repairs.coordinated_history import CoordinatedHistory
from tests.coordinator.repairs.histories import History, LogStoreHistory

SHORTEST, LONGEST = 8, 50

whichever = st.integers(0, 7)
several = st.integers(1, 20)

CRASHED_WRITER = st.tuples(st.just("crash"), st.just("write"), whichever, st.integers(4, 9))
"""Most of these leave an accepted commit that is not published, or not completed."""


def events(*mishaps: st.SearchStrategy[tuple[Any, ...]]) -> st.SearchStrategy[list[tuple[Any, ...]]]:
    """What happens, in order: whole commits, starts and steps of those at work, crashes, repairs and mishaps."""
    actors = st.sampled_from(["write", "write", "refresh", "repair", "repair"])
    usual = [
        st.just(("commit",)),
        st.tuples(st.just("start"), actors, whichever),
        st.tuples(st.just("start"), actors, whichever),
        st.tuples(st.just("step"), whichever, several),
        st.tuples(st.just("step"), whichever, several),
        st.tuples(st.just("step"), whichever, several),
        st.tuples(st.just("crash"), actors, whichever, st.integers(1, 40)),
        st.tuples(st.just("kill"), whichever),
    ]
    meanwhile = st.lists(st.one_of(st.just(("commit",)), CRASHED_WRITER, *mishaps), min_size=1, max_size=3)
    usual += [
        CRASHED_WRITER,
        st.tuples(st.just("overtake"), st.just("repair"), whichever, st.integers(5, 45), meanwhile),
        st.tuples(st.just("overtake"), actors, whichever, st.integers(1, 20), meanwhile),
    ]
    return st.lists(st.one_of(*usual, *mishaps), min_size=SHORTEST, max_size=LONGEST)


def live(history: History, happened: list[tuple[Any, ...]]) -> None:
    """Let it all happen, check after each event, and let the repairs come to their end."""
    try:
        for name, *details in happened:
            getattr(history, name)(*details)
            history.check()
        history.converge()
    finally:
        history.kill_all(repairs=True)


@given(
    events(
        st.just(("a_day_passes",)),
        st.tuples(st.just("lose_a_file"), whichever),
        st.just(("lose_a_temp_file",)),
        st.just(("write_without_a_lock",)),
        st.tuples(st.just("start"), st.just("abandon"), whichever),
    )
)
def test_log_store_histories_lose_nothing_and_invent_nothing(happened):
    live(LogStoreHistory(), happened)


@given(
    events(
        st.just(("a_day_passes",)),
        st.tuples(st.just("lose_a_file"), whichever),
        st.just(("keep_the_item",)),
        st.tuples(st.just("restore_an_older_item"), whichever),
        st.just(("restore_the_first_item",)),
        st.just(("lose_the_item",)),
        st.tuples(st.just("start"), st.just("abandon"), whichever),
    )
)
def test_coordinated_histories_lose_nothing_and_invent_nothing(happened):
    live(CoordinatedHistory(), happened)
