"""Messages to be sent: queued in the transaction of what they tell, once each, and held back in quiet hours."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q

from dashboard.accounts.roles import Role
from dashboard.alerts.models import Alert, Message, MessageState, Recipient, RecipientKind, Rule

MAIL = "mail"
FIRST_LOOK = timedelta(minutes=10)
"""What is found so soon after a connection was added was there before: it is told at the end of this time, at once."""


@dataclass(frozen=True)
class Destination:
    """Where one message goes."""

    channel: str
    address: str
    recipient: Recipient | None = None


def queue(alert: Alert, reason: Message.Reason, number: int, now: datetime) -> int:
    """Queue a message of this alert to everybody it concerns, once however often this is called; returns how many."""
    due = due_at(alert, reason, now)
    messages = [
        message_to(destination, reason, str(number), now, alert=alert, due_at=due)
        for destination in destinations(alert, reason)
    ]
    return len(Message.objects.bulk_create(messages, ignore_conflicts=True))


def message_to(destination: Destination, reason: Message.Reason, number: str, now: datetime, **fields: Any) -> Message:
    """A message that is not saved yet, due now unless `fields` say when.

    Its id is the local part of a Message-ID, which stays the same through every try.
    """
    fields = {"recipient": destination.recipient, "due_at": now, **fields}
    place = {"channel": destination.channel, "address": destination.address}
    return Message(reason=reason, number=number, created_at=now, message_id=secrets.token_hex(12), **place, **fields)


def destinations(alert: Alert, reason: Message.Reason) -> list[Destination]:
    """Return who is told: the rule's recipients, or every operator with an address; escalation adds its own, and the
    problems themselves may name more.

    An end goes to whoever heard of the beginning.
    """
    if reason is Message.Reason.RESOLVED:
        told = alert.messages.exclude(state=MessageState.DROPPED).select_related("recipient").order_by("pk")
        return _once(Destination(message.channel, message.address, message.recipient) for message in told)
    named = _named(alert)
    if alert.rule is None:
        return _once([*_operators(alert), *named])
    chosen = list(alert.rule.recipients.filter(is_stopped=False).select_related("user"))
    if reason is Message.Reason.ESCALATED:
        chosen += list(alert.rule.escalate_to.filter(is_stopped=False).select_related("user"))
    found = [destination for recipient in chosen for destination in destinations_of(recipient)]
    rest = named if alert.rule.recipients.exists() else [*_operators(alert), *named]
    return _once([*found, *rest])


def due_at(alert: Alert, reason: Message.Reason, now: datetime) -> datetime:
    """Return when it may go out: now, or at the end of the first look, or for what is not critical at the end of the
    rule's quiet hours."""
    added_at = alert.connection.created_at if alert.connection else None
    at = max(now, added_at + FIRST_LOOK) if added_at else now
    if alert.rule is None or alert.severity == "critical" or reason is Message.Reason.ESCALATED:
        return at
    return quiet_end(alert.rule, at) or at


def quiet_end(rule: Rule, now: datetime) -> datetime | None:
    """Return the end of the quiet hours that `now` (UTC) lies in, or None. Hours that pass midnight are one night."""
    start, end = rule.quiet_from, rule.quiet_until
    if start is None or end is None or start == end:
        return None
    time = now.time()
    is_quiet = start <= time < end if start < end else time >= start or time < end
    if not is_quiet:
        return None
    today = now.replace(hour=end.hour, minute=end.minute, second=end.second, microsecond=0)
    return today if today > now else today + timedelta(days=1)


def destinations_of(recipient: Recipient) -> list[Destination]:
    """Return where a recipient is told; nowhere for a person without an address."""
    if recipient.kind == RecipientKind.PERSON:
        user = recipient.user
        return [Destination(MAIL, user.email, recipient)] if user and user.is_active and user.email else []
    channel = MAIL if recipient.kind == RecipientKind.ADDRESS else str(recipient.kind)
    return [Destination(channel, recipient.address, recipient)]


def _named(alert: Alert) -> list[Destination]:
    """Return the addresses that the problems name, without those whose owners want no mails."""
    stopped = Recipient.objects.filter(is_stopped=True)
    addresses = {*stopped.values_list("address", flat=True), *stopped.values_list("user__email", flat=True)}
    unwilling = {address.lower() for address in addresses if address}
    return [Destination(MAIL, str(one)) for one in alert.also_tell if str(one).lower() not in unwilling]


def _operators(alert: Alert) -> list[Destination]:
    """Return every operator and admin, of the alert's connection or of all, who has an address and wants mails."""
    roles = [role.value for role in Role if role.includes(Role.OPERATOR)]
    may = Q(groups__name__in=roles) | Q(is_superuser=True)
    if alert.connection_id is not None:
        may |= Q(grants__connection=alert.connection_id, grants__role__in=roles)
    people = User.objects.filter(may, is_active=True).exclude(email="").distinct()
    stopped = Recipient.objects.filter(is_stopped=True, user__isnull=False).values("user")
    return [Destination(MAIL, user.email) for user in people.exclude(pk__in=stopped).order_by("pk")]


def _once(found: Iterable[Destination]) -> list[Destination]:
    by_place: dict[tuple[str, str], Destination] = {}
    for destination in found:
        by_place.setdefault((destination.channel, destination.address.lower()), destination)
    return list(by_place.values())
