"""Sending: tried again, never knowingly sent twice, never lost by a restart."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from dashboard.alerts import delivery
from dashboard.alerts.delivery import LONGEST_PAUSE, NotSent, deliver_due, pause
from dashboard.alerts.models import Message
from tests.dashboard.alerts.test_mail import message
from tests.dashboard.alerts.week import MONDAY

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("locks")]

MINUTE = timedelta(minutes=1)


class Killed(BaseException):
    """What stands for kill -9: nothing after it runs."""


def send(now: object, carry: Callable[..., None]) -> int:
    return deliver_due(now, {"mail": carry}, lambda messages, now: None)  # type: ignore[arg-type]


def taken(message: Message, handed_over: Callable[[], None]) -> None:
    handed_over()


def refused(message: Message, handed_over: Callable[[], None]) -> None:
    raise NotSent("451 later")


def test_a_server_that_answers_slowly_holds_the_worker_for_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        message(None, number=str(number))
    clock = iter(range(0, 1_000, 25))
    monkeypatch.setattr(delivery.time, "monotonic", lambda: next(clock))
    assert [send(MONDAY, taken), send(MONDAY, taken)] == [2, 2]


@pytest.mark.parametrize(("attempts", "minutes"), [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (60, 60)])
def test_pauses_double_up_to_an_hour(attempts: int, minutes: float) -> None:
    assert pause(attempts) == timedelta(minutes=minutes) <= LONGEST_PAUSE


def test_a_refused_message_is_tried_again_after_its_pause() -> None:
    message(None)
    send(MONDAY, refused)
    assert send(MONDAY + MINUTE / 2, taken) == 0
    assert send(MONDAY + MINUTE, taken) == 1
    assert Message.objects.get().attempts == 2


def test_after_three_days_it_is_given_up_with_its_reason() -> None:
    message(None)
    now = MONDAY
    while Message.objects.get().state == "waiting":
        send(now, refused)
        now += timedelta(hours=1)
    found = Message.objects.get()
    assert (found.state, found.error, found.finished_at) == ("failed", "451 later", MONDAY + timedelta(days=3))


@pytest.mark.parametrize("is_handed_over", [False, True])
def test_after_a_kill_it_is_sent_unless_it_was_handed_over_and_is_unknown_then(is_handed_over: bool) -> None:
    message(None)

    def killed(message: Message, handed_over: Callable[[], None]) -> None:
        if is_handed_over:
            handed_over()
        raise Killed

    with pytest.raises(Killed):
        send(MONDAY, killed)
    assert send(MONDAY + 11 * MINUTE, taken) == (0 if is_handed_over else 1)
    assert Message.objects.get().state == ("unknown" if is_handed_over else "sent")


def test_a_slow_sender_whose_claim_was_taken_over_hands_nothing_over() -> None:
    message(None)
    received: list[str] = []

    def slow(mine: Message, handed_over: Callable[[], None]) -> None:
        assert send(MONDAY + 11 * MINUTE, lambda other, hand: (hand(), received.append("other"))) == 1
        handed_over()
        received.append("slow")

    send(MONDAY, slow)
    assert received == ["other"]
    assert Message.objects.get().state == "sent"


def test_a_message_that_cannot_be_made_holds_up_no_other() -> None:
    message(None)
    message(None, number="2")

    def render(messages: list[Message], now: object) -> None:
        if messages[0].number == "1":
            raise KeyError("headline")

    assert deliver_due(MONDAY, {"mail": taken}, render) == 1
    assert Message.objects.get(number="1").state == "waiting"


def test_a_channel_that_is_not_set_up_waits() -> None:
    message(None, channel="webhook")
    assert send(MONDAY, taken) == 0
    assert Message.objects.get().state == "waiting"
