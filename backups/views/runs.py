"""The page of a run, live while it goes on, and what a person may decide about it."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from backups import actions
from backups.models import Run, RunState
from backups.queries.rows import objects
from backups.queries.run_page import run_view
from backups.queries.run_parts import bill_of, copy_job_rows, failure_rows, live_files, table_rows
from dashboard.accounts.actor import Actor
from dashboard.accounts.scope import seen
from dashboard.connections.writable import why_not_writable
from dashboard.web.exports import export
from dashboard.web.text import file_size, thousands

POLL_SECONDS = 3
_NUMBER = re.compile(r"[0-9]{1,10}", re.ASCII)
_SUM = re.compile(r"[0-9]{1,10}\.[0-9]{2}", re.ASCII)


@dataclass(frozen=True, slots=True)
class RunAction:
    """One thing a person may do: what it does, its button, and why it is not to be had."""

    title: str
    consequence: str
    url: str
    button: str
    why_not: str
    is_primary: bool = False
    fields: tuple[tuple[str, str], ...] = ()
    number: int | None = None


@require_safe
def run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """One run; the same address answers its polled part to htmx."""
    found = _run(request, run_id)
    view = run_view(found, timezone.now())
    actor = Actor.from_request(request)
    failures = failure_rows(found)
    context = {
        "run": view,
        "failures": failures,
        "failures_csv": reverse("backup-run-failures", args=[found.pk]) if failures else "",
        "bill": bill_of(found),
        "copy_jobs": copy_job_rows(found),
        "tables": table_rows(found),
        "live": live_files(found),
        "acts": _acts(found, actor),
        "acts_title": "Decide" if found.state == RunState.WAITING_FOR_APPROVAL else "Act",
        "poll_seconds": None if found.is_finished else POLL_SECONDS,
    }
    partial = "#run" if getattr(request, "htmx", False) else ""
    return render(request, f"backups/run.html{partial}", context)


@require_safe
def failures(request: HttpRequest, run_id: UUID) -> StreamingHttpResponse:
    """Every cause with its number of objects, as CSV."""
    found = _run(request, run_id)
    rows = (
        {
            "outcome": group.outcome,
            "code": group.code,
            "cause": group.cause,
            "objects": group.object_count,
            "bytes": group.bytes,
            "tables": group.tables,
            "worth_retry": group.worth_retry,
            "examples": group.examples,
        }
        for group in found.failures.all()
    )
    return export(rows, "csv", f"{found.plan.name}-left-over")


@require_POST
def approve(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Let the copy begin, at the estimate that was shown and no other."""
    shown = _money(request.POST.get("estimate", ""))

    def agree(actor: Actor, found: Run) -> None:
        # A person without the right is refused as such, whatever they sent.
        if shown is None and actor.may("backup.approve", found.plan.vault_connection):
            raise actions.RunRefused("The estimate that was shown did not come with the approval: approve it again.")
        actions.approve(actor, found, shown)

    return _act(request, run_id, agree)


@require_POST
def reject(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """End a run that waits, with nothing copied."""
    reason = request.POST.get("reason", "")[:500]
    return _act(request, run_id, lambda actor, found: actions.reject(actor, found, reason))


@require_POST
def cancel(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Stop a run at the next safe place."""
    return _act(request, run_id, lambda actor, found: actions.cancel(actor, found))


@require_POST
def set_priority(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Give the run's copy jobs at AWS another priority."""
    asked = request.POST.get("priority", "")

    def set_priority(actor: Actor, found: Run) -> None:
        # What is no number is refused as one that is out of bounds, after the right has been asked for.
        actions.set_priority(actor, found, int(asked) if _NUMBER.fullmatch(asked) else -1)

    return _act(request, run_id, set_priority)


@require_POST
def retry(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Try what is worth it again, as a run of its own."""
    found = _run(request, run_id)
    try:
        again = actions.retry(Actor.from_request(request), found)
    except actions.RunRefused as refusal:
        messages.error(request, str(refusal))
        return redirect("backup-run", found.pk)
    return redirect("backup-run", again.pk)


def _act(request: HttpRequest, run_id: UUID, act: Callable[[Actor, Run], object]) -> HttpResponse:
    found = _run(request, run_id)
    try:
        act(Actor.from_request(request), found)
    except actions.RunRefused as refusal:
        messages.error(request, str(refusal))
    return redirect("backup-run", found.pk)


def _acts(found: Run, actor: Actor) -> list[RunAction]:
    if found.state == RunState.WAITING_FOR_APPROVAL:
        return _decisions(found, _why_not(actor, found, "backup.approve"), _why_not(actor, found, "backup.cancel"))
    if found.is_finished:
        return [_retry(found, _why_not(actor, found, "backup.run"))] if found.worth_retry else []
    stop = "It stops at the next safe place. What is copied by then stays."
    why_not = (
        "It is being cancelled." if found.state == RunState.CANCELLING else _why_not(actor, found, "backup.cancel")
    )
    cancelling = RunAction(
        "Cancel the run", stop, reverse("backup-run-cancel", args=[found.pk]), "Cancel this run", why_not
    )
    return [*_priority(found, actor), cancelling]


def _priority(found: Run, actor: Actor) -> list[RunAction]:
    under_way = actions.copy_jobs_with_priority(found)
    if not under_way:
        return []
    does = "S3 lets the jobs of a higher priority go first, and pauses others meanwhile."
    url, now = reverse("backup-run-priority", args=[found.pk]), under_way[0].priority
    return [
        RunAction("Priority at AWS", does, url, "Set the priority", _why_not(actor, found, "backup.run"), number=now)
    ]


def _decisions(found: Run, why_not: str, why_not_reject: str) -> list[RunAction]:
    estimate = found.estimate_usd
    does = f"Copies {objects(found.objects_planned)}, {file_size(found.bytes_planned)}. Source tables are only read."
    fields = (("estimate", str(estimate)),) if estimate is not None else ()
    button = f"Approve ${estimate:,.2f}" if estimate is not None else "Approve this run"
    return [
        RunAction(
            "Approve the run", does, reverse("backup-run-approve", args=[found.pk]), button, why_not, True, fields
        ),
        RunAction(
            "Reject",
            "Copies nothing and ends this run. The next one is started by the schedule, or by hand.",
            reverse("backup-run-reject", args=[found.pk]),
            "Reject this run",
            why_not_reject,
        ),
    ]


def _retry(found: Run, why_not: str) -> RunAction:
    does = (
        f"Starts a run for the {thousands(found.worth_retry)} left over that another try may bring. "
        "What is at the destination already is not copied again."
    )
    url = reverse("backup-run-retry", args=[found.pk])
    return RunAction("Try again", does, url, f"Retry {objects(found.worth_retry)}", why_not, is_primary=True)


def _why_not(actor: Actor, found: Run, verb: str) -> str:
    vault = found.plan.vault_connection
    if not actor.may(verb, vault):
        return "Needs the operator role."
    return "" if verb == "backup.cancel" else why_not_writable(vault)


def _money(text: str) -> Decimal | None:
    """A sum as the page itself wrote it; None for anything else."""
    return Decimal(text) if _SUM.fullmatch(text) else None


def _run(request: HttpRequest, run_id: UUID) -> Run:
    runs: Any = seen(request, Run).select_related("plan__connection", "plan__vault_connection", "retry_of")
    found: Run = get_object_or_404(runs, pk=run_id)
    return found
