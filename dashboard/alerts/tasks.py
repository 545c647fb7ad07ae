"""Celery's entry points to alerts."""

from django.utils import timezone

from dashboard.alerts.channels import transports
from dashboard.alerts.delivery import deliver_due
from dashboard.alerts.digest import queue_digests
from dashboard.alerts.evaluation import evaluate
from dashboard.alerts.own_health import call_while_well
from dashboard.alerts.rendering import render
from dashboard.celery import app


@app.task(name="dashboard.alerts.tasks.look")  # type: ignore[untyped-decorator]
def look() -> None:
    """Compare what is wrong with the alerts that are open."""
    evaluate(timezone.now())


@app.task(name="dashboard.alerts.tasks.send")  # type: ignore[untyped-decorator]
def send() -> None:
    """Send what is due."""
    queue_digests(timezone.now())
    deliver_due(timezone.now(), transports(), render)


@app.task(name="dashboard.alerts.tasks.call_dead_man")  # type: ignore[untyped-decorator]
def call_dead_man() -> None:
    """Call the dead man's URL while all is well."""
    call_while_well(timezone.now())
