"""The status page of all plans and pages of one: what it says, its runs, inventories and policies; the forms for it."""

from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from backups.actions import RunRefused, ask_for_inventory, ask_for_preflight, save_plan, set_paused, start_run
from backups.declaration import least_objective_hours
from backups.destinations import is_pool
from backups.documents import copies_of
from backups.forms import InventoryForm, PlanForm, form_of
from backups.inventory_setup import PlaceUnfit
from backups.models import ACTIVE, Plan, Run
from backups.policies.documents import policy_documents
from backups.policies.names import names_of
from backups.queries.cards import Card, cards_of, plans_in_scope, spent_this_month, verdict_of_one
from backups.queries.coverage import coverage_of
from backups.queries.drawings import AXIS, TICKS
from backups.queries.plan_page import inventory_set_up, last_preflight
from backups.queries.rows import kept_text, lacks_permission, run_url
from backups.queries.sheet import sheet_page
from backups.queries.times import times_of
from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import require
from dashboard.accounts.scope import connections_of, current_connection, seen
from dashboard.connections.protection import NO_PLAN, tables_outside
from dashboard.connections.writable import why_not_writable
from dashboard.deadlines.models import DueKind
from dashboard.deadlines.queries import dues
from dashboard.declaration.reading import DeclarationError
from dashboard.web.paging import Column, Sort, choose_size, keyset_page

DUES = 4
NEWEST_FIRST = Sort("created", (Column("created_at", descending=True), Column("id", descending=True)))
INVENTORIES_SHOWN = 10


@require_safe
def status(request: HttpRequest) -> HttpResponse:
    """Every plan: how many tables can be restored as it promises, to which moments, and why others cannot."""
    now, scope = timezone.now(), current_connection(request)
    cards = cards_of(plans_in_scope(scope), now)
    context = {
        "coverage": coverage_of(cards, tables_outside(scope.name if scope else ""), now),
        "spent": spent_this_month(cards),
        "dues": dues(scope.pk if scope else None, kind=DueKind.BACKUP)[:DUES],
        "axis": AXIS,
        "ticks": TICKS,
        "no_plan": NO_PLAN,
        "read_at": now,
        "may_plan": Actor.from_request(request).may("backup.plan"),
    }
    return render(request, "backups/index.html", context)


@require_safe
def card(request: HttpRequest, plan_name: str) -> HttpResponse:
    """One plan's card, which the status page asks for again every half minute."""
    plan = _plan(request, plan_name)
    return render(request, "backups/parts/card.html", {"card": _card(plan, timezone.now())})


def _card(plan: Plan, now: datetime) -> Card:
    return cards_of(plans_in_scope(None).filter(pk=plan.pk), now)[0]


@require_safe
def plan(request: HttpRequest, plan_name: str) -> HttpResponse:
    """One plan with its runs, newest first."""
    found = _plan(request, plan_name)
    now = timezone.now()
    card = _card(found, now)
    actor = Actor.from_request(request)
    size = choose_size(request.GET.get("size", ""))
    kept = copies_of(found)
    runs = keyset_page(
        seen(request, Run).filter(plan=found).select_related("plan"), NEWEST_FIRST, request.GET.get("after", ""), size
    )
    context = {
        "plan": found,
        "card": card,
        "verdict": verdict_of_one(card),
        "is_pool": is_pool(found.destination),
        "least_objective": least_objective_hours(found.inventory, found.minimum_lag_hours, found.schedule),
        "names": (
            ("Key of the copies", found.encryption_key),
            ("Key of the source", found.source_key),
            ("Role of S3 Batch", found.role_arn),
            ("Manifests and reports", found.evidence),
        ),
        "page": runs,
        "rows": [(run, kept_text(run, kept)) for run in runs.rows],
        "inventories": found.inventories.all()[:INVENTORIES_SHOWN],
        "times": times_of(card.stands.proof),
        "active_url": run_url(card.active) if card.active else "",
        "why_not_run": _why_not(actor, found, "backup.run"),
        "would_fail_again": card.newest is not None and lacks_permission(card.newest),
        "why_not_plan": _why_not(actor, found, "backup.plan"),
        "preflight": last_preflight(found),
        "set_up": inventory_set_up(found),
        "why_not_set_up": "" if actor.may("backup.plan", found.connection) else "Needs the admin role.",
    }
    return render(request, "backups/plan.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def add(request: HttpRequest) -> HttpResponse:
    """Add a plan."""
    return _edit(request, None)


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, plan_name: str) -> HttpResponse:
    """Edit a plan; its name stays."""
    return _edit(request, _plan(request, plan_name))


