"""The one door into the audit log."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from django.db import transaction
from django.utils import timezone

from dashboard.audit.chain import seal_new_entries
from dashboard.audit.models import AuditEntry

if TYPE_CHECKING:
    from dashboard.accounts.actor import Actor
    from dashboard.jobs.models import Job

Outcome = Literal["requested", "done", "overtaken", "refused", "failed"]


def record(
    actor: "Actor",
    action: str,
    *,
    target_type: str = "",
    target_id: str = "",
    target_label: str = "",
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    outcome: Outcome = "done",
    detail: str = "",
    job: "Job | None" = None,
    aws_request_ids: Sequence[str] = (),
) -> AuditEntry:
    """Add one row, in the caller's transaction: if the act is rolled back, so is its row. A seal follows the commit."""
    entry = AuditEntry.objects.create(
        at=timezone.now(),
        actor_id=actor.user.pk if actor.user else None,
        actor_name=actor.name[:150],
        source=actor.source,
        ip=actor.ip,
        user_agent=actor.user_agent[:400],
        request_id=actor.request_id[:64],
        action=action,
        target_type=target_type,
        target_id=target_id,
        target_label=target_label[:2048],
        before=dict(before or {}),
        after=dict(after or {}),
        outcome=outcome,
        detail=detail,
        job_id=job.pk if job else None,
        aws_request_ids=list(aws_request_ids),
    )
    transaction.on_commit(seal_new_entries, robust=True)
    return entry
