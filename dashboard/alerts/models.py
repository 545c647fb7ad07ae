"""Rules, recipients, alerts over time, and every message that went out or was to go out.

Each change of state is one conditional UPDATE or an INSERT that a constraint guards, so that two beats do no harm.
"""

import re
from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q

from dashboard.web.text import shortened

LONGEST_NAME = 89
RETURNS_WITHIN = timedelta(hours=24)
"""The same cause within a day is told as having returned."""


def shown_place(address: str) -> str:
    """Return a mail address as it is, and of a URL the origin: the rest of a webhook's URL is what lets one in."""
    scheme, separator, rest = address.partition("://")
    return f"{scheme}://{re.split('[/?#]', rest, maxsplit=1)[0]}/…" if separator else address


class RecipientKind(models.TextChoices):
    PERSON = "person", "a person of the console"
    ADDRESS = "address", "an address"
    WEBHOOK = "webhook", "a signed webhook"
    SLACK = "slack", "a Slack-compatible webhook"


class Recipient(models.Model):
    """An address, a person or an endpoint that is told."""

    class Digest(models.TextChoices):
        NEVER = "never", "no digest"
        DAILY = "daily", "a digest every day"
        WEEKLY = "weekly", "a digest every Monday"

    name = models.CharField(max_length=100, unique=True)
    kind = models.CharField(max_length=16, choices=RecipientKind.choices)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="recipients"
    )
    address = models.CharField(max_length=500, blank=True)  # mail address or URL; empty for a person
    digest = models.CharField(max_length=8, choices=Digest.choices, default=Digest.NEVER)
    is_stopped = models.BooleanField(default=False)  # asked not to be told any more
    last_error = models.CharField(max_length=500, blank=True)
    last_sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    @property
    def shown_address(self) -> str:
        """For pages, logs and the audit log."""
        return shown_place(self.address)


class Rule(models.Model):
    """What is told, from which threshold on, to whom, how often. The narrowest rule of a kind decides."""

    kind = models.CharField(max_length=40)
    name = models.CharField(max_length=100, unique=True)
    threshold = models.FloatField()  # in the unit of the kind
    least_severity = models.CharField(max_length=16, default="warning")  # info, warning, critical
    connection = models.ForeignKey("connections.Connection", null=True, blank=True, on_delete=models.CASCADE)
    prefix = models.CharField(max_length=1100, blank=True)  # s3a:// URI that a table's begins with
    plan = models.CharField(max_length=64, blank=True)  # name of a backup plan
    is_enabled = models.BooleanField(default=True)
    remind_hours = models.PositiveIntegerField(default=4)  # 0: no reminders
    escalate_hours = models.PositiveIntegerField(default=0)  # 0: never
    quiet_from = models.TimeField(null=True, blank=True)  # UTC; what is not critical waits from here
    quiet_until = models.TimeField(null=True, blank=True)
    recipients = models.ManyToManyField(Recipient, blank=True, related_name="rules")
    escalate_to = models.ManyToManyField(Recipient, blank=True, related_name="escalations")

    class Meta:
        ordering = ("kind", "name")

    def __str__(self) -> str:
        return self.name

    @property
    def narrowness(self) -> tuple[bool, int, bool]:
        """A plan is narrower than a prefix, a longer prefix than a shorter one, a connection than none."""
        return (bool(self.plan), len(self.prefix), self.connection_id is not None)


class AlertState(models.TextChoices):
    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"


