"""Coordinated commits over the lake, and one act on every table of a filter: which, which not, and why not."""

from functools import partial
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_safe

from changes.many_pages import ManyConfirmed, ManyPage, many_confirmed, many_page
from coordinator.coordination import actions
from coordinator.coordination.checks import Operation
from coordinator.coordination.gate import STATEMENTS
from coordinator.coordination.jobs import MANY
from coordinator.coordination.moves import MOVES, NOTE
from coordinator.coordination.releases import RELEASES
from coordinator.forms import TableFilterForm
from coordinator.models import CommitStore
from coordinator.protocols.wording import counted, thousands
from coordinator.queries import coordination as queries
from coordinator.queries.repairs import MOST_LISTED, filter_fields, filter_in_words
from coordinator.queries.table_list import TableFilter
from coordinator.views.coordination import why_not
from coordinator.views.table_list import scoped
from dashboard.accounts.actor import Actor
from dashboard.accounts.scope import seen
from dashboard.jobs.models import Job

_LONGEST = 64
MEANINGS = {
    Operation.ENABLE: f"Each conversion is one commit through whatever the table commits through now. {NOTE}",
    Operation.DROP: "Each drop is two commits. Afterwards no coordinator keeps the writers of these tables apart, and "
    "there is no undo.",
}


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
    page, context = _page(wanted, chosen, selection), _context(request, wanted, selection)
    if request.method == "POST":
        return many_confirmed(request, page, context, partial(_act, request, wanted, selection))
    return many_page(request, page, context)


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
        "stores": seen(request, CommitStore).select_related("connection").order_by("connection__name", "name"),
    }
    return render(request, "coordinator/coordination_index.html", context)


def _act(request: HttpRequest, operation: Operation, selection: queries.ManySelection, sent: ManyConfirmed) -> Job:
    return actions.act_on_many(
        Actor.from_request(request),
        selection.touched,
        operation,
        store=request.POST.get("coordinator", "")[:255],
        confirm=request.POST.get("confirm", "")[:_LONGEST],
        stated=request.POST.get("stated") == "yes",
        stop_at_first_failure=sent.stop_at_first_failure,
        once=sent.once,
        reason=sent.reason,
    )


def _page(operation: Operation, chosen: TableFilter, selection: queries.ManySelection) -> ManyPage:
    many, left = len(selection.touched), len(selection.skipped)
    touched = f"{counted(many, 'table')} will be checked, then changed one after the other"
    title = "Enable coordinated commits" if operation is Operation.ENABLE else "Drop coordinated commits"
    return ManyPage(
        title=title,
        question=f"{title} on {counted(many, 'table')}?",
        button=f"{title}: {selection.confirm}",
        fresh="From tables as last read",
        crumbs="coordinator/parts/coordination_many_crumbs.html",
        tone="warn" if many else "ok",
        icon="s-attention" if many else "s-ok",
        heading=f"{touched if many else 'No table will be changed'}"
        f"{f'; {thousands(left)} will not be touched' if left else ''}.",
        meaning=MEANINGS[operation] if many else "As last read, none of them fits.",
        will="Will be checked, then changed",
        touched=many,
        skipped=thousands(left),
        when_failing="When a table fails unexpectedly",
        hint="One job, one outcome per table. What the checks of a table refuse is expected and stops nothing.",
        rows="coordinator/parts/coordination_many_rows.html",
        left_out="coordinator/parts/coordination_many_left_out.html",
        choices="coordinator/parts/coordination_many_choices.html",
        seen=selection.seen,
        connections=selection.connections,
        is_danger=operation is Operation.DROP,
        **filter_in_words(chosen, selection.connections),
    )


def _context(request: HttpRequest, operation: Operation, selection: queries.ManySelection) -> dict[str, object]:
    connection = selection.touched[0].connection if len(selection.connections) == 1 else None
    return {
        "operation": operation.value,
        "selection": selection,
        "typed": selection.confirm if operation is Operation.DROP else "",
        "stores": seen(request, CommitStore).filter(
            connection__name__in=selection.connections, kind=CommitStore.Kind.COMMIT_COORDINATOR
        ),
        "statement": STATEMENTS[operation].replace("this table", "these tables"),
        "most": MOST_LISTED,
        "too_many": queries.MOST_TABLES if selection.too_many else 0,
        "why_not": why_not(request, operation, connection),
    }
