"""Pages of the shell itself: the vocabulary of states, the choice of the connection in scope, and the audit log."""

from dataclasses import asdict, fields, replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dashboard.accounts.actor import Actor
from dashboard.accounts.scope import choose_connection, current_connection
from dashboard.accounts.search import ONLY_ACTS, ONLY_TABLES, Search, SearchGroup, SearchHit, found
from dashboard.accounts.views import safe_path
from dashboard.audit.queries import OUTCOMES, AuditFilter, audit_entries, audit_page, export_rows
from dashboard.audit.sentences import ACTS, act_in_words, says
from dashboard.frame.context import Console
from dashboard.jobs.models import Job
from dashboard.jobs.views import ask_for_file, large_list
from dashboard.web.exports import export, is_large
from dashboard.web.paging import as_typed, choose_size
from dashboard.web.states import ALERTS, JOBS, LAKE, MESSAGES, RUNS, VERSIONS

SHOWN = ("acts", "looks", "all")
EXPORTS = ("csv", "jsonl")
ACTIONS = sorted(ACTS, key=act_in_words)


@require_safe
def states(request: HttpRequest) -> HttpResponse:
    """The glossary: every state with its shape, word and meaning, every code, and the words of pages."""
    vocabulary = (
        ("Tables, stores, buckets", LAKE),
        ("Versions", VERSIONS),
        ("Jobs", JOBS),
        ("Backup runs", RUNS),
        ("Alerts", ALERTS),
        ("Messages", MESSAGES),
    )
    return render(request, "states.html", {"vocabulary": vocabulary})


@require_safe
def find(request: HttpRequest) -> HttpResponse:
    """Find anything by ?q; `>` in front asks for acts alone, `@` for tables alone.

    Context of `find.html`: `groups` (accounts.search.SearchGroup), `typed`, `words` (that without its
    sign), `in_dialog`: the hits are options of the dialog's field.
    """
    typed = as_typed(request.GET.get("q", ""))
    sign = typed[:1] if typed[:1] in {ONLY_ACTS, ONLY_TABLES} else ""
    words = typed.removeprefix(sign).strip()
    search = Search(request, Actor.from_request(request), current_connection(request), words)
    in_dialog = bool(getattr(request, "htmx", False))
    groups = [*found(search, sign), SearchGroup("Pages", "i-right", [] if sign or not words else _pages(search))]
    context = {"typed": typed, "words": words, "groups": [one for one in groups if one.hits], "in_dialog": in_dialog}
    return render(request, "find.html#update" if in_dialog else "find.html", context)


def _pages(search: Search) -> list[SearchHit]:
    pages = (item for item in Console(search.request).pages if search.names(item.label))
    return [SearchHit(item.label, reverse(item.url_name), item.group) for item in pages]


@require_POST
def scope(request: HttpRequest) -> HttpResponse:
    """Narrow lists and counts to one connection, or to none, and go back to where the choice was made."""
    choose_connection(request, request.POST.get("connection", ""))
    return redirect(safe_path(request.POST.get("next", "")) or "tables")


@require_http_methods(["GET", "HEAD", "POST"])
def audit(request: HttpRequest) -> HttpResponse:
    """List what was done, newest first and one row an act; ?actor, action, target, outcome, text, since, until and show
    narrow, ?after continues, ?format exports all that matches, oldest first; POST asks for the file of a long list.

    Context of `audit/list.html`: `page` (paging.Page of AuditEntry), `rows` (AuditEntry and what it says), `wanted`
    (AuditFilter), `actions` and `outcomes` (the choices of the two selects).
    """
    wanted = AuditFilter(**{field.name: as_typed(request.GET.get(field.name, "")) for field in fields(AuditFilter)})
    if request.method == "POST":
        return ask_for_file(request, "export-audit", "audit log", None, {"wanted": asdict(wanted)})
    if request.GET.get("format") in EXPORTS:
        if is_large(audit_entries(wanted)):
            return large_list(request, "audit log")
        return export(export_rows(wanted), request.GET["format"], "audit")
    wanted = replace(wanted, show=wanted.show if wanted.show in SHOWN else SHOWN[0])
    page = audit_page(wanted, request.GET.get("after", ""), choose_size(request.GET.get("size", "")))
    titles = dict(Job.objects.filter(pk__in=[entry.job_id for entry in page.rows]).values_list("pk", "title"))
    context = {
        "page": page,
        "rows": [(entry, says(entry, titles.get(entry.job_id, "") if entry.job_id else "")) for entry in page.rows],
        "wanted": wanted,
        "actions": [(action, act_in_words(action)) for action in ACTIONS],
        "outcomes": OUTCOMES,
    }
    return render(request, "audit/list.html", context)
