"""Signs of life of the workers: each queue's worker writes down when it last answered."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Max

from dashboard.jobs.lifecycle import ALIVE
from dashboard.jobs.models import Job, WorkerBeat

SILENT_AFTER = timedelta(minutes=3)


def note_beat(queue: str, worker: str, now: datetime) -> None:
    """Write down that the worker of a queue answers; an older beat does not overwrite a newer one."""
    WorkerBeat.objects.bulk_create([WorkerBeat(queue=queue, worker=worker, at=now)], ignore_conflicts=True)
    WorkerBeat.objects.filter(queue=queue, at__lt=now).update(worker=worker, at=now)


def silent_queues(now: datetime, after: timedelta = SILENT_AFTER) -> tuple[str, ...]:
    """Return the queues whose worker showed no life for that long; before any has, none is missed."""
    beats = dict(WorkerBeat.objects.filter(queue__in=settings.QUEUES).values_list("queue", "at"))
    if len(beats) == len(settings.QUEUES) and all(now - at < after for at in beats.values()):
        return ()
    return tuple(queue for queue, since in silent_since().items() if now - since >= after)


def silent_since() -> dict[str, datetime]:
    """Return since when each queue shows no life; one that never had any counts from the first sign of another."""
    signs = last_signs()
    known = [at for at in signs.values() if at is not None]
    return {queue: at or min(known) for queue, at in signs.items()} if known else {}


def last_signs() -> dict[str, datetime | None]:
    """Return when each queue last showed life: by a beat, or by the heartbeat of a job that keeps its worker busy."""
    signs: dict[str, datetime | None] = dict.fromkeys(settings.QUEUES)
    signs.update(WorkerBeat.objects.filter(queue__in=settings.QUEUES).values_list("queue", "at"))
    busy = Job.objects.filter(state__in=ALIVE).values_list("queue").annotate(at=Max("heartbeat_at"))
    for queue, at in busy.order_by():
        known = signs.get(queue)
        if at is not None and (known is None or at > known):
            signs[queue] = at
    return signs
