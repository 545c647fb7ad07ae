from django.apps import AppConfig

from dashboard.web.navigation import NavItem, register


class AuditConfig(AppConfig):
    name = "dashboard.audit"
    label = "audit"

    def ready(self) -> None:
        register(NavItem("Console", "Audit log", "audit", "i-audit", place=20))
