"""The audit log: who did what to what, from where, and how it ended.

Rows are only ever added: the database's own triggers refuse the rest (dashboard.audit.triggers).
"""

from django.conf import settings
from django.db import models


class AuditEntry(models.Model):
    """One act or refusal. Labels and names are copied so that history outlives what it speaks of."""

    at = models.DateTimeField(db_index=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.DO_NOTHING, db_constraint=False
    )
    actor_name = models.CharField(max_length=150)  # A person's name, schedule or command
    source = models.CharField(max_length=16)  # page, command, worker
    ip = models.GenericIPAddressField(null=True, blank=True)
    user_agent = models.CharField(max_length=400, blank=True)
    request_id = models.CharField(max_length=64, blank=True)
    action = models.CharField(max_length=64)  # Namespaced verb, such as lake.observe
    target_type = models.CharField(max_length=32, blank=True)
    target_id = models.CharField(max_length=64, blank=True)
    target_label = models.CharField(max_length=2048, blank=True)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    outcome = models.CharField(max_length=16)  # requested, done, overtaken, refused, failed
    detail = models.TextField(blank=True)
    job_id = models.UUIDField(null=True, blank=True, db_index=True)
    aws_request_ids = models.JSONField(default=list)

    class Meta:
        ordering = ("-id",)
        indexes = [
            models.Index(fields=["action", "-id"], name="audit_action_newest"),
            models.Index(fields=["actor_name", "-id"], name="audit_actor_newest"),
            models.Index(fields=["outcome", "-id"], name="audit_outcome_newest"),
            models.Index(fields=["target_type", "target_id", "-id"], name="audit_target_newest"),
            models.Index(fields=["job_id", "action"], name="audit_of_job"),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.actor_name} {self.action} {self.target_label}"


class AuditSeal(models.Model):
    """One link of the chain over the log: the keyed hash of an entry together with the seal before it.

    The place is the primary key, so that two who seal at once cannot fork the chain. `entry` is a plain number: a seal
    outlives an entry that somebody removed, and so tells of it.
    """

    place = models.BigIntegerField(primary_key=True)  # 1, 2, 3 and so on, without gaps
    entry = models.BigIntegerField(unique=True)  # The number of the sealed entry
    sealed_at = models.DateTimeField()
    # HMAC-SHA256 of the seal before, of place and time, and of the entry, in hex
    seal = models.CharField(max_length=64)

    class Meta:
        ordering = ("place",)

    def __str__(self) -> str:
        return f"{self.place} {self.seal[:12]}"
