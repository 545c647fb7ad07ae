"""A job's changes of state. Each is one UPDATE that repeats the state it starts from and says whether it won.

queued → running → succeeded | overtaken | failed | cancelled | lost, with cancelling between. A finished job never
changes again, so a worker that was given up and comes back finds each of these False.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Q
from django.utils import timezone

from dashboard.jobs.models import FAILED, Job, JobState

ALIVE = (JobState.RUNNING, JobState.CANCELLING)


def claim(job_id: UUID, worker: str) -> bool:
    """queued → running: of all who try, one wins."""
    now = timezone.now()
    return bool(
        Job.objects.filter(pk=job_id, state=JobState.QUEUED).update(
            state=JobState.RUNNING, started_at=now, heartbeat_at=now, worker=worker[:128], attempt=F("attempt") + 1
        )
    )


def heartbeat(job_id: UUID) -> bool:
    """Say that the job is still being worked on; False: somebody has ended it meanwhile."""
    return _write(job_id, heartbeat_at=timezone.now())


def save_progress(job_id: UUID, **fields: Any) -> bool:
    """Store counters, steps or the current sentence of a job that is being worked on."""
    return _write(job_id, heartbeat_at=timezone.now(), **fields)


def finish(job_id: UUID, message: str, **fields: Any) -> bool:
    """running | cancelling → succeeded: work that was done before it noticed the request is done."""
    return _end(job_id, JobState.SUCCEEDED, message=message, **fields)


def overtake(job_id: UUID, message: str, **fields: Any) -> bool:
    """running | cancelling → overtaken, by the worker that found somebody else faster."""
    return _end(job_id, JobState.OVERTAKEN, message=message, **fields)


def fail(job_id: UUID, code: str, text: str, **fields: Any) -> bool:
    """running | cancelling → failed; `text` is one sentence and becomes the job's message too."""
    return _end(job_id, JobState.FAILED, message=text, error_code=code[:128], error_text=text, **fields)


def stop(job_id: UUID, message: str, **fields: Any) -> bool:
    """running | cancelling → cancelled, by the worker that obeyed."""
    return _end(job_id, JobState.CANCELLED, message=message, **fields)


def request_cancel(job_id: UUID, by: str) -> bool:
    """queued → cancelled, or running → cancelling; False: it is finished, or was asked before."""
    now = timezone.now()
    asked = {"cancel_requested_by": by[:150], "cancel_requested_at": now}
    queued = Job.objects.filter(pk=job_id, state=JobState.QUEUED)
    if queued.update(state=JobState.CANCELLED, finished_at=now, message=f"Cancelled by {by} before it began.", **asked):
        return True
    return bool(Job.objects.filter(pk=job_id, state=JobState.RUNNING).update(state=JobState.CANCELLING, **asked))


def lose(job_id: UUID, silent_since: datetime, message: str) -> bool:
    """running | cancelling → lost, if no heartbeat came since `silent_since`."""
    silent = Job.objects.filter(pk=job_id, state__in=ALIVE).filter(
        Q(heartbeat_at__lt=silent_since) | Q(heartbeat_at=None)
    )
    return bool(
        silent.update(
            state=JobState.LOST, finished_at=timezone.now(), message=message, error_code="Lost", error_text=message
        )
    )


def mark_seen(job_id: UUID, by: str) -> bool:
    """Note that somebody has looked at a job that failed or was lost; False: it did not, or somebody has before."""
    failed = Job.objects.filter(pk=job_id, state__in=FAILED, seen_at=None)
    return bool(failed.update(seen_by=by[:150], seen_at=timezone.now()))


def mark_enqueued(job_id: UUID, previous: datetime | None) -> bool:
    """Note that a message is on its way for a queued job; False: another process has just sent one."""
    return bool(
        Job.objects.filter(pk=job_id, state=JobState.QUEUED, enqueued_at=previous).update(enqueued_at=timezone.now())
    )


def _end(job_id: UUID, state: JobState, **fields: Any) -> bool:
    now = timezone.now()
    return _write(job_id, state=state, finished_at=now, heartbeat_at=now, **fields)


def _write(job_id: UUID, **fields: Any) -> bool:
    return bool(Job.objects.filter(pk=job_id, state__in=ALIVE).update(**fields))
