"""A new commit store: its kind, name and settings by a form, beside what Delta would have made by itself."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from coordinator.protocols.stores import LOG_STORE
from coordinator.settings.creation import beside_delta
from coordinator.settings.requests import ChangeInvalid, CreateStore
from coordinator.settings_forms import store_creation
from coordinator.views.settings_plan import planned, why_no_plan
from dashboard.accounts.actor import Actor
from dashboard.accounts.scope import connections_of, current_connection
from dashboard.connections.models import Connection

FIRST_VALUES = {
    "kind": LOG_STORE,
    "name": "",
    "billing": "on_demand",
    "read": "5",
    "write": "5",
    "protection": "yes",
    "recovery": "yes",
    "ttl": "yes",
    "encryption": "",
    "key": "",
    "tags": "",
}


@require_http_methods(["GET", "HEAD", "POST"])
def create(request: HttpRequest) -> HttpResponse:
    """Name a new store; POST has its creation planned. Nothing is created before the calls were seen."""
    connections = list(connections_of(request))
    values = {name: request.POST.get(name, "") for name in FIRST_VALUES} if request.POST else dict(FIRST_VALUES)
    chosen = _chosen(request, connections)
    error: ChangeInvalid | None = None
    if request.method == "POST":
        try:
            if chosen is None:
                raise ChangeInvalid("connection", "Choose the connection whose account the store is for.")
            change = store_creation(request.POST)
        except ChangeInvalid as invalid:
            error = invalid
        else:
            return planned(request, chosen, lambda: change, "")
    context = _context(request, connections, chosen, values, error)
    return render(request, "coordinator/store_new.html", context, status=422 if error else 200)


def _chosen(request: HttpRequest, connections: list[Connection]) -> Connection | None:
    if request.method == "POST" and "connection" in request.POST:
        return next((one for one in connections if one.name == request.POST["connection"]), None)
    return current_connection(request) or (connections[0] if len(connections) == 1 else None)


def _context(
    request: HttpRequest,
    connections: list[Connection],
    chosen: Connection | None,
    values: dict[str, str],
    error: ChangeInvalid | None,
) -> dict[str, Any]:
    actor = Actor.from_request(request)
    anywhere = any(not why_no_plan(actor, one) for one in connections)
    return {
        "connections": connections,
        "chosen": chosen,
        "values": values,
        "error": error,
        "kinds": [
            (kind, title, said, beside_delta(CreateStore(name="new_store", kind=kind)))
            for kind, title, said in (
                ("log_store", "Log store", "one entry per commit, key tablePath + fileName, with TTL"),
                ("commit_coordinator", "Coordinator", "one item per registered table, key tableId, never TTL"),
            )
        ],
        "why_not": "" if anywhere or not connections else "Needs the operator role.",
    }
