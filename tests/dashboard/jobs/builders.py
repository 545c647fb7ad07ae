"""Jobs in any state, for tests."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from dashboard.jobs.models import Job


def ago(**length: float) -> datetime:
    """Return the moment so long ago: ago(seconds=91)."""
    return timezone.now() - timedelta(**length)


def job(state: str = "queued", **fields: Any) -> Job:
    """Return a saved job with a target of its own."""
    number = Job.objects.count()
    values = {"kind": "test-count", "title": "Count", "target_key": f":test:{number}", "requested_by_name": "command"}
    if state in {"running", "cancelling"}:
        values |= {"started_at": ago(seconds=5), "heartbeat_at": ago(seconds=1), "worker": "w1"}
    created_at = fields.pop("created_at", None)
    made = Job.objects.create(state=state, **{**values, **fields})
    if created_at:
        Job.objects.filter(pk=made.pk).update(created_at=created_at)
        made.refresh_from_db()
    return made
