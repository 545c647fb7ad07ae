"""Celery's entry point to jobs; what looks after them by the clock is in ticks.py."""

import logging
import os
from typing import Any
from uuid import UUID

from celery.signals import worker_init, worker_shutting_down

from dashboard.celery import app
from dashboard.jobs import registry
from dashboard.jobs.context import process_is_ending
from dashboard.jobs.execution import execute

logger = logging.getLogger(__name__)


@app.task(name="dashboard.jobs.tasks.run_job", bind=True)  # type: ignore[untyped-decorator]
def run_job(self: Any, job_id: str) -> None:
    """Run one job; its outcome is in its row, so nothing is raised to Celery."""
    try:
        execute(UUID(job_id), f"{self.request.hostname or 'worker'}/{os.getpid()}")
    except Exception:
        logger.exception("Job %s could not be claimed or its outcome not be stored", job_id)


@worker_init.connect  # type: ignore[untyped-decorator]
def know_the_kinds(**_: Any) -> None:
    """Import all work once, before the children of a prefork pool are made."""
    registry.in_modules.load()


@worker_shutting_down.connect  # type: ignore[untyped-decorator]
def stop_jobs(**_: Any) -> None:
    """Let the jobs of a thread pool end by themselves; the children of a prefork pool end when their work is done."""
    process_is_ending.set()
