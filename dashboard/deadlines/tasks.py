"""Celery's entry point to deadlines."""

from django.utils import timezone

from dashboard.celery import app
from dashboard.deadlines.judging import judge as judge_all


@app.task(name="dashboard.deadlines.tasks.judge")  # type: ignore[untyped-decorator]
def judge() -> None:
    """Ask every source what is due."""
    judge_all(timezone.now())
