"""Handing a queued job to Celery. A broker that is down costs time, never a job: the reaper delivers again."""

import logging
from datetime import datetime
from uuid import UUID

from kombu.exceptions import OperationalError

from dashboard.jobs import lifecycle

logger = logging.getLogger(__name__)


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
