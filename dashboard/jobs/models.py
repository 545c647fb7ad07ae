"""Jobs: one row is the truth about one piece of work; Celery only delivers it."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q


class JobState(models.TextChoices):
    """queued → running → succeeded | overtaken | failed | cancelled | lost, with cancelling between.

    OVERTAKEN: somebody else changed what the job was about before it did, so that it stopped; nothing went wrong.
    """

    QUEUED = "queued"
    RUNNING = "running"
    CANCELLING = "cancelling"
    SUCCEEDED = "succeeded"
    OVERTAKEN = "overtaken"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"


ACTIVE = (JobState.QUEUED, JobState.RUNNING, JobState.CANCELLING)
FINISHED = (JobState.SUCCEEDED, JobState.OVERTAKEN, JobState.FAILED, JobState.CANCELLED, JobState.LOST)
FAILED = (JobState.FAILED, JobState.LOST)


def shown_state(state: str, begun: object) -> str:
    """The state as pages show it; `begun` is what a job's result says of what goes on, or waits, without it."""
    return "begun" if state == JobState.SUCCEEDED and begun else str(state)


class Job(models.Model):
    """One piece of work on one target. Every change of state is a conditional UPDATE in dashboard.jobs.lifecycle."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=64)  # Name in the job registry, such as observe
    title = models.CharField(max_length=200)  # What a person reads: Observe the lake
    queue = models.CharField(max_length=16, default="default")
    connection = models.ForeignKey("connections.Connection", null=True, blank=True, on_delete=models.SET_NULL)
    target_type = models.CharField(max_length=32, blank=True)  # table, store, bucket, plan; empty: the lake
    target_id = models.CharField(max_length=64, blank=True)
    target_label = models.CharField(max_length=2048, blank=True)  # Kept although the target may go
    target_key = models.CharField(max_length=128)  # connection:type:id, what the one active job per kind holds
    params = models.JSONField(default=dict)
    state = models.CharField(max_length=16, default=JobState.QUEUED)
    # [{name, state: next|running|done|stopped|failed, detail, started, ended}]
    steps = models.JSONField(default=list)
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True)  # Unknown while null
    message = models.TextField(blank=True)  # The current or final sentence about this job
    result = models.JSONField(default=dict)
    error_code = models.CharField(max_length=128, blank=True)
    error_text = models.TextField(blank=True)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    requested_by_name = models.CharField(max_length=150)  # A person's name, schedule or command
    reason = models.CharField(max_length=500, blank=True)
    idempotency_key = models.CharField(max_length=128, null=True, unique=True)  # noqa: DJ001 - null: no key, many may have none
    created_at = models.DateTimeField(auto_now_add=True)
    enqueued_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    cancel_requested_by = models.CharField(max_length=150, blank=True)
    cancel_requested_at = models.DateTimeField(null=True)
    seen_by = models.CharField(max_length=150, blank=True)  # Who marked a failure as looked at
    seen_at = models.DateTimeField(null=True)
    worker = models.CharField(max_length=128, blank=True)
    attempt = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("-created_at", "-id")
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="job_newest"),
            models.Index(fields=["state", "-created_at", "-id"], name="job_state_newest"),
            models.Index(fields=["target_type", "target_id", "-created_at"], name="job_target_newest"),
            models.Index(fields=["kind", "-created_at", "-id"], name="job_kind_newest"),
            models.Index(fields=["requested_by_name", "kind", "-created_at", "-id"], name="job_asker_kind_newest"),
        ]
        constraints = [
            # Two of the same work on the same thing would only fight; the second click finds the first job.
            models.UniqueConstraint(
                fields=["kind", "target_key"],
                condition=Q(state__in=[state.value for state in ACTIVE]),
                name="job_one_active_per_target",
            )
        ]

    def __str__(self) -> str:
        return f"{self.title} {self.id}"

    @property
    def is_finished(self) -> bool:
        return self.state in FINISHED

    @property
    def shown_state(self) -> str:
        """What pages show: a job has not succeeded in what goes on, or waits, after it, nor in what it refused."""
        refusal = self.result.get("refusal")
        if self.state == JobState.SUCCEEDED and refusal and not refusal["asks"]:
            return "nothing_to_do" if refusal["why"] == "nothing-to-do" else "refused"
        return shown_state(self.state, self.result.get("begun"))


class JobEvent(models.Model):
    """One line of a job's visible log."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField()
    level = models.CharField(max_length=5, default="INFO")  # INFO, WARN or ERROR
    step = models.CharField(max_length=16, blank=True)
    text = models.TextField()
    data = models.JSONField(default=dict)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return self.text


class WorkerBeat(models.Model):
    """When the worker of a queue last answered."""

    queue = models.CharField(max_length=16, primary_key=True)
    worker = models.CharField(max_length=128)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.queue} {self.at:%H:%M:%S}"


class ExportPiece(models.Model):
    """A part of the file that a job makes, compressed for itself; in the order of their keys they are the file."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="pieces")
    content = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.job_id} {self.pk}"
