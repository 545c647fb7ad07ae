"""What the address of a page names, where this person may see it, else Http404; and the way back to the page before."""

from django.contrib import messages
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.html import format_html

from coordinator.models import Bucket, CommitStore, DeltaTable
from dashboard.accounts.scope import seen
from dashboard.accounts.views import safe_path
from dashboard.jobs.models import Job
from dashboard.web.answers import SeeOther, page_before


def addressed_table(request: HttpRequest, table_id: int) -> DeltaTable:
    """Return the table with its connection and its store."""
    return get_object_or_404(seen(request, DeltaTable).select_related("connection", "store"), pk=table_id)


def addressed_store(request: HttpRequest, store_id: int) -> CommitStore:
    """Return the store with its connection."""
    return get_object_or_404(seen(request, CommitStore).select_related("connection"), pk=store_id)


def addressed_bucket(request: HttpRequest, bucket_id: int) -> Bucket:
    """Return the bucket with its connection."""
    return get_object_or_404(seen(request, Bucket).select_related("connection"), pk=bucket_id)


def stay(request: HttpRequest, job: Job, instead: str) -> SeeOther:
    """Back to the page where a look was asked for, with a line that names its job; `instead` where nothing names it."""
    job_page = reverse("job", args=[job.pk])
    messages.info(request, format_html('Being looked at… <a href="{}">Follow the job</a>', job_page))
    return SeeOther(safe_path(page_before(request)) or instead)
