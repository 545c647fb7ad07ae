"""Saved copies of a table, and putting one back. Nothing here reads the lake: jobs list, plan and put back."""

from functools import partial
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from changes.pages import POLL_SECONDS, Confirmed, confirmed, plan_page
from coordinator.models import DeltaTable
from coordinator.queries import rescue as queries
from coordinator.queries.table_page import frame
from coordinator.repairs.fresh import jobs_about
from coordinator.rescue import actions
from coordinator.views.addressed import addressed_table
from coordinator.views.repairs import plan_context
from dashboard.accounts.actor import Actor
from dashboard.jobs.actions import JobBusy
from dashboard.jobs.models import Job
from dashboard.web.answers import SeeOther

TEMPLATE = "coordinator/rescue_plan.html"
_LONGEST_ID = 1_200


@require_http_methods(["GET", "HEAD", "POST"])
def copies(request: HttpRequest, table_id: int) -> HttpResponse:
    """What the last listing found; POST has the rescue folder listed anew."""
    table = addressed_table(request, table_id)
    if request.method == "POST":
        actions.list_copies_of(Actor.from_request(request), table)
        return SeeOther(reverse("table-rescue", args=[table.pk]))
    return render(request, "coordinator/table_rescue.html", _list_context(request, table))


@require_POST
def plan(request: HttpRequest, table_id: int) -> HttpResponse:
    """Have it planned to put one copy back, then show the plan."""
    table = addressed_table(request, table_id)
    try:
        job = actions.plan_copy(Actor.from_request(request), table, request.POST.get("copy", "")[:_LONGEST_ID])
    except JobBusy as busy:
        context = _list_context(request, table) | {"refused": str(busy), "busy": busy.job}
        return render(request, "coordinator/table_rescue.html", context, status=409)
    return SeeOther(reverse("table-rescue-copy", args=[table.pk, job.pk]))


@require_http_methods(["GET", "HEAD", "POST"])
def confirm(request: HttpRequest, table_id: int, job_id: UUID) -> HttpResponse:
    """Show one plan, call by call; POST carries it out if the digest that was shown is still that of a fresh plan."""
    table = addressed_table(request, table_id)
    job = get_object_or_404(jobs_about(table, actions.PLAN_KIND), pk=job_id)
    page = queries.restore_page(table, job)
    address = reverse("table-rescue-copy", args=[table.pk, job_id])
    context = plan_context(
        request, table, page, address, "Lets readers or writers see another state: needs the admin role."
    )
    if request.method == "POST":
        return confirmed(request, TEMPLATE, page, context, partial(_restore, Actor.from_request(request), job))
    return plan_page(request, TEMPLATE, page, context)


def _restore(actor: Actor, planned: Job, sent: Confirmed) -> Job:
    return actions.restore_copy(actor, planned, sent.digest, confirm=sent.confirm, reason=sent.reason)


def _list_context(request: HttpRequest, table: DeltaTable) -> dict[str, object]:
    found = queries.copy_list(table)
    return {
        **frame(table, "rescue"),
        "found": found,
        "poll_seconds": POLL_SECONDS if found.under_way else None,
        "may_plan": Actor.from_request(request).may("table.plan-repair", table.connection),
    }
