"""The console as a WSGI application."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

application = get_wsgi_application()

from dashboard.jobs import registry  # noqa: E402 - Django has to be set up

registry.in_modules.load()  # so that the first person who asks for a job does not wait for it
