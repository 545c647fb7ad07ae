import os

from django.apps import AppConfig
from django.core.exceptions import ImproperlyConfigured


class ProcessesConfig(AppConfig):
    name = "dashboard.processes"
    label = "processes"

    def ready(self) -> None:
        from lake.spark.deployment import read_master
        from lake.spark.errors import SparkRefused

        try:
            read_master(os.environ)
        except SparkRefused as error:
            raise ImproperlyConfigured(str(error)) from error
