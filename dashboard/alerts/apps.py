from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AlertsConfig(AppConfig):
    name = "dashboard.alerts"
    label = "alerts"

    def ready(self) -> None:
        from dashboard.alerts.defaults import ensure_default_rules
        from dashboard.alerts.own_health import KINDS, own_problems
        from dashboard.alerts.problems import register_source
        from dashboard.alerts.queries import nav_count
        from dashboard.web.navigation import NavItem, register

        register_source("levee", own_problems, *KINDS)
        register(NavItem("Console", "Alerts", "alerts", "i-alert", place=5, count=nav_count))
        post_migrate.connect(ensure_default_rules, sender=self)