@require_safe
def sheet(request: HttpRequest, plan_name: str) -> HttpResponse:
    """How the plan's tables are restored without Levee, to be printed."""
    found = _plan(request, plan_name)
    return render(request, "backups/sheet.html", {"plan": found, "sheet": sheet_page(found)})


@require_safe
def policies(request: HttpRequest, plan_name: str) -> HttpResponse:
    """The policies of both accounts for the plan's real names, and which permissions are there."""
    found = _plan(request, plan_name)
    names = names_of(found)
    preflight = last_preflight(found)
    is_open = preflight is not None and not preflight.job.is_finished
    context = {
        "plan": found,
        "names": names,
        "policies": policy_documents(names),
        "is_cli": request.GET.get("form") == "cli",
        "preflight": preflight,
        "poll_seconds": 2 if is_open else None,
        "why_not_check": _why_not(Actor.from_request(request), found, "backup.preflight"),
    }
    partial = "#preflight" if getattr(request, "htmx", False) else ""
    return render(request, f"backups/policies.html{partial}", context)


@require_POST
def preflight(request: HttpRequest, plan_name: str) -> HttpResponse:
    """Check each permission; the page of policies shows the ticks."""
    found = _plan(request, plan_name)
    ask_for_preflight(Actor.from_request(request), found)
    return redirect("backup-plan-policies", found.name)


@require_POST
def set_up_inventory(request: HttpRequest, plan_name: str) -> HttpResponse:
    """Put the plan's inventory configuration on its source; the job says what became of it."""
    found, actor = _plan(request, plan_name), Actor.from_request(request)
    require(actor, "backup.plan", target=found.name, connection=found.connection)
    form = InventoryForm(request.POST)
    try:
        if not form.is_valid():
            raise PlaceUnfit("Choose a format and how often S3 lists the bucket.")
        job = ask_for_inventory(actor, found, **form.cleaned_data)
    except PlaceUnfit as error:
        messages.error(request, str(error))
        return redirect("backup-plan", found.name)
    return redirect("job", job.pk)


@require_POST
def run_now(request: HttpRequest, plan_name: str) -> HttpResponse:
    """Start a run, or lead to the one that is under way."""
    found = _plan(request, plan_name)
    try:
        run = start_run(Actor.from_request(request), found)
    except RunRefused as refusal:
        messages.error(request, str(refusal))
        return redirect("backup-plan", found.name)
    return redirect("backup-run", run.pk)


@require_POST
def switch(request: HttpRequest, plan_name: str) -> HttpResponse:
    """Pause the schedule, or let it go on."""
    found = _plan(request, plan_name)
    set_paused(Actor.from_request(request), found, not found.paused)
    return redirect("backup-plan", found.name)


def _edit(request: HttpRequest, found: Plan | None) -> HttpResponse:
    actor = Actor.from_request(request)
    for connection in (found.connection, found.vault_connection) if found else (None,):
        require(actor, "backup.plan", target=found.name if found else "", connection=connection)
    form = form_of(found) if found else PlanForm()
    if request.method == "POST":
        posted = request.POST.copy()
        if found is not None:
            posted["name"] = found.name
        form = PlanForm(posted)
        if form.is_valid():
            try:
                return redirect("backup-plan", save_plan(actor, form.values(), found).name)
            except DeclarationError as error:
                form.refuse(error)
    form.offer(connections_of(request).values_list("name", flat=True))
    context = {"form": form, "plan": found}
    return render(request, "backups/plan_form.html", context, status=422 if form.errors else 200)


def _plan(request: HttpRequest, plan_name: str) -> Plan:
    return get_object_or_404(
        seen(request, Plan).select_related("connection", "vault_connection", "due"), name=plan_name
    )


def _why_not(actor: Actor, found: Plan, verb: str) -> str:
    if not actor.may(verb, found.vault_connection):
        return "Needs the admin role." if verb == "backup.plan" else "Needs the operator role."
    if verb == "backup.run" and found.runs.filter(state__in=ACTIVE).exists():
        return "A run of this plan is under way."
    return why_not_writable(found.vault_connection) if verb == "backup.run" else ""
