"""Reading the audit log, newest first."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, TypedDict
from uuid import UUID

from django.db.models import Case, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Coalesce

from dashboard.audit.models import AuditEntry
from dashboard.commands import document_of
from dashboard.web.paging import Column, Page, Sort, keyset_page

NEWEST = Sort("newest", (Column("id", descending=True),))
LOOKS = ("backup.preflight", "backup.prove", "lake.plan-upkeep", "table.check-coordination", "table.plan-repair")
"""Actions that look and change nothing."""
OUTCOMES = ("requested", "done", "overtaken", "refused", "failed")


class TargetDocument(TypedDict):
    """What an entry or a job is about; `label` outlives it."""

    type: Annotated[str, "table"]
    id: str
    label: Annotated[str, "s3a://lake/orders"]


class AuditJson(TypedDict):
    """An entry in `audit --json`; `job` is null for what no job did."""

    id: int
    at: datetime
    actor: str
    source: Annotated[str, "page | command | schedule | worker"]
    ip: str | None
    user_agent: str
    request_id: str
    action: Annotated[str, "table.repair"]
    target: TargetDocument
    before: Mapping[str, object]
    after: Mapping[str, object]
    outcome: Annotated[str, "requested | done | overtaken | refused | failed"]
    detail: str
    job: UUID | None
    aws_request_ids: list[str]


@dataclass(frozen=True)
class AuditFilter:
    """What to look for; an empty field does not narrow. `action` may end in a dot: lake. means all of the lake."""

    actor: str = ""
    action: str = ""
    target: str = ""
    outcome: str = ""
    text: str = ""
    since: str = ""
    until: str = ""
    """Days, 2026-11-27, both of them included; what is none does not narrow."""
    show: str = ""
    """`acts` leaves out looking at plans and checks, and what was asked for where its end stands in the log; `looks`
    keeps the first alone."""

    @property
    def is_empty(self) -> bool:
        return replace(self, show="") == AuditFilter()


def audit_entries(wanted: AuditFilter) -> QuerySet[AuditEntry]:
    """Return the matching rows, unordered."""
    rows = AuditEntry.objects.all()
    if wanted.actor:
        rows = rows.filter(actor_name=wanted.actor)
    if wanted.action:
        exact = not wanted.action.endswith(".")
        rows = rows.filter(action=wanted.action) if exact else rows.filter(action__startswith=wanted.action)
    if wanted.target:
        rows = rows.filter(Q(target_label__icontains=wanted.target) | Q(target_id=wanted.target))
    if wanted.outcome:
        rows = rows.filter(outcome=wanted.outcome)
    if day := _day(wanted.since):
        rows = rows.filter(at__gte=day)
    if day := _day(wanted.until):
        rows = rows.filter(at__lt=day + timedelta(days=1))
    if wanted.show == "looks":
        rows = rows.filter(action__in=LOOKS)
    elif wanted.show == "acts":
        # Values, not EXISTS: PostgreSQL answers that from a list of all rows, these by an index for each row shown.
        ends = (Subquery(rows_of.exclude(outcome="requested").values("pk")[:1]) for rows_of in _of_one_act())
        rows = rows.exclude(action__in=LOOKS).alias(end=Coalesce(*ends)).exclude(outcome="requested", end__isnull=False)
    if wanted.text:
        words = ("actor_name", "action", "target_label", "detail")
        rows = rows.filter(Q.create([(f"{word}__icontains", wanted.text) for word in words], connector=Q.OR))
    return rows


def _of_one_act() -> tuple[QuerySet[AuditEntry], QuerySet[AuditEntry]]:
    """Return the rows of the outer row's act: those of its job, and those of its run of a backup, which many jobs move.

    Each is found by an index; both in one condition would be read by that of the action, which many rows share.
    """
    same = AuditEntry.objects.filter(action=OuterRef("action"))
    return same.filter(job_id=OuterRef("job_id")), same.filter(target_type="run", target_id=OuterRef("target_id"))


def _day(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return None


def audit_page(wanted: AuditFilter, after: str, size: int, *, whole: bool = False) -> Page[AuditEntry]:
    """Return one page, newest first; `after` is the cursor that the page before gave, `whole` looks through all rows.

    Each row has `shell`: who did it, or asked for it, from a shell; None unless so.
    """
    asked = (rows_of.filter(outcome="requested", source="command") for rows_of in _of_one_act())
    own = Case(When(source="command", then="user_agent"))
    shell = Coalesce(*(Subquery(one.values("user_agent")[:1]) for one in asked), own)
    rows = audit_entries(wanted).annotate(shell=shell)
    return keyset_page(rows, NEWEST, after, size, None if whole else audit_entries(_by_index(wanted)))


def _by_index(wanted: AuditFilter) -> AuditFilter:
    """The first field of which an index has the entries, newest first; empty where there is none."""
    action = "" if wanted.action.endswith(".") else wanted.action
    exact = {"action": action, "actor": wanted.actor, "outcome": wanted.outcome}
    return next((AuditFilter(**{name: value}) for name, value in exact.items() if value), AuditFilter())


def export_rows(wanted: AuditFilter) -> Iterator[dict[str, object]]:
    """Yield every matching row, oldest first, flat enough for a spreadsheet; read page by page, with nothing open.

    Rows that are added meanwhile come last, or not at all where their transaction ends after that of a later one.
    """
    rows, last = audit_entries(wanted).order_by("pk"), 0
    while part := rows.filter(pk__gt=last)[:1_000]:
        for entry in part:
            document = as_document(entry)
            target = {f"target_{key}": value for key, value in document["target"].items()}
            yield {**{key: value for key, value in document.items() if key != "target"}, **target}
            last = entry.pk


def as_document(entry: AuditEntry) -> AuditJson:
    """Return an entry as the command prints it."""
    target: TargetDocument = {"type": entry.target_type, "id": entry.target_id, "label": entry.target_label}
    return document_of(AuditJson, entry, actor=entry.actor_name, target=target, job=entry.job_id)
