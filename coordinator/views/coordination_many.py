"""Coordinated commits over the lake, and one act on every table of a filter: which, which not, and why not."""

import uuid
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from coordinator.coordination import actions
from coordinator.coordination.checks import Operation
from coordinator.coordination.gate import STATEMENTS, ConfirmationNeeded
from coordinator.coordination.jobs import MANY
from coordinator.coordination.moves import MOVES, NOTE
from coordinator.coordination.releases import RELEASES
from coordinator.forms import TableFilterForm
from coordinator.models import CommitStore
from coordinator.queries import coordination as queries
from coordinator.queries.repairs import MOST_LISTED, filter_fields, of_connection
from coordinator.queries.table_list import TableFilter
from coordinator.views.coordination import why_not
from coordinator.views.table_list import scoped
from dashboard.accounts.actor import Actor
from dashboard.connections.writable import ChangeRefused
from dashboard.jobs.actions import JobBusy
from dashboard.web.answers import SeeOther

_LONGEST = 64


@require_http_methods(["GET", "HEAD", "POST"])
def many(request: HttpRequest, operation: str) -> HttpResponse:
    """Show what would be touched; POST hands exactly that to one job."""
    wanted = next((one for one in MANY if one.value == operation), None)
    if wanted is None:
        raise Http404(f"No act on many tables is called {operation}.")
    form = TableFilterForm(request.POST if request.method == "POST" else request.GET)
    if not form.is_valid():
        return render(request, "coordinator/tables_refused.html", {"refusals": form.refusals()}, status=422)
    chosen = scoped(request, form.chosen())
    selection = queries.many_selection(wanted, chosen)
    if request.method == "POST":
        return _act(request, wanted, chosen, selection)
    return render(request, "coordinator/coordination_many.html", _context(request, wanted, chosen, selection))


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """What can be done with coordinated commits: on the tables of a filter, on a new one, and move by move."""
    form = TableFilterForm(request.GET)
    if not form.is_valid():
        return render(request, "coordinator/tables_refused.html", {"refusals": form.refusals()}, status=422)
    chosen = scoped(request, form.chosen())
    coordinated, others = queries.counts_by_coordination(chosen)
    context = {
        "fields": filter_fields(chosen),
        "back": urlencode(filter_fields(chosen)),
        "coordinated": coordinated,
        "not_coordinated": others,
        "moves": MOVES,
        "note": NOTE,
        "releases": RELEASES,
        "stores": CommitStore.objects.select_related("connection").order_by("connection__name", "name"),
    }
    return render(request, "coordinator/coordination_index.html", context)


def _act(
    request: HttpRequest, operation: Operation, chosen: TableFilter, selection: queries.ManySelection
) -> HttpResponse:
    refused, busy, status = "", None, 409
    if request.POST.get("seen") != selection.seen:
        refused = "Other tables than those shown would be touched now: this page shows the new ones."
    elif len(selection.connections) != 1:
        refused = "One job works on one connection: choose one below."
    else:
        try:
            job = actions.act_on_many(
                Actor.from_request(request),
                selection.touched,
                operation,
                store=request.POST.get("coordinator", "")[:255],
                confirm=request.POST.get("confirm", "")[:_LONGEST],
                stated=request.POST.get("stated") == "yes",
                stop_at_first_failure=request.POST.get("on_failure") == "stop",
                once=request.POST.get("once", "")[:_LONGEST],
                reason=request.POST.get("reason", ""),
            )
            return SeeOther(reverse("job", args=[job.pk]))
        except (ChangeRefused, JobBusy) as refusal:
            refused, busy = str(refusal), refusal.job if isinstance(refusal, JobBusy) else None
            status = 422 if isinstance(refusal, ConfirmationNeeded) else 409
    context = _context(request, operation, chosen, selection) | {"refused": refused, "busy": busy}
    return render(request, "coordinator/coordination_many.html", context, status=status)


def _context(
    request: HttpRequest, operation: Operation, chosen: TableFilter, selection: queries.ManySelection
) -> dict[str, Any]:
    fields = filter_fields(chosen)
    connection = selection.touched[0].connection if len(selection.connections) == 1 else None
    by_connection = [(name, urlencode(filter_fields(of_connection(chosen, name)))) for name in selection.connections]
    return {
        "operation": operation.value,
        "title": "Enable coordinated commits" if operation is Operation.ENABLE else "Drop coordinated commits",
        "selection": selection,
        "fields": fields,
        "back": urlencode(fields),
        "by_connection": by_connection if len(by_connection) > 1 else [],
        "stores": CommitStore.objects.filter(
            connection__name__in=selection.connections, kind=CommitStore.Kind.COMMIT_COORDINATOR
        ),
        "statement": STATEMENTS[operation].replace("this table", "these tables"),
        "note": NOTE,
        "most": MOST_LISTED,
        "most_tables": queries.MOST_TABLES,
        "once": uuid.uuid4().hex,
        "why_not": why_not(request, operation, connection),
    }
