from collections.abc import Sequence
from datetime import datetime

from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate


class CoordinatorConfig(AppConfig):
    name = "coordinator"

    def ready(self) -> None:
        from coordinator.declaration import StoreSection, WatchSection
        from coordinator.models import Bucket, DeltaTable, ObservationPass, WriterTest
        from coordinator.navigation import register_addresses
        from dashboard.accounts import search
        from dashboard.alerts import problems
        from dashboard.connections import accepted, protection
        from dashboard.connections.held import counted_as, goes_with_its_connection
        from dashboard.deadlines import judging
        from dashboard.declaration.sections import register
        from dashboard.jobs import registry
        from dashboard.web.health import ready_when

        registry.in_modules.name(
            "coordinator.coordination.jobs",
            "coordinator.exports",
            "coordinator.repairs.jobs",
            "coordinator.rescue.jobs",
            "coordinator.settings.jobs",
            "coordinator.tasks",
            "coordinator.writer_tests.jobs",
        )
        register_addresses()
        search.in_modules.name("coordinator.search")
        ready_when("observation", _looks_are_fresh)
        problems.in_modules.name("coordinator.alerting")
        judging.in_modules.name("coordinator.due")
        accepted.in_modules.name("coordinator.observation.accepted")
        protection.in_modules.name("coordinator.queries.table_list")
        goes_with_its_connection(Bucket, ObservationPass)
        counted_as(DeltaTable, "Delta table", "Delta tables")
        counted_as(WriterTest, "writer test", "writer tests")
        register(WatchSection())
        register(StoreSection())
        pre_migrate.connect(_let_go, sender=self)
        post_migrate.connect(_keep, sender=self)


def _let_go(plan: Sequence[object] = (), **_: object) -> None:
    from coordinator.kept import let_go

    if plan:
        let_go()


def _keep(**_: object) -> None:
    from coordinator.kept import keep

    keep()


def _looks_are_fresh(now: datetime) -> bool:
    from coordinator.alerting import looks_are_fresh

    return looks_are_fresh(now)
