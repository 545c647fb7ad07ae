"""Changes of stores and buckets: asked for by a form, planned by a job, shown, confirmed. Nothing here talks to AWS."""

from collections.abc import Callable
from functools import partial
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from changes.pages import Confirmed, confirmed, plan_page
from coordinator.models import TtlMigration
from coordinator.queries import settings_plan as queries
from coordinator.settings import actions
from coordinator.settings.actions import losing_verb, verb_of
from coordinator.settings.requests import ChangeInvalid, ChangeRequest
from coordinator.settings_forms import bucket_change, store_change
from coordinator.views.addressed import addressed_bucket, addressed_store
from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import PERMISSIONS
from dashboard.accounts.scope import seen
from dashboard.connections.models import Connection
from dashboard.connections.writable import is_read_only
from dashboard.jobs.actions import JobBusy
from dashboard.jobs.models import Job
from dashboard.web.answers import SeeOther

TEMPLATE = "coordinator/settings_plan.html"


@require_POST
def change_store(request: HttpRequest, store_id: int) -> HttpResponse:
    """Have one change of a store planned, then show the plan."""
    store = addressed_store(request, store_id)
    back = reverse("store", args=[store.pk])
    asked = f"Change of the store {store.name}"
    return planned(request, store.connection, lambda: store_change(store.name, request.POST), back, asked)


@require_POST
def change_bucket(request: HttpRequest, bucket_id: int) -> HttpResponse:
    """Have one change of a bucket planned, or a sweep's dry run made, then show it."""
    bucket = addressed_bucket(request, bucket_id)
    back = reverse("bucket", args=[bucket.pk])
    asked = f"Change of the bucket {bucket.name}"
    return planned(
        request, bucket.connection, lambda: bucket_change(bucket.name, request.POST, timezone.now()), back, asked
    )


@require_POST
def stop_migration(request: HttpRequest, store_id: int) -> HttpResponse:
    """End the move of TTL that is under way; what DynamoDB was asked for goes on."""
    migration = seen(request, TtlMigration).filter(store_id=store_id, finished_at=None).select_related("store").first()
    if migration is not None:
        actions.cancel_ttl_migration(Actor.from_request(request), migration)
    return SeeOther(reverse("store-ttl", args=[store_id]))


@require_http_methods(["GET", "HEAD", "POST"])
def plan(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """Show one plan, call by call; POST carries it out if the digest that was shown is still that of a fresh plan."""
    job = get_object_or_404(queries.planning_jobs(seen(request, Job)), pk=job_id)
    page = queries.settings_page(job)
    context = _context(request, page)
    if request.method == "POST":
        return confirmed(request, TEMPLATE, page, context, partial(_apply, Actor.from_request(request), job))
    return plan_page(request, TEMPLATE, page, context)


@require_POST
def plan_again(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """Plan the same change from a fresh reading."""
    job = get_object_or_404(queries.planning_jobs(seen(request, Job)), pk=job_id)
    page = queries.settings_page(job)
    return planned(request, page.connection, lambda: page.change, page.back, page.title)


def planned(
    request: HttpRequest, connection: Connection, change: Callable[[], ChangeRequest], back: str, asked: str
) -> HttpResponse:
    """Queue the planning of a change and go to its page; why one cannot be planned is said on a page that leads back.

    `asked` is that page's title: what was asked for, of what.
    """
    try:
        job = actions.plan_change(Actor.from_request(request), connection, change())
    except ChangeInvalid as invalid:
        context: dict[str, object] = {"reason": str(invalid), "field": invalid.field, "back": back, "asked": asked}
        return render(request, "coordinator/settings_refused.html", context, status=422)
    except JobBusy as busy:
        context = {"reason": str(busy), "busy": busy.job, "back": back, "asked": asked}
        return render(request, "coordinator/settings_refused.html", context, status=409)
    return SeeOther(reverse("settings-plan", args=[job.pk]))


def why_not(actor: Actor, connection: Connection, verb: str) -> str:
    """Why this person has no button here, "" where there is one."""
    if settings.READ_ONLY:
        return "Levee is in read-only mode: it changes nothing in the lake."
    if is_read_only(connection):
        return f"The connection {connection.name} is read-only: make the change with your own tools, as written below."
    return why_no_plan(actor, connection, verb)


def why_no_plan(actor: Actor, connection: Connection, verb: str = "lake.plan-upkeep") -> str:
    """Why this person may not even plan: planning changes nothing and is allowed on read-only connections."""
    return "" if actor.may(verb, connection) else f"Needs the {PERMISSIONS[verb].value} role."


def _apply(actor: Actor, planned: Job, sent: Confirmed) -> Job:
    return actions.apply_change(actor, planned, sent.digest, confirm=sent.confirm, reason=sent.reason)


def _context(request: HttpRequest, page: queries.SettingsPage) -> dict[str, object]:
    actor = Actor.from_request(request)
    return {
        "address": reverse("settings-plan", args=[page.job.pk]),
        "why_not": why_not(actor, page.connection, losing_verb(page.plan) or verb_of(page.change)),
        "read_only": is_read_only(page.connection),
        "why_no_plan": why_no_plan(actor, page.connection),
        "store_like": verb_of(page.change) != "bucket.change",
    }
