"""Celery: the messenger between the console and its workers. The Job row is the truth; a lost message does no harm."""

import os
from typing import Any

from celery import Celery
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")  # a worker shows nobody what they find, and they import every page

# Longer than any short task: Redis hands a message to a second worker when the first keeps it longer than this.
VISIBILITY_TIMEOUT_SECONDS = 2 * 3600
REAP_EVERY_SECONDS = 60


def _every(seconds: float, task: str, queue: str, *args: str) -> dict[str, Any]:
    """A tick; one that waited longer than its period is worth nothing, for the next one is there already."""
    return {"task": task, "args": args, "schedule": seconds, "options": {"expires": seconds, "queue": queue}}


app = Celery("levee")
app.conf.update(
    broker_url=settings.REDIS_URL,
    broker_connection_retry_on_startup=True,
    broker_transport_options={
        "visibility_timeout": VISIBILITY_TIMEOUT_SECONDS,
        "global_keyprefix": "levee:",
        "socket_keepalive": True,
        "socket_connect_timeout": 5,
        "health_check_interval": 30,
    },
    visibility_timeout=VISIBILITY_TIMEOUT_SECONDS,
    accept_content=["json"],
    task_serializer="json",
    # A killed worker loses its message; the reaper sees the silent row. Late acknowledgement would run a job twice.
    task_acks_late=False,
    task_ignore_result=True,
    task_publish_retry_policy={"max_retries": 1, "interval_start": 0.1, "interval_step": 0.1},
    worker_prefetch_multiplier=1,
    worker_max_tasks_per_child=200,
    worker_soft_shutdown_timeout=30,
    worker_hijack_root_logger=False,
    task_default_queue="default",
    task_create_missing_queues=False,
    task_queues={name: {"exchange": name, "routing_key": name} for name in settings.QUEUES},
    beat_schedule={
        "reap": _every(REAP_EVERY_SECONDS, "dashboard.jobs.ticks.reap", "default"),
        "seal": _every(60, "dashboard.audit.tasks.seal", "default"),
        "alerts": _every(60, "dashboard.alerts.tasks.look", "alerts"),
        "messages": _every(15, "dashboard.alerts.tasks.send", "alerts"),
        "deadlines": _every(60, "dashboard.deadlines.tasks.judge", "default"),
        "dead-man": _every(60, "dashboard.alerts.tasks.call_dead_man", "alerts"),
        **{f"beat-{queue}": _every(30, "dashboard.jobs.ticks.beat", queue, queue) for queue in settings.QUEUES},
        "observe": _every(settings.OBSERVE_EVERY_SECONDS, "coordinator.tasks.observe_tick", "default"),
        "recount": _every(24 * 3600, "coordinator.tasks.recount_tick", "default"),
        "backups": _every(settings.BACKUP_TICK_SECONDS, "backups.tasks.backup_tick", "default"),
        "ttl": _every(60, "coordinator.settings.ttl_ticks.ttl_tick", "aws"),
    },
)
app.autodiscover_tasks()
app.autodiscover_tasks(related_name="ticks")
app.autodiscover_tasks(["coordinator.settings"], related_name="ttl_ticks")

clock = Celery("levee", fixups=(), set_as_current=False)
"""What beat runs: the schedule alone, without Django and without the tasks."""
clock.conf = app.conf
