"""Connections: a look at one, its read-only switch, the policy of each feature, and which permissions are held."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_POST, require_safe

from coordinator.actions import observe_lake, set_read_only
from coordinator.queries import connections as queries
from coordinator.settings import actions
from coordinator.views.addressed import stay
from coordinator.views.settings_plan import why_no_plan
from dashboard.accounts.actor import Actor
from dashboard.accounts.scope import connections_of, seen
from dashboard.connections.models import Connection
from dashboard.connections.writable import is_read_only
from dashboard.web.answers import SeeOther

POLL_SECONDS = 2


@require_safe
def connections(request: HttpRequest) -> HttpResponse:
    shown = {"connections": queries.with_numbers(connections_of(request))}
    return render(request, "coordinator/connections.html", shown)


@require_POST
def observe(request: HttpRequest) -> HttpResponse:
    """Observe the whole connection named in the form, and stay on the page."""
    named = get_object_or_404(seen(request, Connection), name=request.POST.get("connection", ""))
    return stay(request, observe_lake(Actor.from_request(request), named), reverse("tables"))


@require_safe
def connection(request: HttpRequest, connection_id: int) -> HttpResponse:
    found = get_object_or_404(seen(request, Connection), pk=connection_id)
    actor = Actor.from_request(request)
    result, newest = queries.last_result(found), queries.newest_check(found)
    under_way = newest if newest and not newest.is_finished else None
    context = {
        "connection": found,
        "identity": result.get("identity", ""),
        "trust": queries.role_trust(found),
        "features": queries.feature_lines(found, result),
        "checked_at": parse_datetime(str(result.get("checked_at", ""))),
        "permissions": result.get("permissions", []),
        "under_way": under_way,
        "failed": newest if newest and newest.state == "failed" else None,
        "poll_seconds": POLL_SECONDS if under_way else None,
        "read_only": is_read_only(found),
        "everywhere": settings.READ_ONLY,
        "may_switch": actor.may("lake.declare", found),
        "why_no_check": why_no_plan(actor, found),
    }
    partial = "#connection" if getattr(request, "htmx", False) else ""
    return render(request, f"coordinator/connection.html{partial}", context)


@require_POST
def check(request: HttpRequest, connection_id: int) -> HttpResponse:
    """Have every permission checked, one by one; nothing is changed."""
    found = get_object_or_404(seen(request, Connection), pk=connection_id)
    actions.check_permissions(Actor.from_request(request), found)
    return SeeOther(reverse("connection", args=[found.pk]) + "#permissions")


@require_POST
def read_only(request: HttpRequest, connection_id: int) -> HttpResponse:
    """Switch whether Levee may change this connection's lake."""
    found = get_object_or_404(seen(request, Connection), pk=connection_id)
    set_read_only(Actor.from_request(request), found, request.POST.get("read_only") == "yes")
    return SeeOther(reverse("connection", args=[found.pk]))
