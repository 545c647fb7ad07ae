"""Enabling and dropping: choose, check, confirm. Nothing here reads the lake; a short job checks."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from changes.pages import Confirmed, confirmed, plan_page
from coordinator.coordination import actions
from coordinator.coordination.checks import CoordinationRequest, Operation
from coordinator.coordination.confirmed import STATEMENTS, VERBS, check_jobs
from coordinator.coordination.features import LEFT_BEHIND
from coordinator.coordination.offers import NOTE, coordination_offers
from coordinator.models import CommitStore, DeltaTable
from coordinator.queries import coordination as queries
from coordinator.views.addressed import addressed_table
from dashboard.accounts.actor import Actor
from dashboard.accounts.scope import seen
from dashboard.connections.models import Connection
from dashboard.connections.writable import why_not_writable
from dashboard.jobs.actions import JobBusy
from dashboard.jobs.models import Job
from dashboard.web.answers import SeeOther

TEMPLATE = "coordinator/coordination_plan.html"
NEEDS_OPERATOR = "Needs the operator role."
OF_A_TABLE = (Operation.ENABLE, Operation.DROP, Operation.LEFTOVERS)


@require_http_methods(["GET", "HEAD", "POST"])
def start(request: HttpRequest, table_id: int, operation: str) -> HttpResponse:
    """Choose what the act needs, such as the store; POST has everything checked."""
    table, wanted = addressed_table(request, table_id), operation_named(operation, OF_A_TABLE)
    if request.method == "POST":
        change = CoordinationRequest(
            wanted,
            table.uri,
            store=request.POST.get("store", "")[:255] if wanted is Operation.ENABLE else "",
            remove_features=_features(request, table, wanted),
        )
        check = partial(actions.check, Actor.from_request(request), table.connection, change)
        return have_checked(request, check, "table-coordination-checks", table.pk, wanted.value)
    stores = seen(request, CommitStore).filter(connection=table.connection).order_by("kind", "name")
    coordinators = [store.pk for store in stores if store.kind == CommitStore.Kind.COMMIT_COORDINATOR]
    context = {
        "table": table,
        "operation": wanted.value,
        "offer": next((one for one in coordination_offers(table) if one.operation is wanted), None),
        "stores": stores,
        "only_store": coordinators[0] if len(coordinators) == 1 else None,
        "left_behind": [feature for feature in LEFT_BEHIND if feature in table.features],
        "guard": queries.plain_commits(table),
        "guarded": bool(table.lock_domains),
        "note": NOTE,
        "why_not": why_not_check(request, [table.connection]),
        "worst_state": table.state,
    }
    return render(request, "coordinator/coordination_start.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def checks(request: HttpRequest, table_id: int, operation: str, job_id: UUID) -> HttpResponse:
    """Show one plan with the checks that it rests on; POST has it done if they are those of a fresh reading."""
    table, wanted = addressed_table(request, table_id), operation_named(operation, OF_A_TABLE)
    job = get_object_or_404(check_jobs(table.uri, wanted), pk=job_id, connection=table.connection)
    return confirm(request, job, *_addresses(table, wanted, job), table)


@require_http_methods(["POST"])
def rehearsal(request: HttpRequest, table_id: int, operation: str, job_id: UUID) -> HttpResponse:
    """Have the act that was checked tried on a copy of the table's log."""
    table, wanted = addressed_table(request, table_id), operation_named(operation, actions.REHEARSED)
    job = get_object_or_404(check_jobs(table.uri, wanted), pk=job_id, connection=table.connection)
    page, context = _shown(request, job, *_addresses(table, wanted, job), table)
    return confirmed(
        request,
        TEMPLATE,
        page,
        context,
        lambda _: actions.rehearse(Actor.from_request(request), table.connection, page.change),
    )


def have_checked(request: HttpRequest, check: Callable[[], Job], address: str, *parts: object) -> HttpResponse:
    """Have something checked and go to where that is shown, or say which other check is under way."""
    try:
        job = check()
    except JobBusy as busy:
        return render(
            request, "coordinator/coordination_busy.html", {"refused": str(busy), "busy": busy.job}, status=409
        )
    return SeeOther(reverse(address, args=[*parts, job.pk]))


def confirm(request: HttpRequest, job: Job, address: str, again: str, table: DeltaTable | None) -> HttpResponse:
    """The plan that a job made; POST has it carried out."""
    page, context = _shown(request, job, address, again, table)
    if request.method == "POST":
        return confirmed(request, TEMPLATE, page, context, partial(_act, request, job))
    return plan_page(request, TEMPLATE, page, context)


def _addresses(table: DeltaTable, operation: Operation, job: Job) -> tuple[str, str]:
    """Where the checks of a job are shown, and where the act is chosen."""
    of_table = [table.pk, operation.value]
    return reverse("table-coordination-checks", args=[*of_table, job.pk]), reverse("table-coordination", args=of_table)


def _shown(
    request: HttpRequest, job: Job, address: str, again: str, table: DeltaTable | None
) -> tuple[queries.CoordinationPage, dict[str, Any]]:
    """The page of a plan, and what its templates need beside it."""
    page = queries.coordination_page(job, table, again)
    operation = page.change.operation
    context = {
        "table": table,
        "operation": operation.value,
        "address": address,
        "statement": STATEMENTS.get(operation, ""),
        "guard": queries.plain_commits(table) if table else "",
        "stated": request.POST.get("stated") == "yes",
        "probe": request.POST.get("probe") == "yes",
        "why_not": why_not(request, VERBS[operation], job.connection),
        "why_not_rehearse": why_not(request, "table.rehearse-coordination", job.connection),
        "worst_state": table.state if table else "",
    }
    return page, context


def _act(request: HttpRequest, job: Job, sent: Confirmed) -> Job:
    return actions.act(
        Actor.from_request(request),
        job,
        sent.digest,
        confirm=sent.confirm,
        stated=request.POST.get("stated") == "yes",
        probe=request.POST.get("probe") == "yes",
        reason=sent.reason,
    )


def _features(request: HttpRequest, table: DeltaTable, operation: Operation) -> tuple[str, ...]:
    """The leftovers to remove too, of those that coordinated commits bring."""
    if operation is Operation.ENABLE:
        return ()
    chosen = request.POST.getlist("remove")
    several = tuple(feature for feature in LEFT_BEHIND if feature in chosen)
    return several if operation is Operation.DROP else several[:1]


def why_not_check(request: HttpRequest, connections: Iterable[Connection]) -> str:
    """Why this person may have nothing checked on any of these, "" where they may."""
    may = any(_may(request, "table.check-coordination", connection) for connection in connections)
    return "" if may else NEEDS_OPERATOR


def why_not(request: HttpRequest, verb: str, connection: Connection | None) -> str:
    """Why this person has no button here, "" where there is one."""
    return why_not_writable(connection) or ("" if _may(request, verb, connection) else NEEDS_OPERATOR)


def _may(request: HttpRequest, verb: str, connection: Connection | None) -> bool:
    return Actor.from_request(request).may(verb, connection)


def operation_named(name: str, allowed: Iterable[Operation]) -> Operation:
    """Raises Http404 for none of these."""
    found = next((one for one in allowed if one.value == name), None)
    if found is None:
        raise Http404(f"Nothing of a table's coordination is called {name}.")
    return found
