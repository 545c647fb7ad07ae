"""The console's settings with Django's admin beside it: one server answers for both, on the same rows."""

from dashboard.settings import *  # noqa: F403
from dashboard.settings import INSTALLED_APPS as OF_CONSOLE

INSTALLED_APPS = [*OF_CONSOLE, "django.contrib.admin"]
ROOT_URLCONF = "benchmarks.lists_urls"
