"""Commit stores and buckets: what DynamoDB and S3 may do on their own."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_safe

from coordinator.models import Bucket, CommitStore
from coordinator.protocols.stores import LOG_STORE
from coordinator.protocols.verdict import State
from coordinator.queries import stores as queries
from coordinator.queries.deadlines import deadlines_of
from coordinator.queries.table_counts import sum_of_tables
from coordinator.settings.creation import beside_delta
from coordinator.settings.requests import ChangeInvalid, CreateStore
from coordinator.settings.views_of import capacity_advice, expiry_facts, judged_lifecycle, tables_before_ttl
from coordinator.settings_forms import store_creation
from coordinator.views.addressed import addressed_bucket, addressed_store
from coordinator.views.settings_plan import planned, why_no_plan
from dashboard.accounts.actor import Actor
from dashboard.accounts.scope import connections_of, current_connection, seen
from dashboard.connections.models import Connection
from dashboard.connections.writable import is_read_only

Thing = TypeVar("Thing", CommitStore, Bucket)
TTL_POLL_SECONDS = 10
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


@require_safe
def stores(request: HttpRequest) -> HttpResponse:
    scope = current_connection(request)
    found = queries.stores_with_tables(_in_scope(request, CommitStore))
    context = {
        "stores": found,
        "guarded": queries.guarded_tables(found),
        "unguarded": queries.single_driver_tables(scope),
        "several_writers": queries.tables_with_several_writers(scope),
        **_of_list(found),
    }
    return render(request, "coordinator/stores.html", context)


@require_safe
def store(request: HttpRequest, store_id: int) -> HttpResponse:
    found = addressed_store(request, store_id)
    tables = found.tables.filter(gone_at=None)
    context = {
        "store": found,
        "table_count": sum_of_tables(store=found, is_gone=False),
        "facts": found.facts,
        "title": queries.title(found),
        "tables": queries.worst_tables(tables),
        "worst_state": found.state,
        "advice": capacity_advice(found),
        "expiry": expiry_facts(found),
        "before_ttl": tables_before_ttl(found),
        **_changing(request, found.connection),
    }
    return render(request, "coordinator/store.html", context)


@require_safe
def store_ttl(request: HttpRequest, store_id: int) -> HttpResponse:
    """TTL of a store, with the place of a move that is under way; a move is looked at again every few seconds."""
    found = addressed_store(request, store_id)
    expiry = expiry_facts(found)
    context = {
        "store": found,
        "facts": found.facts,
        "expiry": expiry,
        "before_ttl": tables_before_ttl(found),
        "latest": expiry.migration or found.ttl_migrations.first(),
        "poll_seconds": TTL_POLL_SECONDS if expiry.migration else None,
        "may_stop": Actor.from_request(request).may("store.change", found.connection),
        "worst_state": found.state,
        **_changing(request, found.connection),
    }
    partial = "#ttl" if getattr(request, "htmx", False) else ""
    return render(request, f"coordinator/store_ttl.html{partial}", context)


@require_safe
def buckets(request: HttpRequest) -> HttpResponse:
    found = queries.buckets_with_tables(_in_scope(request, Bucket))
    return render(request, "coordinator/buckets.html", {"buckets": found, **_of_list(found)})


@require_safe
def bucket(request: HttpRequest, bucket_id: int) -> HttpResponse:
    found = addressed_bucket(request, bucket_id)
    facts, view = found.facts, judged_lifecycle(found)
    tables = found.connection.tables.filter(bucket=found.name, gone_at=None)
    context = {
        "bucket": found,
        "table_count": sum_of_tables(connection=found.connection, bucket=found.name, is_gone=False),
        "facts": facts,
        "title": queries.title(found),
        "tables": queries.worst_tables(tables),
        "worst_state": found.state,
        "lifecycle": view if facts.get("lifecycle_rules") is not None else None,
        "rules": queries.by_first_act(found, view),
        "deadlines": deadlines_of(found),
        "decision": queries.decided_by(found, view),
        "offered": tables.order_by("name")[: queries.TABLES_OFFERED],
        "tiering": queries.tiering_names(facts),
        "prefix": request.GET.get("prefix", "")[:1_024],
        **_changing(request, found.connection),
    }
    return render(request, "coordinator/bucket.html", context)


def _in_scope(request: HttpRequest, kind: type[Thing]) -> QuerySet[Thing]:
    """Those that this person may see, of the connection that they look at."""
    scope = current_connection(request)
    return seen(request, kind).filter(**({"connection": scope} if scope else {}))


def _of_list(found: Sequence[CommitStore] | Sequence[Bucket]) -> dict[str, object]:
    worst = queries.worst(found)
    return {
        "worst": worst,
        "title": queries.title(worst),
        "worst_state": worst.state if worst else State.HEALTHY,
        "read_at": min((one.observed_at for one in found if one.observed_at), default=None),
        "several": len({one.connection_id for one in found}) > 1,
    }


def _changing(request: HttpRequest, connection: Connection) -> dict[str, object]:
    """Whether this person may have a change planned here, and whether its plan would have a button."""
    return {
        "why_no_plan": why_no_plan(Actor.from_request(request), connection),
        "read_only": is_read_only(connection),
    }


@require_http_methods(["GET", "HEAD", "POST"])
def create(request: HttpRequest) -> HttpResponse:
    """Name a new store; POST has its creation planned. Nothing is created before the calls were seen."""
    connections = list(connections_of(request))
    values = request.POST or FIRST_VALUES
    chosen = _chosen(request, connections)
    error: ChangeInvalid | None = None
    if request.method == "POST":
        try:
            if chosen is None:
                raise ChangeInvalid("connection", "Choose the connection whose account the store is for.")
            change = store_creation(request.POST)
            change.check()
        except ChangeInvalid as invalid:
            error = invalid
        else:
            return planned(request, chosen, lambda: change, "", "Creation of a store")
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
    values: Mapping[str, str],
    error: ChangeInvalid | None,
) -> dict[str, object]:
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
