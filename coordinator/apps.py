from django.apps import AppConfig


class CoordinatorConfig(AppConfig):
    name = "coordinator"

    def ready(self) -> None:
        from coordinator import tasks  # noqa: F401 - registers the kinds of jobs
        from coordinator.alerting import KINDS, lake_problems, looks_are_fresh
        from coordinator.coordination import jobs as coordination_jobs  # noqa: F401 - registers the kinds of jobs
        from coordinator.navigation import register_navigation
        from coordinator.repairs import jobs  # noqa: F401 - registers the kinds of jobs
        from coordinator.upkeep import jobs as upkeep_jobs  # noqa: F401 - registers the kinds of jobs
        from coordinator.visibility import register_owners
        from dashboard.alerts.problems import register_source
        from dashboard.web.health import ready_when

        register_navigation()
        register_owners()
        ready_when("observation", looks_are_fresh)
        register_source("lake", lake_problems, *KINDS)
