"""The console's own entries in the navigation."""

from dashboard.jobs.models import Job, JobState
from dashboard.web.navigation import NavCount, NavItem, register


def register_navigation() -> None:
    register(
        NavItem("Console", "Jobs", "jobs", "i-jobs", 10, _running_jobs),
        NavItem("Console", "Audit log", "audit", "i-audit", 20),
    )


def _running_jobs(connection_id: int | None) -> NavCount | None:
    jobs = Job.objects.filter(state__in=(JobState.RUNNING, JobState.CANCELLING))
    if connection_id is not None:
        jobs = jobs.filter(connection_id=connection_id)
    number = jobs.count()
    return NavCount("running", number) if number else None
