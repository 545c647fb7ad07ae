"""The one door into the audit log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from dashboard.audit.chain import seal_new_entries
from dashboard.audit.models import AuditEntry

Source = Literal["page", "command", "schedule", "worker"]
AuditOutcome = Literal["requested", "done", "overtaken", "refused", "failed"]


@dataclass(frozen=True)
class Doer:
    """Who does it and from where."""

    name: str
    source: Source
    user: Any = None
    ip: str | None = None
    user_agent: str = ""
    request_id: str = ""


def record(
    actor: Doer,
    action: str,
    *,
    target_type: str = "",
    target_id: str = "",
    target_label: str = "",
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    outcome: AuditOutcome = "done",
    detail: str = "",
    job: Model | None = None,
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
