"""Send what is due: each message is claimed by one conditional UPDATE, tried again with growing pauses, and never
knowingly sent twice.

The server may have taken a message whose answer never came. From right before the last byte until the answer the row
says so (`handed_over_at`); if the process dies or the line breaks in between, the message is `unknown`: shown on its
page, not sent again by itself. The alert it tells of is reminded of in any case.
"""

import itertools
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

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
Render = Callable[[Sequence[Message], datetime], None]
"""Writes into the first message what all of them say."""


def deliver_due(now: datetime, transports: Mapping[str, MessageTransport], render: Render) -> int:
    """Send what is due, one mail a person and call; returns how many were sent. Channels without a transport wait.

    Where a server makes every message wait for its answer, the next call goes on: this worker has other work.
    """
    recover(now)
    due = Message.objects.filter(state=MessageState.WAITING, due_at__lte=now, channel__in=list(transports))
    until = time.monotonic() + TAKES_ON_FOR_SECONDS
    in_time = itertools.takewhile(lambda _: time.monotonic() < until, list(due.order_by("due_at", "pk")[:AT_ONCE]))
    return sum(_deliver(first, now, transports, render) for first in in_time)


def recover(now: datetime) -> None:
    """Take up what a process left behind: what was not handed over waits again, the rest is unknown."""
    left = Message.objects.filter(state=MessageState.SENDING, claimed_at__lt=now - CLAIM_LASTS)
    left.filter(handed_over_at=None).update(state=MessageState.WAITING, due_at=now)
    left.filter(handed_over_at__isnull=False).update(
        state=MessageState.UNKNOWN, finished_at=now, error="The process that sent it ended before the answer came."
    )


def _deliver(first: Message, now: datetime, transports: Mapping[str, MessageTransport], render: Render) -> bool:
    keys = [key for key in (first.pk, *_going_along(first, now)) if _claim(key, now)]
    mine = Message.objects.filter(pk__in=keys, state=MessageState.SENDING, claimed_at=now)
    messages = list(mine.select_related("alert__rule", "alert__connection", "recipient").order_by("due_at", "pk"))
    if not messages:
        return False
    told = messages[0]
    try:
        render(messages, now)
        mine.update(subject=told.subject, text=told.text, html=told.html)
        transports[told.channel](told, lambda: _hand_over(mine, now))
    except NotSent as reason:
        _postpone(messages, mine, now, str(reason), is_final=reason.is_final)
        return False
    except PerhapsSent as reason:
        mine.update(state=MessageState.UNKNOWN, finished_at=now, error=str(reason)[:1000])
        _note(messages, last_error=str(reason)[:500])
        return False
    except Exception as error:
        logger.exception("Message %s could not be sent", told.pk)
        _postpone(messages, mine, now, f"{type(error).__name__}: {error}", is_final=False)
        return False
    mine.update(state=MessageState.SENT, finished_at=now, error="")
    _note(messages, last_sent_at=now, last_error="")
    return True


def _going_along(first: Message, now: datetime) -> Sequence[int]:
    """What else of alerts is due to the address of a mail, so that much trouble is one mail."""
    if first.channel != MAIL or first.alert_id is None:
        return ()
    due = Message.objects.filter(state=MessageState.WAITING, due_at__lte=now, channel=MAIL, alert__isnull=False)
    along = due.filter(address=first.address).exclude(pk=first.pk)
    return list(along.order_by("pk").values_list("pk", flat=True)[:AT_ONCE])


def _claim(key: int, now: datetime) -> bool:
    waiting = Message.objects.filter(pk=key, state=MessageState.WAITING, due_at__lte=now)
    claim = {"state": MessageState.SENDING, "claimed_at": now, "handed_over_at": None}
    return bool(waiting.update(**claim, attempts=F("attempts") + 1))


def _hand_over(mine: "QuerySet[Message]", now: datetime) -> None:
    if not mine.update(handed_over_at=now):
        raise NotSent("Another process has taken this message over.")


def _postpone(
    messages: Sequence[Message], mine: "QuerySet[Message]", now: datetime, reason: str, *, is_final: bool
) -> None:
    """Let messages wait for their next try; what nobody can get, or is too old, is given up."""
    over = mine if is_final else mine.filter(created_at__lte=now - GIVES_UP_AFTER)
    over.update(state=MessageState.FAILED, finished_at=now, error=reason[:1000])
    mine.update(state=MessageState.WAITING, due_at=now + pause(messages[0].attempts), error=reason[:1000])
    _note(messages, last_error=reason[:500])


def pause(attempts: int) -> timedelta:
    """Return how long to wait after so many tries: a minute, doubling, an hour at most."""
    return min(timedelta(minutes=2.0 ** min(attempts - 1, 10)), LONGEST_PAUSE)


def _note(messages: Sequence[Message], **changes: object) -> None:
    recipients = {message.recipient_id for message in messages if message.recipient_id}
    Recipient.objects.filter(pk__in=recipients).update(**changes)
