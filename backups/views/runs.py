"""The page of a run, live while it goes on, and what a person may decide about it."""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from backups import actions
from backups.documents import failure_document
from backups.models import AS_PROMISED, Run, RunState
from backups.queries.rows import lacks_permission, standing
from backups.queries.run_page import table_rows
from backups.queries.times import times_of
from dashboard.accounts.actor import Actor
from dashboard.accounts.scope import seen
from dashboard.connections.writable import why_not_writable
from dashboard.web.exports import export

POLL_SECONDS = 3
MOST_UNPROVEN = 50
_NUMBER = re.compile(r"[0-9]{1,10}", re.ASCII)
_SUM = re.compile(r"[0-9]{1,10}\.[0-9]{2}", re.ASCII)


@require_safe
def run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """One run; the same address answers its polled part to htmx."""
    found = _run(request, run_id)
    actor, live = Actor.from_request(request), found.tables if "left_out" in found.tables else {}
    context = {
        "run": found,
        "is_over": found.is_finished,
        "waits": found.state == RunState.WAITING_FOR_APPROVAL,
        "missed_at": standing(found.plan, timezone.now()).missed_at,
        "stages": found.stages.all(),
        "failures": found.failures.all(),
        "copy_jobs": found.copy_jobs.all(),
        "lacks_permission": lacks_permission(found),
        "tables": table_rows(found),
        "unproven": found.points.filter(earlier="").exclude(state__in=AS_PROMISED, not_kept="")[:MOST_UNPROVEN],
        "times": times_of(found),
        "live": live,
        "live_more": live["unread"]["count"] - len(live["unread"]["examples"]) if live else 0,
        "why_not_run": _why_not(actor, found, "backup.run"),
        "why_not_stop": _why_not(actor, found, "backup.cancel"),
        "priority": next((job.priority for job in actions.copy_jobs_with_priority(found)), None),
        "poll_seconds": None if found.is_finished else POLL_SECONDS,
    }
    partial = "#run" if getattr(request, "htmx", False) else ""
    return render(request, f"backups/run.html{partial}", context)


@require_safe
def failures(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Every cause with its number of objects, as CSV."""
    found = _run(request, run_id)
    rows = (failure_document(group) for group in found.failures.all())
    return export(rows, "csv", f"{found.plan.name}-left-over")


@require_POST
def approve(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Let the copy begin, at the estimate that was shown and no other."""
    shown = _money(request.POST.get("estimate", ""))

    def agree(actor: Actor, found: Run) -> Run:
        # A person without the right is refused as such, whatever they sent.
        if shown is None and actor.may("backup.approve", found.plan.vault_connection):
            raise actions.RunRefused("The estimate that was shown did not come with the approval: approve it again.")
        return actions.approve(actor, found, shown)

    return _act(request, run_id, agree)


@require_POST
def reject(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """End a run that waits, with nothing copied."""
    reason = request.POST.get("reason", "")[:500]
    return _act(request, run_id, lambda actor, found: actions.reject(actor, found, reason))


@require_POST
def cancel(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Stop a run at the next safe place."""
    return _act(request, run_id, actions.cancel)


@require_POST
def set_priority(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Give the run's copy jobs at AWS another priority."""
    asked = request.POST.get("priority", "")

    def set_priority(actor: Actor, found: Run) -> Run:
        # What is no number is refused as one that is out of bounds, after the right has been asked for.
        actions.set_priority(actor, found, int(asked) if _NUMBER.fullmatch(asked) else -1)
        return found

    return _act(request, run_id, set_priority)


@require_POST
def retry(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Try what is worth it again, as a run of its own."""
    return _act(request, run_id, actions.retry)


def _act(request: HttpRequest, run_id: UUID, act: Callable[[Actor, Run], Run]) -> HttpResponse:
    """Do it, and show the run that it answers with."""
    found = _run(request, run_id)
    try:
        found = act(Actor.from_request(request), found)
    except actions.RunRefused as refusal:
        messages.error(request, str(refusal))
    return redirect("backup-run", found.pk)


def _why_not(actor: Actor, found: Run, verb: str) -> str:
    vault = found.plan.vault_connection
    if not actor.may(verb, vault):
        return "Needs the operator role."
    if verb != "backup.cancel":
        return why_not_writable(vault)
    return "It is being cancelled." if found.state == RunState.CANCELLING else ""


def _money(text: str) -> Decimal | None:
    """A sum as the page itself wrote it; None for anything else."""
    return Decimal(text) if _SUM.fullmatch(text) else None


def _run(request: HttpRequest, run_id: UUID) -> Run:
    runs: Any = seen(request, Run).select_related("plan__connection", "plan__vault_connection", "retry_of")
    found: Run = get_object_or_404(runs, pk=run_id)
    return found
