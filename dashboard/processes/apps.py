from django.apps import AppConfig


class ProcessesConfig(AppConfig):
    name = "dashboard.processes"
    label = "processes"
