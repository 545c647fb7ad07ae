from django.apps import AppConfig

from dashboard.web.navigation import NavCount, NavItem, register


class JobsConfig(AppConfig):
    name = "dashboard.jobs"
    label = "jobs"

    def ready(self) -> None:
        register(NavItem("Console", "Jobs", "jobs", "i-jobs", place=10, count=_running))


def _running(connection: int | None) -> NavCount | None:
    from dashboard.jobs.queries import JobFilter, jobs

    number = jobs(JobFilter(state="running", connection=connection)).count()
    return NavCount("running", number) if number else None
