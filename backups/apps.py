from django.apps import AppConfig


class BackupsConfig(AppConfig):
    name = "backups"

    def ready(self) -> None:
        from backups import inventory_setup, jobs  # noqa: F401 - register the kinds of jobs
        from backups.alerting import KINDS, backup_problems
        from backups.declaration import PlanSection
        from backups.digest import backups_section
        from backups.navigation import register_navigation
        from backups.policies import jobs as policy_jobs  # noqa: F401 - registers the kinds of jobs
        from backups.visibility import register_owners
        from dashboard.alerts.digest import register_section
        from dashboard.alerts.problems import register_source
        from dashboard.declaration.sections import register

        register_navigation()
        register_source("backups", backup_problems, *KINDS)
        register_section("backups", backups_section)
        register_owners()
        register(PlanSection())
