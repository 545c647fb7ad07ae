"""What the address of a page names, where this person may see it; else Http404."""

from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from coordinator.models import Bucket, CommitStore, DeltaTable
from dashboard.accounts.scope import seen


def addressed_table(request: HttpRequest, table_id: int) -> DeltaTable:
    """Return the table with its connection and its store."""
    return get_object_or_404(seen(request, DeltaTable).select_related("connection", "store"), pk=table_id)


def addressed_store(request: HttpRequest, store_id: int) -> CommitStore:
    """Return the store with its connection."""
    return get_object_or_404(seen(request, CommitStore).select_related("connection"), pk=store_id)


def addressed_bucket(request: HttpRequest, bucket_id: int) -> Bucket:
    """Return the bucket with its connection."""
    return get_object_or_404(seen(request, Bucket).select_related("connection"), pk=bucket_id)
