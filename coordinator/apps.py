from django.apps import AppConfig


class CoordinatorConfig(AppConfig):
    name = "coordinator"

    def ready(self) -> None:
        from coordinator import tasks  # noqa: F401 - registers the kinds of jobs
        from coordinator.alerting import KINDS, lake_problems, looks_are_fresh
        from coordinator.coordination import jobs as coordination_jobs  # noqa: F401 - registers the kinds of jobs
        from coordinator.declaration import StoreSection, WatchSection
        from coordinator.models import Bucket, DeltaTable, ObservationPass, WriterTest
        from coordinator.navigation import register_addresses
        from coordinator.repairs import jobs  # noqa: F401 - registers the kinds of jobs
        from coordinator.rescue import jobs as rescue_jobs  # noqa: F401 - registers the kinds of jobs
        from coordinator.settings import jobs as settings_jobs  # noqa: F401 - registers the kinds of jobs
        from coordinator.writer_tests import jobs as writer_test_jobs  # noqa: F401 - registers the kind of job
        from dashboard.alerts.problems import register_source
        from dashboard.connections.held import counted_as, goes_with_its_connection
        from dashboard.declaration.sections import register
        from dashboard.web.health import ready_when

        register_addresses()
        ready_when("observation", looks_are_fresh)
        register_source("lake", lake_problems, *KINDS)
        goes_with_its_connection(Bucket, ObservationPass)
        counted_as(DeltaTable, "Delta table", "Delta tables")
        counted_as(WriterTest, "writer test", "writer tests")
        register(WatchSection())
        register(StoreSection())
