from django.apps import AppConfig


class BackupsConfig(AppConfig):
    name = "backups"

    def ready(self) -> None:
        from backups import jobs  # noqa: F401 - registers the kinds of jobs
