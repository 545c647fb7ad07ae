"""The console as a WSGI application."""

import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

application = get_wsgi_application()

from django.conf import settings  # noqa: E402 - Django has to be set up
from django.template.loader import get_template  # noqa: E402
from django.urls import reverse  # noqa: E402

from dashboard.jobs import registry  # noqa: E402
from dashboard.web.warm import warm_up  # noqa: E402

# So that nobody waits for it at the first request, and the processes of `gunicorn --preload` share it.
registry.in_modules.load()
reverse("tables")
pages = settings.BASE_DIR / "templates"
for page in pages.rglob("*.html"):
    get_template(str(page.relative_to(pages)))
warm_up()
gc.freeze()  # a collection that marks what is shared would copy it
