"""Coordinated commits over the lake, and one act on every table of a filter: which, which not, and why not."""

from functools import partial
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_safe

from changes.gate import NotConfirmed, PlanNeeded, is_too_old, read_at
from changes.many_pages import ManyConfirmed, ManyPage, many_confirmed, many_page
from coordinator.coordination import actions
from coordinator.coordination.bulk import finished_checks
from coordinator.coordination.checks import Operation
from coordinator.coordination.confirmed import MANY, STATEMENTS, VERBS
from coordinator.coordination.offers import NOTE
from coordinator.coordination.releases import RELEASES
from coordinator.forms import TableFilterForm
from coordinator.models import CommitStore
from coordinator.queries import coordination as queries
from coordinator.queries.table_list import MOST_LISTED, ManySelection, TableFilter, filter_fields
from coordinator.views.coordination import have_checked, operation_named, why_not, why_not_check
from coordinator.views.table_list import scoped
from dashboard.accounts.actor import Actor
from dashboard.accounts.scope import seen
from dashboard.jobs.models import Job

_LONGEST = 64
TEMPLATE = "coordinator/coordination_many_confirm.html"
NAMES = {operation: queries.NAMES[operation] for operation in MANY}
MEANINGS = {
    Operation.ENABLE: f"Each conversion is one commit through whatever the table commits through now. {NOTE}",
    Operation.DROP: "Each drop is two commits. Afterwards no coordinator keeps the writers of these tables apart, and "
    "there is no undo.",
}


@require_http_methods(["GET", "HEAD", "POST"])
def many(request: HttpRequest, operation: str) -> HttpResponse:
    """Pick tables and have them checked; with `checked`, a job that did so, act on those that passed."""
    wanted = operation_named(operation, MANY)
    if number := request.POST.get("checked") or request.GET.get("checked"):
        return _confirm(request, wanted, _checks(request, wanted, number))
    form = TableFilterForm(request.POST if request.method == "POST" else request.GET)
    if not form.is_valid():
        return render(request, "coordinator/tables_refused.html", {"refusals": form.refusals()}, status=422)
    chosen = scoped(request, form.chosen())
    return _check(request, wanted, chosen) if request.method == "POST" else _pick(request, wanted, chosen)


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
        "note": NOTE,
        "releases": RELEASES,
        "stores": seen(request, CommitStore).select_related("connection").order_by("connection__name", "name"),
    }
    return render(request, "coordinator/coordination_index.html", context)


def _pick(request: HttpRequest, operation: Operation, chosen: TableFilter, refused: str = "") -> HttpResponse:
    """The tables that fit, none of them ticked unless somebody picked it in the list."""
    selection = queries.many_selection(operation, chosen)
    context = {
        **_context(request, operation, selection),
        "title": NAMES[operation],
        "picked": chosen.only,
        "fields": [(name, value) for name, value in filter_fields(chosen) if name != "table"],
        "back": urlencode(filter_fields(chosen)),
        "why_not": why_not_check(request, {table.connection for table in selection.tables}),
        "refused": refused,
    }
    return render(request, "coordinator/coordination_many.html", context, status=422 if refused else 200)


def _check(request: HttpRequest, operation: Operation, chosen: TableFilter) -> HttpResponse:
    """Have the picked tables checked."""
    selection = queries.many_selection(operation, chosen)
    if not chosen.only or not selection.touched:
        return _pick(request, operation, chosen, "Pick the tables first: none that fits was picked.")
    if len(selection.connections) > 1:
        named = " and ".join(selection.connections)
        return _pick(request, operation, chosen, f"One job works on one connection: these belong to {named}.")
    store = request.POST.get("coordinator", "")[:255] if operation is Operation.ENABLE else ""
    check = partial(actions.check_many, Actor.from_request(request), selection.tables, operation, store=store)
    return have_checked(request, check, "job")


def _checks(request: HttpRequest, operation: Operation, number: str) -> Job:
    try:
        return get_object_or_404(seen(request, Job).filter(pk__in=finished_checks(operation, UUID(number))))
    except ValueError as error:
        raise Http404("This is no number of a job.") from error


def _confirm(request: HttpRequest, operation: Operation, checked: Job) -> HttpResponse:
    """The tables that passed, and those that did not with the reason; POST acts on the first."""
    selection = queries.passed_selection(checked)
    page, context = _page(operation, checked, selection), _context(request, operation, selection)
    context["read_at"] = read_at(checked)
    if is_too_old(read_at(checked)):
        context["why_not"] = context["why_not"] or str(_too_old())
    if request.method == "POST":
        return many_confirmed(request, TEMPLATE, page, context, partial(_act, request, operation, checked, selection))
    return many_page(request, TEMPLATE, page, context)


def _too_old() -> PlanNeeded:
    return PlanNeeded("These checks are", "check them again")


def _act(
    request: HttpRequest, operation: Operation, checked: Job, selection: ManySelection, sent: ManyConfirmed
) -> Job:
    if is_too_old(read_at(checked)):
        raise _too_old()
    if not sent.reason.strip():
        raise NotConfirmed("Write the reason: it stands in the audit log of each table.")
    return actions.act_on_many(
        Actor.from_request(request),
        selection.tables,
        operation,
        store=checked.params["store"],
        confirm=request.POST.get("confirm", "")[:_LONGEST],
        stated=request.POST.get("stated") == "yes",
        stop_at_first_failure=sent.stop_at_first_failure,
        once=sent.once,
        reason=sent.reason,
    )


def _page(operation: Operation, checked: Job, selection: ManySelection) -> ManyPage:
    return ManyPage(
        title=NAMES[operation],
        touched=len(selection.touched),
        seen=selection.seen,
        connections=selection.connections,
        picked=len(selection.touched) + len(selection.skipped),
        fields=[("checked", str(checked.pk))],
        back="",
        by_connection=(),
    )


def _context(request: HttpRequest, operation: Operation, selection: ManySelection) -> dict[str, object]:
    return {
        "operation": operation.value,
        "meaning": MEANINGS[operation],
        "selection": selection,
        "typed": selection.confirm,
        "reason_needed": True,
        "stores": seen(request, CommitStore).filter(
            connection__name__in=selection.connections, kind=CommitStore.Kind.COMMIT_COORDINATOR
        ),
        "statement": STATEMENTS[operation].replace("this table", "these tables"),
        "most": MOST_LISTED,
        "too_many": queries.MOST_TABLES if selection.too_many else 0,
        "why_not": why_not(request, VERBS[operation], selection.connection),
    }
