"""The status page of all plans, and the part of it that each plan polls."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from backups.charts import Cell
from backups.models import Run
from backups.queries.cards import card_of, counts_of, plans_in_scope, verdict_of
from backups.queries.rows import run_row
from dashboard.accounts.actor import Actor
from dashboard.accounts.scope import current_connection

NEWEST = 10
LEGEND = tuple(
    Cell(0, kind, title, "")
    for kind, title in (
        ("complete", "Complete"),
        ("complete_with_gaps", "Complete with gaps"),
        ("failed", "Failed"),
        ("missed", "No run"),
        ("waiting_for_approval", "Waiting for approval"),
        ("running", "Under way"),
        ("cancelled", "Cancelled"),
        ("none", "None planned"),
    )
)


@require_safe
def status(request: HttpRequest) -> HttpResponse:
    """Every plan: the age of its newest complete copy, thirty days of runs, what comes next."""
    now = timezone.now()
    plans = plans_in_scope(current_connection(request))
    cards = [card_of(plan, now) for plan in plans]
    verdict = verdict_of(cards)
    runs = Run.objects.filter(plan__in=plans).select_related("plan")[:NEWEST]
    context = {
        "cards": cards,
        "verdict": verdict,
        "counts": counts_of(cards, plans, now),
        "newest": [run_row(run) for run in runs],
        "legend": LEGEND,
        "read_at": now,
        "may_plan": Actor.from_request(request).may("backup.plan"),
    }
    return render(request, "backups/index.html", context)


@require_safe
def card(request: HttpRequest, plan_name: str) -> HttpResponse:
    """One plan's card, which the status page asks for again every half minute."""
    plan = get_object_or_404(plans_in_scope(None), name=plan_name)
    return render(request, "backups/parts/card.html", {"card": card_of(plan, timezone.now())})
