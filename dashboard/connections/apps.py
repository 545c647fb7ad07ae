from django.apps import AppConfig


class ConnectionsConfig(AppConfig):
    name = "dashboard.connections"
    label = "connections"

    def ready(self) -> None:
        from dashboard.connections.declaration import ConnectionSection
        from dashboard.declaration.sections import register

        register(ConnectionSection())
