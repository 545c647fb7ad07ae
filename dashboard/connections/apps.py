from django.apps import AppConfig


class ConnectionsConfig(AppConfig):
    name = "dashboard.connections"
    label = "connections"
