"""Commit stores and buckets: what DynamoDB and S3 may do on their own."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from coordinator.models import Bucket, CommitStore
from coordinator.protocols.verdict import State
from coordinator.queries import stores as queries
from dashboard.web.scope import current_connection


@require_safe
def stores(request: HttpRequest) -> HttpResponse:
    scope = current_connection(request)
    found = list(CommitStore.objects.select_related("connection").filter(**({"connection": scope} if scope else {})))
    rows, worst = queries.store_rows(found), queries.worst(found)
    context = {
        "rows": rows,
        "worst": worst,
        "worst_state": worst.state if worst else State.HEALTHY,
        "guarded": sum(row.tables for row in rows),
        "read_at": min((store.observed_at for store in found if store.observed_at), default=None),
        "several": len({store.connection_id for store in found}) > 1,
    }
    return render(request, "coordinator/stores.html", context)


@require_safe
def store(request: HttpRequest, store_id: int) -> HttpResponse:
    found = get_object_or_404(CommitStore.objects.select_related("connection"), pk=store_id)
    facts = found.facts if isinstance(found.facts, dict) else {}
    context = {
        "row": queries.store_rows([found])[0],
        "store": found,
        "facts": facts,
        "key_schema": queries.key_schema(facts),
        "unknown": queries.unknown_facts(facts),
        "findings": queries.finding_lines(facts),
        "tables": queries.worst_tables(store=found),
        "worst_state": found.state,
    }
    return render(request, "coordinator/store.html", context)


@require_safe
def buckets(request: HttpRequest) -> HttpResponse:
    scope = current_connection(request)
    found = list(Bucket.objects.select_related("connection").filter(**({"connection": scope} if scope else {})))
    worst = queries.worst(found)
    context = {
        "rows": queries.bucket_rows(found),
        "worst": worst,
        "worst_state": worst.state if worst else State.HEALTHY,
        "read_at": min((bucket.observed_at for bucket in found if bucket.observed_at), default=None),
        "several": len({bucket.connection_id for bucket in found}) > 1,
    }
    return render(request, "coordinator/buckets.html", context)


@require_safe
def bucket(request: HttpRequest, bucket_id: int) -> HttpResponse:
    found = get_object_or_404(Bucket.objects.select_related("connection"), pk=bucket_id)
    facts = found.facts if isinstance(found.facts, dict) else {}
    context = {
        "row": queries.bucket_rows([found])[0],
        "bucket": found,
        "facts": facts,
        "replication": queries.on_or_off(facts.get("replication")),
        "unknown": queries.unknown_facts(facts),
        "findings": queries.finding_lines(facts),
        "tables": queries.worst_tables(connection=found.connection_id, bucket=found.name),
        "worst_state": found.state,
    }
    return render(request, "coordinator/bucket.html", context)
