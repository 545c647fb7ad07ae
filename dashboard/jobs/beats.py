"""Signs of life of the workers: each queue's worker writes down when it last answered."""

from datetime import datetime, timedelta

from django.db.models import F, Max, Q
from django.db.models.functions import Greatest

from dashboard.celery import QUEUES
from dashboard.jobs.lifecycle import ALIVE
from dashboard.jobs.models import Job, WorkerBeat

SILENT_AFTER = timedelta(minutes=3)


def note_beat(queue: str, worker: str, now: datetime) -> None:
    """Write down that the worker of a queue answers; an older beat does not overwrite a newer one."""
    WorkerBeat.objects.bulk_create([WorkerBeat(queue=queue, worker=worker, at=now)], ignore_conflicts=True)
    WorkerBeat.objects.filter(Q(at__lt=now), queue=queue).update(worker=worker, at=Greatest(F("at"), now))


def all_answer(now: datetime) -> bool:
    """Say whether every queue's worker showed life within SILENT_AFTER; before any has, none is missed."""
    signs = last_signs()
    known = [at for at in signs.values() if at is not None]
    return all(now - (at or min(known)) < SILENT_AFTER for at in signs.values()) if known else True


def last_signs() -> dict[str, datetime | None]:
    """Return when each queue last showed life: by a beat, or by the heartbeat of a job that keeps its worker busy."""
    signs: dict[str, datetime | None] = dict.fromkeys(QUEUES)
    signs.update(WorkerBeat.objects.filter(queue__in=QUEUES).values_list("queue", "at"))
    busy = Job.objects.filter(state__in=ALIVE).values_list("queue").annotate(at=Max("heartbeat_at"))
    for queue, at in busy.order_by():
        known = signs.get(queue)
        if at is not None and (known is None or at > known):
            signs[queue] = at
    return signs
