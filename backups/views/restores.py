"""Restoring a version of a restore point, or many tables of a plan: which and where to, the plan, what came of it."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from backups.lookup import moment_named
from backups.models import Plan, RestorePoint
from backups.queries.many_restores import offered_moment, tables_restore_page
from backups.queries.restores import TableRestorePage, restore_page
from backups.restores import actions, many
from changes.pages import Confirmed, confirmed, plan_page
from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import PERMISSIONS
from dashboard.accounts.scope import seen
from dashboard.connections.models import Connection
from dashboard.connections.writable import why_not_writable
from dashboard.jobs.actions import JobBusy
from dashboard.jobs.models import Job
from dashboard.web.answers import SeeOther
from lake.backup.objects import RESTORED
from lake.delta.uri import TableUri

TEMPLATE = "backups/restore_plan.html"
REMOVAL_TEMPLATE = "backups/removal_plan.html"
MANY_TEMPLATE = "backups/restore_many_plan.html"
_MOST_DIGITS = 18
_LONGEST_URI = 1_100


@require_http_methods(["GET", "HEAD", "POST"])
def start(request: HttpRequest, point_id: UUID) -> HttpResponse:
    """Which version of a restore point; POST has it planned, then shows the plan."""
    point, actor = _point(request, point_id), Actor.from_request(request)
    path = TableUri.parse(point.table)
    context: dict[str, Any] = {
        "point": point,
        "name": path.name,
        "which": request.POST.get("which", "own"),
        "version": request.POST.get("version", "")[: _MOST_DIGITS + 1],
        "moment": request.POST.get("moment", "")[:32],
        "where": request.POST.get("where", "open"),
        "to": request.POST.get("to", "")[:_LONGEST_URI].strip(),
        "beside": f"s3a://{path.bucket}/{RESTORED}{path.key}-{point.version}" if path.key else "",
        "why_not": "" if actor.may("backup.prove", point.plan.vault_connection) else "Needs the operator role.",
    }

    def ask(version: int | None, moment: datetime | None, to: str | None) -> str:
        in_place = context["where"] == "in_place"
        job = actions.plan_restore(actor, point, version, moment, to=to, in_place=in_place)
        return reverse("backup-restore-plan", args=[point.pk, job.pk])

    return _started(request, "backups/restore.html", context, ask)


@require_http_methods(["GET", "HEAD", "POST"])
def plan(request: HttpRequest, point_id: UUID, job_id: UUID) -> HttpResponse:
    """Show one plan, or what came of it; POST carries it out if what was shown is still what a fresh plan says."""
    point, actor = _point(request, point_id), Actor.from_request(request)
    page = _page(request, point, job_id)
    template = REMOVAL_TEMPLATE if page.kind == "remove" else TEMPLATE
    connection = point.plan.vault_connection
    source = None if page.is_open else actions.source_written_to(point, page.told.get("to", ""))
    needed = [one for one in (connection, source) if one]
    can_lose = page.kind == "remove" and page.plan and page.plan["can_lose"]
    verb = actions.REMOVE_LOSING if can_lose else actions.verb_of(page.job.params)
    context = {
        "point": point,
        "address": reverse("backup-restore-plan", args=[point.pk, job_id]),
        "why_not": _why_not(actor, verb, needed),
    }
    if request.method == "POST":
        return confirmed(request, template, page, context, partial(_restore, actor, point, page.job))
    if page.outcome:
        context["why_not"] = "" if actor.may("backup.prove", connection) else "Needs the operator role."
        return render(request, "backups/restored.html", {"page": page, **context})
    return plan_page(request, template, page, context)


@require_POST
def remove(request: HttpRequest, point_id: UUID, job_id: UUID) -> HttpResponse:
    """Have the removal planned of what a plan has restored, then show the plan; or the job that has to end before."""
    point = _point(request, point_id)
    page = _page(request, point, job_id)
    if page.copy is None:
        raise Http404
    try:
        job = actions.plan_removal(Actor.from_request(request), point, page.copy)
    except JobBusy as busy:
        return SeeOther(reverse("job", args=[busy.job.pk]))
    return SeeOther(reverse("backup-restore-plan", args=[point.pk, job.pk]))


def _page(request: HttpRequest, point: RestorePoint, job_id: UUID) -> TableRestorePage:
    jobs = seen(request, Job).filter(kind=actions.PLAN_KIND, target_id=str(point.pk)).select_related("connection")
    return restore_page(point, get_object_or_404(jobs, pk=job_id))


@require_http_methods(["GET", "HEAD", "POST"])
def start_many(request: HttpRequest, plan_name: str) -> HttpResponse:
    """Which tables of a plan, and of when; POST has their restores planned, then shows the plan."""
    plan, actor = _plan(request, plan_name), Actor.from_request(request)
    offered = offered_moment(plan)
    moment = offered.moment
    posted = request.POST if request.method == "POST" else {"moment": f"{moment:%Y-%m-%dT%H:%M:%S}" if moment else ""}
    context: dict[str, Any] = {
        "plan": plan,
        "offered": offered,
        "most": many.MOST_TABLES,
        "tables": posted.get("tables", "")[:_LONGEST_URI].strip(),
        "which": "newest" if posted.get("which", "" if moment else "newest") == "newest" else "moment",
        "moment": posted.get("moment", "")[:32],
        "where": posted.get("where", "path"),
        "to": posted.get("to", "")[:_LONGEST_URI].strip(),
        "why_not": "" if actor.may("backup.prove", plan.vault_connection) else "Needs the operator role.",
    }

    if (tables := context["tables"]) and "*" not in tables:
        context["error"] = "Write a URI with * in it. One table is restored from its own restore point."

    def ask(_: int | None, moment: datetime | None, to: str | None) -> str:
        job = many.plan_restores(actor, plan, context["tables"], moment, to=to)
        return reverse("backup-plan-restored", args=[plan.name, job.pk])

    return _started(request, "backups/restore_many.html", context, ask)


def _started(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    ask: Callable[[int | None, datetime | None, str | None], str],
) -> HttpResponse:
    """The form; for what was posted `ask` has it planned, and returns the address of the plan."""
    if request.method == "POST":
        version, moment, error = _asked(context)
        error = context.get("error") or error
        if not error:
            try:
                return SeeOther(ask(version, moment, context["to"] if context["where"] == "path" else None))
            except JobBusy as busy:
                error, context["busy"] = str(busy), busy.job
        context["error"] = error
    return render(request, template, context, status=422 if context.get("error") else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def plan_of_many(request: HttpRequest, plan_name: str, job_id: UUID) -> HttpResponse:
    """Show the plan of many restores; POST carries it out."""
    plan, actor = _plan(request, plan_name), Actor.from_request(request)
    jobs = seen(request, Job).filter(kind=many.PLAN_MANY_KIND, target_id=str(plan.pk)).select_related("connection")
    page = tables_restore_page(plan, get_object_or_404(jobs, pk=job_id))
    needed = [plan.vault_connection, *many.sources_written_to(plan, page.job)]
    context = {
        "backup": plan,
        "address": reverse("backup-plan-restored", args=[plan.name, job_id]),
        "why_not": _why_not(actor, "backup.restore", needed),
    }
    if request.method == "POST":
        return confirmed(request, MANY_TEMPLATE, page, context, partial(_restore_many, actor, plan, page.job))
    return plan_page(request, MANY_TEMPLATE, page, context)


def _why_not(actor: Actor, verb: str, needed: Sequence[Connection]) -> str:
    why = next(filter(None, map(why_not_writable, needed)), "")
    return why or ("" if all(actor.may(verb, one) for one in needed) else f"Needs the {PERMISSIONS[verb]} role.")


def _plan(request: HttpRequest, plan_name: str) -> Plan:
    plans = seen(request, Plan).select_related("connection", "vault_connection")
    found: Plan = get_object_or_404(plans, name=plan_name)
    return found


def _restore_many(actor: Actor, plan: Plan, planned: Job, sent: Confirmed) -> Job:
    return many.restore_many(actor, plan, planned, sent.digest, reason=sent.reason)


def _point(request: HttpRequest, point_id: UUID) -> RestorePoint:
    points: Any = seen(request, RestorePoint).exclude(proof="")
    points = points.select_related("plan__connection", "plan__vault_connection")
    found: RestorePoint = get_object_or_404(points, pk=point_id)
    return found


def _restore(actor: Actor, point: RestorePoint, planned: Job, sent: Confirmed) -> Job:
    return actions.restore(actor, point, planned, sent.digest, confirm=sent.confirm, reason=sent.reason)


def _asked(fields: dict[str, Any]) -> tuple[int | None, datetime | None, str]:
    """The version or the moment that a form names, and what is wrong with it."""
    if fields["which"] == "version":
        is_number = fields["version"].isascii() and fields["version"].isdigit()
        if is_number and len(fields["version"]) <= _MOST_DIGITS:
            return int(fields["version"]), None, ""
        return None, None, "Write the version as a number."
    if fields["which"] == "moment":
        moment = moment_named(fields["moment"])
        return None, moment, "" if moment else "Choose a date and a time."
    return None, None, ""
