"""Planning, confirming and asking for repairs. Nothing here reads the lake: a short job plans, another one repairs."""

import re
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from changes.many_pages import ManyConfirmed, ManyPage, many_confirmed, many_page
from changes.pages import Confirmed, PlanPage, confirmed, plan_page
from coordinator import actions
from coordinator.forms import TableFilterForm
from coordinator.models import DeltaTable
from coordinator.queries import repairs as queries
from coordinator.queries.table_list import MOST_LISTED, ManySelection, TableFilter, filter_fields
from coordinator.repairs.declaration import Many
from coordinator.repairs.fresh import Subject, jobs_about
from coordinator.views.addressed import addressed_table
from coordinator.views.table_list import scoped
from dashboard.accounts.actor import Actor
from dashboard.connections.models import Connection
from dashboard.connections.writable import why_not_writable
from dashboard.jobs.models import Job
from dashboard.web.answers import SeeOther
from lake.delta.uri import SCHEMES

TEMPLATE = "coordinator/repair_plan.html"
TEMPLATE_OF_MANY = "coordinator/repair_many.html"
_VERSION = re.compile(r"[0-9]{1,18}")
_LONGEST = 64


@require_POST
def plan(request: HttpRequest, table_id: int) -> HttpResponse:
    """Have the repairs of a table planned from a fresh reading, then show the plan of the one that was asked for."""
    table = addressed_table(request, table_id)
    subject = _subject(request.POST)
    scheme = request.POST.get("path_scheme", "")
    job = actions.plan_repairs(Actor.from_request(request), table, scheme if scheme in SCHEMES else "")
    return SeeOther(f"{reverse('table-repair', args=[table.pk, job.pk])}?{_address(subject)}")


@require_http_methods(["GET", "HEAD", "POST"])
def confirm(request: HttpRequest, table_id: int, job_id: UUID) -> HttpResponse:
    """Show one plan, call by call; POST carries it out if the digest that was shown is still that of a fresh plan."""
    table = addressed_table(request, table_id)
    job = get_object_or_404(jobs_about(table, "plan-repair"), pk=job_id)
    subject = _subject(request.POST if request.method == "POST" else request.GET)
    page = queries.repair_page(table, job, subject)
    address = f"{reverse('table-repair', args=[table.pk, job.pk])}?{_address(subject)}"
    context = plan_context(request, table, page, address, "Can lose a commit: needs the admin role.")
    if request.method == "POST":
        act = partial(_repair, Actor.from_request(request), job, subject)
        return confirmed(request, TEMPLATE, page, context, act)
    return plan_page(request, TEMPLATE, page, context)


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
    selection, quiet = queries.bulk_selection(kind, chosen)
    page, actor = _many_page(kind, chosen, selection), Actor.from_request(request)
    in_words = f"{kind.title}: {selection.confirm}"
    context = {
        "kind": kind,
        "in_words": in_words,
        "selection": selection,
        "quiet": quiet,
        "most": MOST_LISTED,
        "why_not": why_not(actor, selection.connection),
    }
    if request.method == "POST":
        act = partial(_repair_many, actor, kind, selection, in_words)
        return many_confirmed(request, TEMPLATE_OF_MANY, page, context, act)
    return many_page(request, TEMPLATE_OF_MANY, page, context)


def _repair(actor: Actor, planned: Job, subject: Subject, sent: Confirmed) -> Job:
    return actions.repair(actor, planned, subject, sent.digest, confirm=sent.confirm, reason=sent.reason)


def _repair_many(actor: Actor, kind: Many, selection: ManySelection, title: str, sent: ManyConfirmed) -> Job:
    return actions.repair_many(
        actor,
        selection.tables,
        [kind.repair],
        title,
        stop_at_first_failure=sent.stop_at_first_failure,
        once=sent.once,
        reason=sent.reason,
    )


def _many_page(kind: Many, chosen: TableFilter, selection: ManySelection) -> ManyPage:
    fields, several = filter_fields(chosen), selection.connections if selection.connection is None else ()
    return ManyPage(
        title=kind.title,
        touched=len(selection.touched),
        seen=selection.seen,
        connections=selection.connections,
        picked=len(chosen.only),
        fields=fields,
        back=urlencode(fields),
        by_connection=[(name, urlencode(filter_fields(replace(chosen, connection=name)))) for name in several],
    )


def why_not(actor: Actor, connection: Connection | None, losing: str = "") -> str:
    """Why this person has no button here, "" where there is one; `losing` is said to all but admins, "" for no loss."""
    if refusal := why_not_writable(connection):
        return refusal
    if losing and not actor.may("table.repair-losing", connection):
        return losing
    return "" if actor.may("table.repair", connection) else "Needs the operator role."


def plan_context(
    request: HttpRequest, table: DeltaTable, page: PlanPage, address: str, losing: str
) -> dict[str, object]:
    """What the page of a plan about a table needs beside it; `losing` is why only an admin has the button."""
    actor = Actor.from_request(request)
    loses = page.plan is not None and page.plan["can_lose"]
    return {
        "table": table,
        "address": address,
        "why_not": why_not(actor, table.connection, losing if loses else ""),
        "may_plan": actor.may("table.plan-repair", table.connection),
        "worst_state": table.state,
    }


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
