from django.apps import AppConfig


class DeclarationConfig(AppConfig):
    """The commands `apply` and `export`; apps register what is said of what they own, this one of connections."""

    name = "dashboard.declaration"
    label = "declaration"

    def ready(self) -> None:
        from dashboard.declaration.connections import ConnectionSection
        from dashboard.declaration.sections import register

        register(ConnectionSection())
