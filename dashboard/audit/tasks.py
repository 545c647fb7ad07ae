"""Celery's entry point to the audit log."""

import logging

from dashboard.audit.chain import seal_all
from dashboard.audit.models import AuditSeal
from dashboard.celery import app

logger = logging.getLogger(__name__)


@app.task(name="dashboard.audit.tasks.seal")  # type: ignore[untyped-decorator]
def seal() -> None:
    """Seal the entries whose process ended between their commit and their seal; the process log keeps the newest seal.

    A log that is kept elsewhere than the database so tells of entries that were cut off at the end.
    """
    seal_all()
    if newest := AuditSeal.objects.order_by("-place").first():
        logger.info("The audit log is sealed up to place %d: %s", newest.place, newest.seal)
