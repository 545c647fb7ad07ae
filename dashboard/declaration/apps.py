from django.apps import AppConfig


class DeclarationConfig(AppConfig):
    """The commands `apply` and `export`; but for connections, the apps that own things register what is said of them."""

    name = "dashboard.declaration"
    label = "declaration"

    def ready(self) -> None:
        from dashboard.declaration.connections import ConnectionSection
        from dashboard.declaration.sections import register

        register(ConnectionSection())
