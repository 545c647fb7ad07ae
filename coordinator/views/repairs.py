"""Planning, confirming and asking for repairs. Nothing here reads the lake: a short job plans, another one repairs."""

import re
import uuid
from functools import partial
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from changes.pages import Confirmed, confirmed, plan_page
from coordinator import actions
from coordinator.forms import TableFilterForm
from coordinator.models import DeltaTable
from coordinator.queries import repairs as queries
from coordinator.queries.table_list import TableFilter
from coordinator.repairs.confirmed import plan_jobs
from coordinator.repairs.fresh import Subject
from coordinator.views.table_list import scoped
from dashboard.accounts.actor import Actor
from dashboard.connections.models import Connection
from dashboard.connections.writable import ChangeRefused, why_not_writable
from dashboard.jobs.actions import JobBusy
from dashboard.jobs.models import Job
from dashboard.web.answers import SeeOther
from lake.delta.uri import SCHEMES

_VERSION = re.compile(r"[0-9]{1,18}")
_LONGEST = 64


@require_POST
def plan(request: HttpRequest, table_id: int) -> HttpResponse:
    """Have the repairs of a table planned from a fresh reading, then show the plan of the one that was asked for."""
    table = _table(table_id)
    subject = _subject(request.POST)
    scheme = request.POST.get("path_scheme", "")
    job = actions.plan_repairs(Actor.from_request(request), table, scheme if scheme in SCHEMES else "")
    return SeeOther(f"{reverse('table-repair', args=[table.pk, job.pk])}?{_address(subject)}")


@require_http_methods(["GET", "HEAD", "POST"])
def confirm(request: HttpRequest, table_id: int, job_id: UUID) -> HttpResponse:
    """Show one plan, call by call; POST carries it out if the digest that was shown is still that of a fresh plan."""
    table = _table(table_id)
    job = get_object_or_404(plan_jobs(table), pk=job_id)
    subject = _subject(request.POST if request.method == "POST" else request.GET)
    page = queries.repair_page(table, job, subject)
    context = _context(request, table, page)
    if request.method == "POST":
        return confirmed(request, page, context, partial(_repair, Actor.from_request(request), table, subject))
    return plan_page(request, page, context)


@require_http_methods(["GET", "HEAD", "POST"])
def many(request: HttpRequest, repair: str) -> HttpResponse:
    """Show which tables of a filter one repair would touch and which not; POST repairs those that were shown."""
    kind = queries.bulk_kinds().get(repair)
    if kind is None:
        raise Http404(f"No repair of many tables is called {repair}.")
    form = TableFilterForm(request.POST if request.method == "POST" else request.GET)
    if not form.is_valid():
        return render(request, "coordinator/tables_refused.html", {"refusals": form.refusals()}, status=422)
    chosen = scoped(request, form.chosen())
    selection = queries.bulk_selection(kind, chosen)
    if request.method == "POST":
        return _repair_many(request, chosen, selection)
    return render(request, "coordinator/repair_many.html", _many_context(request, chosen, selection))


def _repair(actor: Actor, table: DeltaTable, subject: Subject, sent: Confirmed) -> Job:
    named = (subject.repair, subject.code, subject.version)
    return actions.repair(actor, table, *named, sent.digest, confirm=sent.confirm, reason=sent.reason)


def _repair_many(request: HttpRequest, chosen: TableFilter, selection: queries.BulkSelection) -> HttpResponse:
    refused, busy = "", None
    if request.POST.get("seen") != selection.seen:
        refused = "Other tables than those shown would be touched now: this page shows the new ones."
    elif len(selection.connections) != 1:
        refused = "One job works on one connection: choose one below."
    else:
        try:
            job = actions.repair_many(
                Actor.from_request(request),
                selection.tables,
                [selection.kind.repair],
                f"{selection.kind.title}: {len(selection.touched):,} table{'s' if len(selection.touched) != 1 else ''}",
                stop_at_first_failure=request.POST.get("on_failure") == "stop",
                once=request.POST.get("once", "")[:_LONGEST],
                reason=request.POST.get("reason", ""),
            )
            return SeeOther(reverse("job", args=[job.pk]))
        except (ChangeRefused, JobBusy) as refusal:
            refused, busy = str(refusal), refusal.job if isinstance(refusal, JobBusy) else None
    context = _many_context(request, chosen, selection) | {"refused": refused, "busy": busy}
    return render(request, "coordinator/repair_many.html", context, status=409)


def _context(request: HttpRequest, table: DeltaTable, page: queries.RepairPage) -> dict[str, Any]:
    actor = Actor.from_request(request)
    return {
        "table": table,
        "address": f"{reverse('table-repair', args=[table.pk, page.job.pk])}?{_address(page.subject)}",
        "why_not": _why_not(actor, table.connection, loses=bool(page.plan and page.plan["can_lose"])),
        "may_plan": actor.may("table.plan-repair", table.connection),
        "worst_state": table.state,
    }


def _many_context(request: HttpRequest, chosen: TableFilter, selection: queries.BulkSelection) -> dict[str, Any]:
    fields = queries.filter_fields(chosen)
    by_connection = [
        (name, urlencode(queries.filter_fields(queries.of_connection(chosen, name)))) for name in selection.connections
    ]
    return {
        "selection": selection,
        "fields": fields,
        "back": urlencode(fields),
        "by_connection": by_connection if len(by_connection) > 1 else [],
        "once": uuid.uuid4().hex,
        "most": queries.MOST_LISTED,
        "why_not": _why_not(Actor.from_request(request), _only_connection(selection), loses=False),
    }


def _only_connection(selection: queries.BulkSelection) -> Connection | None:
    return selection.tables[0].connection if len(selection.connections) == 1 else None


def _why_not(actor: Actor, connection: Connection | None, *, loses: bool) -> str:
    """Why this person has no button here, "" where there is one."""
    if refusal := why_not_writable(connection):
        return refusal
    if loses and not actor.may("table.repair-losing", connection):
        return "Can lose a commit: needs the admin role."
    return "" if actor.may("table.repair", connection) else "Needs the operator role."


def _subject(fields: Any) -> Subject:
    """Which repair of which finding a form or an address names; what cannot be read is as good as absent."""
    version = fields.get("version", "")
    return Subject(
        fields.get("repair", "")[:_LONGEST],
        fields.get("code", "")[:_LONGEST],
        int(version) if _VERSION.fullmatch(version) else None,
    )


def _address(subject: Subject) -> str:
    version = "" if subject.version is None else str(subject.version)
    return urlencode({"repair": subject.repair, "code": subject.code, "version": version})


def _table(table_id: int) -> DeltaTable:
    return get_object_or_404(DeltaTable.objects.select_related("connection", "store"), pk=table_id)
