from datetime import datetime

from django.apps import AppConfig
from django.conf import settings

LOOPBACK = "http://127.0.0.1:"
"""Where a sandbox serves: a connection of somebody's own that has its name leads elsewhere."""


class BackupsConfig(AppConfig):
    name = "backups"

    def ready(self) -> None:
        from backups.declaration import PlanSection
        from backups.navigation import register_addresses
        from backups.runs.prices import require_known_items
        from dashboard.accounts import search
        from dashboard.alerts import problems
        from dashboard.alerts.digest import register_section
        from dashboard.connections import protection
        from dashboard.connections.signals import lake_emptied
        from dashboard.deadlines import judging
        from dashboard.declaration.sections import register
        from dashboard.jobs import registry

        registry.in_modules.name(
            "backups.inventory_setup",
            "backups.jobs",
            "backups.points.jobs",
            "backups.policies.preflight",
            "backups.restores.jobs",
            "backups.restores.many_jobs",
        )
        register_addresses()
        search.in_modules.name("backups.search")
        problems.in_modules.name("backups.alerting")
        judging.in_modules.name("backups.due")
        protection.in_modules.name("backups.queries.tables")
        register_section("backups", _section)
        register(PlanSection())
        require_known_items(settings.BACKUP_PRICES)
        lake_emptied.connect(_forget_copies)


def _forget_copies(connection: str, **_: object) -> None:
    """Copies in an emptied vault are none any more: no age counts from them, and nothing is restored from them."""
    from backups.models import RestorePoint, Run, RunState

    own = {"plan__vault_connection__name": connection, "plan__vault_connection__endpoint_url__startswith": LOOPBACK}
    Run.objects.filter(**own).update(is_proof=False)
    copies = Run.objects.copies().filter(**own)
    copies.update(state=RunState.CANCELLED, sentence="The sandbox was started again, with an empty vault.")
    RestorePoint.objects.filter(**own).delete()


def _section(since: datetime, now: datetime) -> str:
    from backups.alerting import backups_section

    return backups_section(since, now)
