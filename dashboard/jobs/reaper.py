"""Jobs on their way to a worker: delivered, delivered again if the message went astray, lost if the worker did.

A broker that is down costs time, never a job: the reaper delivers again.
"""

import logging
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from kombu.exceptions import OperationalError

from dashboard.accounts.actor import Actor
from dashboard.jobs import lifecycle
from dashboard.jobs.execution import record_outcome
from dashboard.jobs.exports import prune_files
from dashboard.jobs.models import Job, JobEvent, JobState

UNCLAIMED_AFTER = timedelta(minutes=2)
SILENT_AFTER = timedelta(seconds=90)
KEEP_SCHEDULED = timedelta(days=7)
PRUNE_AT_ONCE = 500

logger = logging.getLogger(__name__)


def reap() -> None:
    """Do one round; safe to run in several processes at once, since every change is conditional."""
    now = timezone.now()
    deliver_unclaimed(now)
    lose_silent(now)
    prune_scheduled(now)
    prune_files(now)


def deliver(job_id: UUID, queue: str, previous: datetime | None = None) -> bool:
    """Send the message of a queued job whose last one left at `previous`; False: sent by another, or not sent."""
    from dashboard.jobs.tasks import run_job  # Celery costs commands that never enqueue a third of a second

    if not lifecycle.mark_enqueued(job_id, previous):
        return False
    try:
        run_job.apply_async([str(job_id)], queue=queue)
    except OperationalError as error:
        logger.warning("Job %s waits: the broker cannot be reached (%s)", job_id, error)
        return False
    return True


def deliver_unclaimed(now: datetime) -> None:
    """Send the message of each queued job again whose last one left two minutes ago."""
    limit = now - UNCLAIMED_AFTER
    unclaimed = Job.objects.filter(state=JobState.QUEUED).filter(
        Q(enqueued_at__lt=limit) | Q(enqueued_at=None, created_at__lt=limit)
    )
    for job in unclaimed.order_by("created_at"):
        deliver(job.pk, job.queue, job.enqueued_at)


def lose_silent(now: datetime) -> None:
    """End each job that has had no heartbeat for 90 seconds."""
    for job in Job.objects.filter(state__in=lifecycle.ALIVE):
        lose_if_silent(job, now)


def prune_scheduled(now: datetime) -> int:
    """Remove the schedule's own succeeded jobs after a week, some at a time; what people asked for stays."""
    old = Job.objects.filter(
        state=JobState.SUCCEEDED,
        created_at__lt=now - KEEP_SCHEDULED,
        requested_by=None,
        requested_by_name=Actor.schedule().name,
    )
    removed, _ = Job.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:PRUNE_AT_ONCE])).delete()
    return removed


def lose_if_silent(job: Job, now: datetime) -> bool:
    """End this job if it has had no heartbeat for 90 seconds; says whether it did."""
    limit = now - SILENT_AFTER
    if job.state not in lifecycle.ALIVE or (job.heartbeat_at and job.heartbeat_at >= limit):
        return False
    seen = f"{job.heartbeat_at:%Y-%m-%d %H:%M:%S} UTC" if job.heartbeat_at else "never"
    asked = f" {job.cancel_requested_by} had asked it to stop." if job.cancel_requested_by else ""
    message = (
        f"Worker {job.worker or 'unknown'} stopped answering, last heard {seen}; what it was doing is not known.{asked}"
    )
    if not lifecycle.lose(job.pk, limit, message):
        return False
    logger.warning("Job %s is lost: %s", job.pk, message)
    JobEvent.objects.create(job=job, at=timezone.now(), level="ERROR", text=message)
    record_outcome(job.pk)
    return True
