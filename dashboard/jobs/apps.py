from django.apps import AppConfig

from dashboard.web.navigation import NavItem, register


class JobsConfig(AppConfig):
    name = "dashboard.jobs"
    label = "jobs"

    def ready(self) -> None:
        from dashboard.accounts.scope import owned_by
        from dashboard.accounts.search import SearchKind
        from dashboard.accounts.search import register as register_search
        from dashboard.jobs import registry
        from dashboard.jobs.beats import silent_queues
        from dashboard.jobs.models import Job
        from dashboard.jobs.queries import COUNTED
        from dashboard.web.health import ready_when

        registry.in_modules.name("dashboard.jobs.exports")
        ready_when("workers", lambda now: not silent_queues(now))
        owned_by(job_id=lambda job_id: Job.objects.filter(pk=job_id).values_list("connection_id", flat=True))
        register(NavItem("Console", "Jobs", "jobs", "i-jobs", place=10, counted=COUNTED))
        lookups = ("id__istartswith", "title__icontains", "target_label__icontains")
        kind = SearchKind("Jobs", "i-jobs", 50, "job", lambda search: search.rows(Job), lookups, list_name="jobs")
        register_search(kind)
