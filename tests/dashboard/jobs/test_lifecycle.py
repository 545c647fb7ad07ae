"""A job's changes of state: which are possible, and who wins."""

from collections.abc import Callable

import pytest

from dashboard.jobs import lifecycle
from dashboard.jobs.models import Job
from tests.dashboard.jobs.builders import ago, job

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("locks")]

CHANGES: dict[str, Callable[[Job], bool]] = {
    "claim": lambda made: lifecycle.claim(made.pk, "w2"),
    "heartbeat": lambda made: lifecycle.heartbeat(made.pk),
    "save_progress": lambda made: lifecycle.save_progress(made.pk, done=1),
    "finish": lambda made: lifecycle.finish(made.pk, "Done."),
    "overtake": lambda made: lifecycle.overtake(made.pk, "Somebody was faster."),
    "fail": lambda made: lifecycle.fail(made.pk, "ValueError", "No."),
    "stop": lambda made: lifecycle.stop(made.pk, "Stopped."),
    "request_cancel": lambda made: lifecycle.request_cancel(made.pk, "maya"),
    "lose": lambda made: lifecycle.lose(made.pk, ago(seconds=-10), "Silent."),
}
ENDS = {"finish": "succeeded", "overtake": "overtaken", "fail": "failed", "stop": "cancelled", "lose": "lost"}
POSSIBLE = {
    "queued": {"claim": "running", "request_cancel": "cancelled"},
    "running": {"heartbeat": "running", "save_progress": "running", "request_cancel": "cancelling", **ENDS},
    "cancelling": {"heartbeat": "cancelling", "save_progress": "cancelling", **ENDS},
    **{ended: {} for ended in ENDS.values()},
}


@pytest.mark.parametrize("state", POSSIBLE)
@pytest.mark.parametrize("change", CHANGES)
def test_every_state_allows_exactly_its_own_changes(state: str, change: str) -> None:
    made = job(state)
    won = CHANGES[change](made)
    made.refresh_from_db()
    assert won == (change in POSSIBLE[state])
    assert made.state == POSSIBLE[state].get(change, state)


def test_a_finished_job_says_when_it_ended() -> None:
    made = job("running")
    lifecycle.finish(made.pk, "Done.", result={"n": 1})
    made.refresh_from_db()
    assert made.finished_at is not None
    assert (made.message, made.result) == ("Done.", {"n": 1})


def test_a_fresh_heartbeat_is_not_lost() -> None:
    assert not lifecycle.lose(job("running").pk, ago(seconds=90), "Silent.")


def test_a_message_is_marked_by_one_of_two_senders() -> None:
    made = job()
    assert [lifecycle.mark_enqueued(made.pk, None), lifecycle.mark_enqueued(made.pk, None)] == [True, False]