class Alert(models.Model):
    """One cause of one rule, from the first problem to the last. `open` until acknowledged or over."""

    rule = models.ForeignKey(Rule, null=True, on_delete=models.SET_NULL, related_name="alerts")
    kind = models.CharField(max_length=40)
    cause = models.CharField(max_length=200)
    connection = models.ForeignKey("connections.Connection", null=True, on_delete=models.SET_NULL)
    state = models.CharField(max_length=16, default=AlertState.OPEN)
    severity = models.CharField(max_length=16)
    rank = models.PositiveSmallIntegerField(default=1)  # of the severity; 0 is critical
    title = models.CharField(max_length=100, blank=True)  # the sort of trouble, in a few words
    code = models.CharField(max_length=60, blank=True)  # of the finding, where there is one
    subjects = models.JSONField(default=list)  # [[name, path], ...]: what it is about, the first few
    headline = models.CharField(max_length=400)
    next_step = models.CharField(max_length=400, blank=True)
    meaning = models.TextField(blank=True)
    advice = models.TextField(blank=True)
    warning = models.TextField(blank=True)
    facts = models.JSONField(default=list)  # [[label, value], ...]
    path = models.CharField(max_length=400, blank=True)  # of the first step; empty where it has several
    link = models.CharField(max_length=100, blank=True)  # what the button says
    also_tell = models.JSONField(default=list)  # addresses besides those of the rule
    count = models.PositiveIntegerField(default=1)
    since = models.DateTimeField()
    opened_at = models.DateTimeField()
    quiet_since = models.DateTimeField(null=True)  # since when no problem of it is seen
    resolved_at = models.DateTimeField(null=True)
    told_at = models.DateTimeField()  # of the last message about it being open
    unattended_since = models.DateTimeField()  # since when nobody has taken it up
    reminders = models.PositiveIntegerField(default=0)
    escalated_at = models.DateTimeField(null=True)
    acknowledged_by = models.CharField(max_length=150, blank=True)
    acknowledged_until = models.DateTimeField(null=True)
    reason = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ("-opened_at", "-id")
        constraints = [
            models.UniqueConstraint(
                fields=["rule", "cause"], condition=Q(resolved_at=None), name="one_open_alert_a_cause"
            )
        ]
        indexes = [models.Index(fields=["state", "-opened_at", "-id"], name="alerts_by_state")]

    def __str__(self) -> str:
        return self.headline

    @property
    def name(self) -> str:
        """What it is called in one line, at most LONGEST_NAME characters."""
        names = [str(subject[0]) for subject in self.subjects if subject[0]]
        if not self.title:
            return shortened(self.headline, LONGEST_NAME)
        more = f" and {self.count - 1:,} more" if self.count > 1 else ""
        about = shortened(f": {names[0]}", LONGEST_NAME - len(self.title) - len(more)) if names else ""
        return f"{self.title}{about}{more}"

    @property
    def unnamed(self) -> int:
        """How many problems there are besides those that `subjects` names."""
        return max(self.count - len(self.subjects), 0)

    @property
    def returned_from(self) -> "Alert | None":
        """The alert of the same cause that was over less than a day before."""
        same = Alert.objects.filter(rule=self.rule_id, cause=self.cause, resolved_at__lte=self.opened_at)
        return same.exclude(pk=self.pk).filter(resolved_at__gte=self.opened_at - RETURNS_WITHIN).first()

    @property
    def is_resolved(self) -> bool:
        return self.resolved_at is not None


class Member(models.Model):
    """One problem of an alert: one table of forty."""

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="members")
    key = models.CharField(max_length=300)
    severity = models.CharField(max_length=16)
    headline = models.CharField(max_length=400)
    path = models.CharField(max_length=400, blank=True)
    since = models.DateTimeField()
    gone_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("since", "id")
        constraints = [models.UniqueConstraint(fields=["alert", "key"], name="one_member_a_problem")]

    def __str__(self) -> str:
        return self.headline


class MessageState(models.TextChoices):
    WAITING = "waiting", "waiting"
    SENDING = "sending", "being sent"
    SENT = "sent", "sent"
    DROPPED = "dropped", "not needed any more"
    FAILED = "failed", "given up"
    UNKNOWN = "unknown", "perhaps sent"


class Message(models.Model):
    """One message to one recipient, and what became of it. A row is queued once: the constraint says so."""

    class Reason(models.TextChoices):
        OPENED = "opened", "opened"
        WORSE = "worse", "worse"
        REMINDER = "reminder", "reminder"
        ESCALATED = "escalated", "escalated"
        RESOLVED = "resolved", "over"
        DIGEST = "digest", "digest"
        TEST = "test", "test"

    alert = models.ForeignKey(Alert, null=True, on_delete=models.CASCADE, related_name="messages")
    reason = models.CharField(max_length=16, choices=Reason.choices)
    number = models.CharField(max_length=40)  # tells the messages of one reason apart: 1, 2, or a date
    recipient = models.ForeignKey(Recipient, null=True, on_delete=models.SET_NULL, related_name="messages")
    channel = models.CharField(max_length=16)  # mail, webhook, slack
    address = models.CharField(max_length=500)
    state = models.CharField(max_length=16, default=MessageState.WAITING)
    created_at = models.DateTimeField()
    due_at = models.DateTimeField(db_index=True)
    attempts = models.PositiveIntegerField(default=0)
    claimed_at = models.DateTimeField(null=True)
    # set right before the server may take it: from here on it may have been sent
    handed_over_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=1000, blank=True)
    message_id = models.CharField(max_length=200, unique=True)
    subject = models.CharField(max_length=400, blank=True)
    text = models.TextField(blank=True)
    html = models.TextField(blank=True)

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.UniqueConstraint(
                fields=["alert", "reason", "number", "channel", "address"], name="one_message_a_reason"
            ),
            models.UniqueConstraint(
                fields=["reason", "number", "channel", "address"],
                condition=Q(alert=None),
                name="one_message_without_alert",
            ),
        ]
        indexes = [models.Index(fields=["state", "due_at"], name="messages_due")]

    def __str__(self) -> str:
        return f"{self.reason} to {self.shown_address}"

    @property
    def shown_address(self) -> str:
        """For pages, logs and the audit log."""
        return shown_place(self.address)
