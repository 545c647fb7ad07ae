"""Send what is due: each message is claimed by one conditional UPDATE, tried again with growing pauses, and never
knowingly sent twice.

The server may have taken a message whose answer never came. From right before the last byte until the answer the row
says so (`handed_over_at`); if the process dies or the line breaks in between, the message is `unknown`: shown on its
page, not sent again by itself. The alert it tells of is reminded of in any case.
"""

import itertools
import logging
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, QuerySet

from dashboard.alerts.models import Message, MessageState, Recipient
from dashboard.alerts.outbox import MAIL

LONGEST_PAUSE = timedelta(hours=1)
GIVES_UP_AFTER = timedelta(days=3)
CLAIM_LASTS = timedelta(minutes=10)
AT_ONCE = 200
TAKES_ON_FOR_SECONDS = 60.0

logger = logging.getLogger(__name__)


class NotSent(Exception):
    """The message was not taken. `is_final`: another try would end the same, such as an address nobody has."""

    def __init__(self, reason: str, *, is_final: bool = False) -> None:
        super().__init__(reason)
        self.is_final = is_final


class PerhapsSent(Exception):
    """The line broke after the message was handed over and before the answer came."""


MessageTransport = Callable[[Message, Callable[[], None]], None]
"""Carries a message of one channel. Calls its second argument right before the other side may take it, then waits for
the answer. Raises NotSent or PerhapsSent."""
Render = Callable[[Message, datetime], None]


def deliver_due(now: datetime, transports: Mapping[str, MessageTransport], render: Render) -> int:
    """Send what is due, one mail a person and call; returns how many were sent. Channels without a transport wait.

    Where a server makes every message wait for its answer, the next call goes on: this worker has other work.
    """
    recover(now)
    due = Message.objects.filter(state=MessageState.WAITING, due_at__lte=now, channel__in=list(transports))
    keys = list(due.order_by("due_at", "pk").values_list("pk", flat=True)[:AT_ONCE])
    until = time.monotonic() + TAKES_ON_FOR_SECONDS
    in_time = itertools.takewhile(lambda _: time.monotonic() < until, keys)
    return sum(_deliver(key, now, transports, render) for key in in_time)


def recover(now: datetime) -> None:
    """Take up what a process left behind: what was not handed over waits again, the rest is unknown."""
    left = Message.objects.filter(state=MessageState.SENDING, claimed_at__lt=now - CLAIM_LASTS)
    left.filter(handed_over_at=None).update(state=MessageState.WAITING, due_at=now)
    left.filter(handed_over_at__isnull=False).update(
        state=MessageState.UNKNOWN, finished_at=now, error="The process that sent it ended before the answer came."
    )


def _deliver(key: int, now: datetime, transports: Mapping[str, MessageTransport], render: Render) -> bool:
    waiting = Message.objects.filter(pk=key, state=MessageState.WAITING)
    if not waiting.update(state=MessageState.SENDING, claimed_at=now, handed_over_at=None, attempts=F("attempts") + 1):
        return False
    _fold(key, now)
    message = Message.objects.select_related("alert__rule", "alert__connection", "recipient").get(pk=key)
    mine = Message.objects.filter(pk=key, state=MessageState.SENDING, claimed_at=now)
    try:
        render(message, now)
        mine.update(subject=message.subject, text=message.text, html=message.html)
        transports[message.channel](message, lambda: _hand_over(mine, now))
    except NotSent as reason:
        _postpone(message, now, str(reason), is_final=reason.is_final)
        return False
    except PerhapsSent as reason:
        mine.update(state=MessageState.UNKNOWN, finished_at=now, error=str(reason)[:1000])
        _note(message, error=str(reason))
        return False
    except Exception as error:
        logger.exception("Message %s could not be sent", key)
        _postpone(message, now, f"{type(error).__name__}: {error}", is_final=False)
        return False
    mine.update(state=MessageState.SENT, finished_at=now, error="")
    _note(message, sent_at=now)
    return True


def _fold(key: int, now: datetime) -> None:
    """Let the claimed mail say what else of alerts is due to its address, so that much trouble is one mail."""
    with transaction.atomic():
        lead = Message.objects.filter(pk=key, channel=MAIL, alert__isnull=False).first()
        if lead is None:
            return
        due = Message.objects.filter(state=MessageState.WAITING, due_at__lte=now, channel=MAIL, alert__isnull=False)
        keys = list(due.filter(address=lead.address).order_by("pk").values_list("pk", flat=True)[:AT_ONCE])
        due.filter(pk__in=keys).update(state=MessageState.FOLDED, folded_into=lead, finished_at=now)
        # A mail that waited for another try may itself have others in it.
        Message.objects.filter(folded_into__in=keys).update(folded_into=lead)


def _hand_over(mine: "QuerySet[Message]", now: datetime) -> None:
    if not mine.update(handed_over_at=now):
        raise NotSent("Another process has taken this message over.")


def _postpone(message: Message, now: datetime, reason: str, *, is_final: bool) -> None:
    """Let the message wait for its next try, or give it up. What else it says is given up where nobody has the address,
    and has its own time otherwise."""
    mine = Message.objects.filter(pk=message.pk, state=MessageState.SENDING, claimed_at=message.claimed_at)
    given_up = {"state": MessageState.FAILED, "finished_at": now, "error": reason[:1000]}
    if is_final or now - message.created_at >= GIVES_UP_AFTER:
        with transaction.atomic():
            if mine.update(**given_up):
                after = given_up if is_final else {"state": MessageState.WAITING, "due_at": now, "finished_at": None}
                message.folded.update(folded_into=None, **after)
    else:
        mine.update(state=MessageState.WAITING, due_at=now + pause(message.attempts), error=reason[:1000])
    _note(message, error=reason)


def pause(attempts: int) -> timedelta:
    """Return how long to wait after so many tries: a minute, doubling, an hour at most."""
    return min(timedelta(minutes=2.0 ** min(attempts - 1, 10)), LONGEST_PAUSE)


def _note(message: Message, *, sent_at: datetime | None = None, error: str = "") -> None:
    if message.recipient_id is None:
        return
    changes = {"last_sent_at": sent_at, "last_error": ""} if sent_at else {"last_error": error[:500]}
    Recipient.objects.filter(pk=message.recipient_id).update(**changes)
