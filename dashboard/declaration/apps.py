from django.apps import AppConfig


class DeclarationConfig(AppConfig):
    """The commands `apply` and `export`; what they know of is registered by the apps that own it."""

    name = "dashboard.declaration"
    label = "declaration"
