"""What the clock does for jobs. Apart from tasks.py: the reaper delivers, and a delivery sends the task of a job."""

from typing import Any

from django.utils import timezone

from dashboard.celery import app
from dashboard.jobs import reaper
from dashboard.jobs.beats import note_beat


@app.task(name="dashboard.jobs.ticks.reap")  # type: ignore[untyped-decorator]
def reap() -> None:
    """Look after jobs whose message or worker is gone."""
    reaper.reap()


@app.task(name="dashboard.jobs.ticks.beat", bind=True)  # type: ignore[untyped-decorator]
def beat(self: Any, queue: str) -> None:
    """Write down that the worker of this queue answers."""
    note_beat(queue, str(self.request.hostname or "worker")[:128], timezone.now())
