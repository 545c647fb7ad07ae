"""What people may do about alerts: acknowledge one, change rules and recipients, send a test."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import require
from dashboard.alerts.forms import RuleForm
from dashboard.alerts.models import Alert, AlertState, Message, MessageState, Recipient, Rule
from dashboard.alerts.outbox import destinations_of, message_to
from dashboard.audit.log import record

ACKNOWLEDGE = "alert.acknowledge"
MANAGE = "alert.manage"


class NotNow(Exception):
    """The alert or message is in a state in which this makes no sense; the message says which."""


def acknowledge(actor: Actor, alert: Alert, reason: str, until: datetime) -> None:
    """Silence an alert until then, with a reason. Raises NotAllowed, and NotNow where it is over."""
    require(actor, ACKNOWLEDGE, target=alert.headline, connection=alert.connection)
    with transaction.atomic():
        won = Alert.objects.filter(pk=alert.pk, resolved_at=None).update(
            state=AlertState.ACKNOWLEDGED,
            acknowledged_by=actor.name[:150],
            acknowledged_until=until,
            reason=reason[:500],
        )
        if not won:
            raise NotNow("This alert is over: there is nothing to acknowledge.")
        _record(actor, ACKNOWLEDGE, alert, after={"until": until.isoformat(), "reason": reason})


def acknowledge_all(actor: Actor, alerts: Sequence[Alert], reason: str, until: datetime) -> int:
    """Acknowledge several for one reason; returns how many, without those that are over.

    Raises NotAllowed before the first where one of them is not the actor's to acknowledge.
    """
    for alert in alerts:
        require(actor, ACKNOWLEDGE, target=alert.headline, connection=alert.connection)
    done = 0
    for alert in alerts:
        with suppress(NotNow):
            acknowledge(actor, alert, reason, until)
            done += 1
    return done


def reopen(actor: Actor, alert: Alert) -> None:
    """Take an acknowledgement back."""
    require(actor, ACKNOWLEDGE, target=alert.headline, connection=alert.connection)
    with transaction.atomic():
        won = Alert.objects.filter(pk=alert.pk, state=AlertState.ACKNOWLEDGED, resolved_at=None).update(
            state=AlertState.OPEN, acknowledged_until=None, unattended_since=timezone.now()
        )
        if not won:
            raise NotNow("This alert is not acknowledged.")
        _record(actor, ACKNOWLEDGE, alert, after={"until": None})


def save_rule(actor: Actor, form: RuleForm) -> None:
    """Create or change a rule as its form says."""
    require(actor, MANAGE, target=form.instance.name)
    stored = Rule.objects.filter(pk=form.instance.pk).first()
    before = _rule_document(stored) if stored else {}
    with transaction.atomic():
        rule = form.save()
        _record(actor, MANAGE, rule, before=before, after=_rule_document(rule))


def delete_rule(actor: Actor, rule: Rule) -> None:
    """Remove a rule; its open alerts end by themselves."""
    require(actor, MANAGE, target=rule.name)
    with transaction.atomic():
        _record(actor, MANAGE, rule, before=_rule_document(rule))
        rule.delete()


def save_recipient(actor: Actor, recipient: Recipient) -> None:
    """Create or change a recipient."""
    require(actor, MANAGE, target=recipient.name)
    with transaction.atomic():
        recipient.save()
        after = {"kind": recipient.kind, "address": recipient.shown_address, "is_stopped": recipient.is_stopped}
        _record(actor, MANAGE, recipient, after=after)


def delete_recipient(actor: Actor, recipient: Recipient) -> None:
    """Remove a recipient; rules that named only this one fall back to every operator."""
    require(actor, MANAGE, target=recipient.name)
    with transaction.atomic():
        _record(actor, MANAGE, recipient, before={"address": recipient.shown_address})
        recipient.delete()


def send_test(actor: Actor, recipient: Recipient) -> int:
    """Queue a test message; returns how many, none for a person without an address."""
    require(actor, MANAGE, target=recipient.name)
    now = timezone.now()
    messages = [
        message_to(destination, Message.Reason.TEST, f"{now.timestamp():.6f}", now, recipient=recipient)
        for destination in destinations_of(recipient)
    ]
    with transaction.atomic():
        _record(actor, MANAGE, recipient, after={"test": len(messages)})
        return len(Message.objects.bulk_create(messages))


def send_again(actor: Actor, message: Message) -> None:
    """Let a message that was given up, or of which nobody knows, wait for another try. Raises NotNow for others."""
    require(actor, MANAGE, target=message.subject)
    stuck = (MessageState.FAILED, MessageState.UNKNOWN)
    now = timezone.now()
    with transaction.atomic():
        won = Message.objects.filter(pk=message.pk, state__in=stuck).update(
            state=MessageState.WAITING, due_at=now, created_at=now, finished_at=None, handed_over_at=None
        )
        if not won:
            raise NotNow("Only a message that was given up, or of which nobody knows, is sent again.")
        _record(actor, MANAGE, message, after={"again": True})


def _rule_document(rule: Rule) -> dict[str, object]:
    names = ("threshold", "least_severity", "is_enabled", "remind_hours", "escalate_hours", "prefix", "plan")
    times = {name: str(value) if (value := getattr(rule, name)) else None for name in ("quiet_from", "quiet_until")}
    to = {name: list(getattr(rule, name).values_list("name", flat=True)) for name in ("recipients", "escalate_to")}
    connection = rule.connection.name if rule.connection else None
    return {**{name: getattr(rule, name) for name in names}, **times, **to, "connection": connection}


def _record(
    actor: Actor,
    verb: str,
    thing: Alert | Rule | Recipient | Message,
    *,
    before: dict[str, object] | None = None,
    after: dict[str, object] | None = None,
) -> None:
    label = thing.subject or thing.shown_address if isinstance(thing, Message) else str(thing)
    kind = str(thing._meta.model_name)
    record(actor, verb, target_type=kind, target_id=str(thing.pk), target_label=label, before=before, after=after)
