"""Pages of the shell itself: the vocabulary of states, and the choice of the connection in scope."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from dashboard.accounts.scope import choose_connection
from dashboard.accounts.views import safe_path
from dashboard.web.states import ALERTS, JOBS, LAKE, MESSAGES, RUNS, VERSIONS


@require_safe
def states(request: HttpRequest) -> HttpResponse:
    """Show every state with its shape, word and meaning."""
    vocabulary = (
        ("Tables, stores, buckets", LAKE),
        ("Versions", VERSIONS),
        ("Jobs", JOBS),
        ("Backup runs", RUNS),
        ("Alerts", ALERTS),
        ("Messages", MESSAGES),
    )
    return render(request, "states.html", {"vocabulary": vocabulary})


@require_POST
def scope(request: HttpRequest) -> HttpResponse:
    """Narrow lists and counts to one connection, or to none, and go back to where the choice was made."""
    choose_connection(request, request.POST.get("connection", ""))
    return redirect(safe_path(request.POST.get("next", "")) or "tables")
