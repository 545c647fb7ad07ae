"""Celery: the messenger between the console and its workers. The Job row is the truth; a lost message does no harm."""

import os

from celery import Celery
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

# Longer than any short task: Redis hands a message to a second worker when the first keeps it longer than this.
VISIBILITY_TIMEOUT_SECONDS = 2 * 3600
REAP_EVERY_SECONDS = 60
SEAL_EVERY_SECONDS = 60
ALERT_EVERY_SECONDS = 60
SEND_EVERY_SECONDS = 15
BEAT_EVERY_SECONDS = 30
QUEUES = ("default", "aws", "spark", "alerts")
TTL_EVERY_SECONDS = 60

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
    result_backend=None,
    result_backend_transport_options={"visibility_timeout": VISIBILITY_TIMEOUT_SECONDS},
    accept_content=["json"],
    task_serializer="json",
    # A killed worker loses its message; the reaper sees the silent row. Late acknowledgement would run a job twice.
    task_acks_late=False,
    task_ignore_result=True,
    task_track_started=False,
    task_publish_retry_policy={"max_retries": 1, "interval_start": 0.1, "interval_step": 0.1},
    worker_prefetch_multiplier=1,
    worker_max_tasks_per_child=200,
    worker_soft_shutdown_timeout=30,
    worker_hijack_root_logger=False,
    task_default_queue="default",
    task_create_missing_queues=False,
    task_queues={name: {"exchange": name, "routing_key": name} for name in QUEUES},
    timezone="UTC",
    enable_utc=True,
    # A tick that waited longer than its period is worth nothing: the next one is there already.
    beat_schedule={
        "reap": {
            "task": "dashboard.jobs.ticks.reap",
            "schedule": REAP_EVERY_SECONDS,
            "options": {"expires": REAP_EVERY_SECONDS, "queue": "default"},
        },
        "seal": {
            "task": "dashboard.audit.tasks.seal",
            "schedule": SEAL_EVERY_SECONDS,
            "options": {"expires": SEAL_EVERY_SECONDS, "queue": "default"},
        },
        "alerts": {
            "task": "dashboard.alerts.tasks.look",
            "schedule": ALERT_EVERY_SECONDS,
            "options": {"expires": ALERT_EVERY_SECONDS, "queue": "alerts"},
        },
        "messages": {
            "task": "dashboard.alerts.tasks.send",
            "schedule": SEND_EVERY_SECONDS,
            "options": {"expires": SEND_EVERY_SECONDS, "queue": "alerts"},
        },
        "dead-man": {
            "task": "dashboard.alerts.tasks.call_dead_man",
            "schedule": ALERT_EVERY_SECONDS,
            "options": {"expires": ALERT_EVERY_SECONDS, "queue": "alerts"},
        },
        **{
            f"beat-{queue}": {
                "task": "dashboard.jobs.ticks.beat",
                "args": (queue,),
                "schedule": BEAT_EVERY_SECONDS,
                "options": {"expires": BEAT_EVERY_SECONDS, "queue": queue},
            }
            for queue in QUEUES
        },
        "observe": {
            "task": "coordinator.tasks.observe_tick",
            "schedule": settings.OBSERVE_EVERY_SECONDS,
            "options": {"expires": settings.OBSERVE_EVERY_SECONDS, "queue": "default"},
        },
        "backups": {
            "task": "backups.tasks.backup_tick",
            "schedule": settings.BACKUP_TICK_SECONDS,
            "options": {"expires": settings.BACKUP_TICK_SECONDS, "queue": "default"},
        },
        "ttl": {
            "task": "coordinator.settings.ttl_ticks.ttl_tick",
            "schedule": TTL_EVERY_SECONDS,
            "options": {"expires": TTL_EVERY_SECONDS, "queue": "aws"},
        },
    },
)
app.autodiscover_tasks()
app.autodiscover_tasks(related_name="ticks")
