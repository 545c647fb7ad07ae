"""Celery's entry point to the audit log."""

from dashboard.audit.chain import seal_all
from dashboard.celery import app


@app.task(name="dashboard.audit.tasks.seal")  # type: ignore[untyped-decorator]
def seal() -> None:
    """Seal the entries whose process ended between their commit and their seal."""
    seal_all()
