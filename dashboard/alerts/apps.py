from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import post_migrate


class AlertsConfig(AppConfig):
    name = "dashboard.alerts"
    label = "alerts"

    def ready(self) -> None:
        from dashboard.accounts.scope import owned_by
        from dashboard.accounts.search import SearchKind
        from dashboard.accounts.search import register as register_search
        from dashboard.alerts import problems
        from dashboard.alerts.matching import ensure_default_rules
        from dashboard.alerts.models import Alert, Rule
        from dashboard.alerts.queries import COUNTED, find_alerts
        from dashboard.connections.held import counted_as
        from dashboard.web.navigation import NavItem, register

        problems.in_modules.name("dashboard.alerts.own_health")
        register(NavItem("Protection", "Alerts", "alerts", "i-alert", place=20, counted=COUNTED))
        for name in ("rules", "recipients", "messages"):
            register(NavItem("Protection", f"Alert {name}", f"alert-{name}"))
        kind = SearchKind("Alerts", "i-alert", 20, "alert", find_alerts, (), list_name="alerts", at_rest=True)
        register_search(kind)
        counted_as(Rule, "alert rule", "alert rules")
        owned_by(alert_id=lambda alert_id: Alert.objects.filter(pk=alert_id).values_list("connection_id", flat=True))
        post_migrate.connect(ensure_default_rules, sender=self)
        if settings.SMTP_URL:
            from dashboard.alerts.mail_server import mail_carrier

            mail_carrier(settings.SMTP_URL)  # a start with a server that is none ends here
