from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "dashboard.web"
    label = "web"

    def ready(self) -> None:
        from dashboard.web import deployment_checks  # noqa: F401 - registers the checks
