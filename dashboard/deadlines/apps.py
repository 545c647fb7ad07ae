from django.apps import AppConfig


class DeadlinesConfig(AppConfig):
    name = "dashboard.deadlines"
    label = "deadlines"

    def ready(self) -> None:
        from dashboard.alerts.digest import register_section
        from dashboard.connections.held import goes_with_its_connection
        from dashboard.deadlines.models import Due
        from dashboard.deadlines.queries import digest_section
        from dashboard.web.navigation import NavItem, register

        register(NavItem("Protection", "Deadlines", "deadlines", "i-deadline", place=15))
        register_section("deadlines", digest_section)
        goes_with_its_connection(Due)
