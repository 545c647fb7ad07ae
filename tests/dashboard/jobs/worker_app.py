"""The Celery application of the console, and the tests' own kinds of jobs beside it."""

from dashboard.celery import app

# Named, not imported: a worker imports them when Django is ready.
app.conf.imports = ("tests.dashboard.jobs.kinds",)
