"""The audit log's page."""

from dataclasses import fields

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.audit.queries import ACTIONS, OUTCOMES, AuditFilter, audit_page
from dashboard.web.paging import choose_size

LONGEST_FILTER = 200


@require_safe
def audit(request: HttpRequest) -> HttpResponse:
    """List what was done, newest first; ?actor, action, target, outcome and text narrow, ?after continues.

    Context of `audit/list.html`: `page` (paging.Page of AuditEntry), `wanted` (AuditFilter), `actions` and `outcomes`
    (the choices of the two selects).
    """
    wanted = AuditFilter(**{field.name: _given(request, field.name) for field in fields(AuditFilter)})
    context = {
        "page": audit_page(wanted, request.GET.get("after", ""), choose_size(request.GET.get("size", ""))),
        "wanted": wanted,
        "actions": ACTIONS,
        "outcomes": OUTCOMES,
    }
    return render(request, "audit/list.html", context)


def _given(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "").replace("\0", "").strip()[:LONGEST_FILTER]
