"""The audit log's page."""

from dataclasses import fields, replace

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.audit.queries import OUTCOMES, AuditFilter, actions, audit_page, export_rows
from dashboard.audit.sentences import told
from dashboard.web.exports import export
from dashboard.web.paging import as_typed, choose_size

SHOWN = ("acts", "looks", "all")
EXPORTS = ("csv", "jsonl")


@require_safe
def audit(request: HttpRequest) -> HttpResponseBase:
    """List what was done, newest first and one row an act; ?actor, action, target, outcome, text, since, until and show
    narrow, ?after continues, ?format exports all that matches, row by row, oldest first.

    Context of `audit/list.html`: `page` (paging.Page of AuditEntry), `rows` (AuditEntry and what it says), `wanted`
    (AuditFilter), `actions` and `outcomes` (the choices of the two selects).
    """
    wanted = AuditFilter(**{field.name: as_typed(request.GET.get(field.name, "")) for field in fields(AuditFilter)})
    if request.GET.get("format") in EXPORTS:
        return export(export_rows(wanted), request.GET["format"], "audit")
    wanted = replace(wanted, show=wanted.show if wanted.show in SHOWN else SHOWN[0])
    page = audit_page(wanted, request.GET.get("after", ""), choose_size(request.GET.get("size", "")))
    context = {
        "page": page,
        "rows": told(page.rows),
        "wanted": wanted,
        "actions": actions(),
        "outcomes": OUTCOMES,
    }
    return render(request, "audit/list.html", context)
