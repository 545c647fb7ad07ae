from collections.abc import Collection, Iterable
from datetime import datetime
from uuid import UUID

from django.apps import AppConfig

from dashboard.web.navigation import NavCount, NavItem, register


class JobsConfig(AppConfig):
    name = "dashboard.jobs"
    label = "jobs"

    def ready(self) -> None:
        from dashboard.accounts.scope import owned_by
        from dashboard.audit.sentences import name_jobs_by
        from dashboard.web.health import ready_when

        ready_when("workers", _workers_answer)
        owned_by(job_id=_connection_of_job)
        name_jobs_by(_titles)
        register(NavItem("Console", "Jobs", "jobs", "i-jobs", place=10, count=_running))


def _connection_of_job(job_id: UUID) -> Iterable[int | None]:
    from dashboard.jobs.models import Job

    return Job.objects.filter(pk=job_id).values_list("connection_id", flat=True)


def _titles(numbers: Collection[UUID]) -> dict[UUID, str]:
    from dashboard.jobs.models import Job

    return dict(Job.objects.filter(pk__in=numbers).values_list("pk", "title"))


def _workers_answer(now: datetime) -> bool:
    from dashboard.jobs.beats import silent_queues

    return not silent_queues(now)


def _running(connection: int | None) -> NavCount | None:
    from dashboard.jobs.queries import JobFilter, jobs

    number = jobs(JobFilter(state="running", connection=connection)).count()
    return NavCount("running", number) if number else None
