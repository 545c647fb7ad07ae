"""Settings of a writer, pasted and examined: nothing of them is stored, and no secret comes back."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from coordinator.models import CommitStore
from coordinator.queries.writers import observed_of_store, observed_of_table
from coordinator.views.addressed import addressed_store, addressed_table
from coordinator.writers.doctor import Examination, examine
from coordinator.writers.pairs import PasteRefused
from coordinator.writers.session import ObservedPlace
from dashboard.accounts.scope import seen

TEXT = "text"


@sensitive_post_parameters(TEXT)
@require_http_methods(["GET", "HEAD", "POST"])
def anywhere(request: HttpRequest) -> HttpResponse:
    """Examine settings by themselves; the page offers to compare them with a commit store's."""
    return _page(request, ObservedPlace(), {"stores": seen(request, CommitStore).order_by("name")})


@sensitive_post_parameters(TEXT)
@require_http_methods(["GET", "HEAD", "POST"])
def of_table(request: HttpRequest, table_id: int) -> HttpResponse:
    """Examine settings beside what was observed of one table."""
    table = addressed_table(request, table_id)
    return _page(request, observed_of_table(table), {"table": table})


@sensitive_post_parameters(TEXT)
@require_http_methods(["GET", "HEAD", "POST"])
def of_store(request: HttpRequest, store_id: int) -> HttpResponse:
    """Examine settings beside one commit store."""
    store = addressed_store(request, store_id)
    return _page(request, observed_of_store(store), {"store": store})


def _page(request: HttpRequest, observed: ObservedPlace, beside: dict[str, Any]) -> HttpResponse:
    found: Examination | None = None
    refusal = ""
    if request.method == "POST":
        try:
            found = examine(request.POST.get(TEXT, "").replace("\r\n", "\n"), observed)
        except PasteRefused as refused:
            refusal = str(refused)
    context = {"found": found, "refusal": refusal, "observed": observed, **beside}
    return render(request, "coordinator/doctor.html", context, status=422 if refusal else 200)
