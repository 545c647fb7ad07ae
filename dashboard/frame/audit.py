"""The audit log's page, which knows the names of all acts and the titles of jobs."""

from dataclasses import fields, replace

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.accounts.door import PASSWORD_ACTS
from dashboard.accounts.roles import PERMISSIONS
from dashboard.audit.queries import OUTCOMES, AuditFilter, audit_page, export_rows
from dashboard.audit.sentences import says
from dashboard.jobs.models import Job
from dashboard.web.exports import export
from dashboard.web.paging import as_typed, choose_size

SHOWN = ("acts", "looks", "all")
EXPORTS = ("csv", "jsonl")
ACTIONS = sorted({*PERMISSIONS, *PASSWORD_ACTS, "account.sign_out"})


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
    titles = dict(Job.objects.filter(pk__in=[entry.job_id for entry in page.rows]).values_list("pk", "title"))
    context = {
        "page": page,
        "rows": [(entry, says(entry, titles.get(entry.job_id, "") if entry.job_id else "")) for entry in page.rows],
        "wanted": wanted,
        "actions": ACTIONS,
        "outcomes": OUTCOMES,
    }
    return render(request, "audit/list.html", context)
