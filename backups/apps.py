from django.apps import AppConfig
from django.conf import settings


class BackupsConfig(AppConfig):
    name = "backups"

    def ready(self) -> None:
        from backups import inventory_setup, jobs  # noqa: F401 - register the kinds of jobs
        from backups.alerting import KINDS, backup_problems, backups_section
        from backups.declaration import PlanSection
        from backups.navigation import register_addresses
        from backups.policies import jobs as policy_jobs  # noqa: F401 - registers the kinds of jobs
        from backups.runs.prices import require_known_items
        from dashboard.alerts.digest import register_section
        from dashboard.alerts.problems import register_source
        from dashboard.declaration.sections import register

        register_addresses()
        register_source("backups", backup_problems, *KINDS)
        register_section("backups", backups_section)
        register(PlanSection())
        require_known_items(settings.BACKUP_PRICES)
