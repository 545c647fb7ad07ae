"""Plans as the status page shows them: the age of the newest copy, thirty days of runs, what comes next."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Max, Q, QuerySet, Sum
from django.urls import reverse

from backups.charts import DAYS, DayRun, Gauge, Strip, gauge, strip
from backups.cron import Schedule, ScheduleError, parse_schedule
from backups.models import ACTIVE, InventoryState, Plan, Run, RunState
from backups.queries.objective import copy_age, moment_of
from backups.queries.rows import UNPROVEN, Fact, Headline, age_text, copied_of, run_label, run_url, way_on
from dashboard.connections.models import Connection
from dashboard.web.text import file_size, thousands


@dataclass(frozen=True, slots=True)
class Card:
    """One plan. `age` is how far the newest copy lies behind now, None without one; `is_past` that this, or the time
    since the first start, is more than the objective allows."""

    name: str
    source: str
    destination: str
    vault: str
    state: str
    word: str
    age: timedelta | None
    is_past: bool
    objective: timedelta
    age_words: str
    objective_words: str
    gauge: Gauge
    gauge_label: str
    note: str
    note_url: str
    strip: Strip
    facts: tuple[Fact, ...]
    active: Run | None
    newest: Run | None


@dataclass(frozen=True, slots=True)
class Count:
    """One number of the status page, and the list behind it."""

    word: str
    number: str
    detail: str
    url: str
    state: str = ""


def plans_in_scope(connection: Connection | None) -> QuerySet[Plan]:
    """Plans that read or write through a connection; all of them for None."""
    plans = Plan.objects.select_related("connection", "vault_connection", "due")
    if connection is None:
        return plans
    return plans.filter(Q(connection=connection) | Q(vault_connection=connection))


def card_of(plan: Plan, now: datetime) -> Card:
    runs = list(plan.runs.filter(created_at__gte=now - timedelta(days=DAYS + 1)).select_related("plan")[:2_000])
    newest = runs[0] if runs else plan.runs.select_related("plan").first()
    active = next((run for run in runs if run.state in ACTIVE), None) or plan.runs.filter(state__in=ACTIVE).first()
    stands = copy_age(plan, now)
    copy, age = stands.copy, stands.age
    objective = timedelta(hours=plan.objective_hours)
    state, word = _state(active, newest, copy, is_past=stands.is_past)
    note, url = _note(plan, active, copy, objective, now)
    schedule = schedule_of(plan)
    since = min((run.created_at for run in runs), default=now)
    days = [DayRun(run.state, run.due_at or run.created_at, run_url(run)) for run in runs]
    said = f"{age_text(age)} of {age_text(objective)}" if age is not None else "No copy yet"
    return Card(
        plan.name,
        plan.source,
        plan.destination,
        plan.vault_connection.name if plan.vault_connection_id != plan.connection_id else "",
        state,
        word,
        age,
        stands.is_past,
        objective,
        age_text(age) if age is not None else "",
        age_text(objective),
        gauge(age, objective),
        said,
        note,
        url,
        strip(days, now.date(), None if plan.paused else schedule, since, plan.name, now),
        _facts(plan, copy, now),
        active,
        newest,
    )


def schedule_of(plan: Plan) -> Schedule | None:
    """The plan's schedule; None where it has none, or one that an older release let in."""
    try:
        return parse_schedule(plan.schedule) if plan.schedule else None
    except ScheduleError:
        return None


def next_due(plan: Plan, now: datetime) -> datetime | None:
    schedule = schedule_of(plan)
    return schedule.next_after(now) if schedule and not plan.paused else None


def verdict_of(cards: Sequence[Card]) -> Headline | None:
    """The one sentence above all plans: what waits for a person, what is late, what failed, or that all is well."""
    for card in cards:
        if card.active and card.active.state == RunState.WAITING_FOR_APPROVAL:
            return _waiting(card, card.active)
    late = [card for card in cards if card.is_past]
    without = [card for card in cards if card.age is None and not card.is_past]
    failed = [card for card in cards if card.newest and card.newest.state == RunState.FAILED]
    if failed:
        run = failed[0].newest
        if run is not None:
            more = f" {_others(len(failed) - 1)}" if len(failed) > 1 else ""
            return Headline("failed", f"The newest run of {failed[0].name} failed.{more}", run.sentence, *way_on(run))
    if late:
        first = late[0]
        url = reverse("backup-plan", args=[first.name])
        if first.age is None:
            said = f"{first.name} has no copy, and its {age_text(first.objective)} objective has passed."
            return Headline("attention", said, first.note, url, "See the plan")
        said = f"{first.name} is {age_text(first.age)} old, past its {age_text(first.objective)} objective."
        return Headline("attention", said, first.note, url, "See the plan")
    if without:
        first = without[0]
        url = reverse("backup-plan", args=[first.name])
        return Headline("not_started", f"{first.name} has no copy yet.", first.note, url, "See the plan")
    if not cards:
        return None
    return Headline("healthy", "Every plan has copied within its objective.", UNPROVEN)


def counts_of(cards: Sequence[Card], plans: QuerySet[Plan], now: datetime) -> tuple[Count, ...]:
    within = sum(card.age is not None and not card.is_past for card in cards)
    month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    runs = Run.objects.filter(plan__in=plans)
    active = runs.filter(state__in=ACTIVE).count()
    spent = runs.filter(finished_at__gte=month)
    sums = spent.aggregate(usd=Sum("actual_usd"), bytes=Sum("bytes_copied"), objects=Sum("copied"))
    past = sum(card.is_past for card in cards)
    without = len(cards) - within - past
    return (
        Count("Copied within objective", thousands(within), "newest copy as young as allowed", "#plans", "healthy"),
        Count(
            "Past objective",
            thousands(past),
            f"{thousands(without)} without a copy yet" if without else "older than allowed",
            "#plans",
            "attention" if past else "not_started",
        ),
        Count("Under way", thousands(active), "running or waiting", "#newest", "running" if active else "not_started"),
        Count(
            "Copied this month",
            file_size(sums["bytes"] or 0),
            f"{thousands(sums['objects'] or 0)} objects, by runs that ended",
            "#newest",
        ),
        Count(f"{now:%B} so far", f"${sums['usd'] or 0:,.2f}", "requests and jobs, by list prices", "#newest"),
    )


def _waiting(card: Card, run: Run) -> Headline:
    estimate = f"${run.estimate_usd:,.2f}" if run.estimate_usd is not None else "an unknown amount"
    ceiling = f", above the ${run.ceiling_usd:,.2f} that Levee may spend by itself" if run.ceiling_usd else ""
    detail = f"The copy would cost {estimate}{ceiling}. Nothing is copied before a person decides."
    until = ""
    if card.age is not None and card.age < card.objective:
        until = f" The objective is missed in {age_text(card.objective - card.age)}."
    return Headline(
        "waiting_for_approval", f"{card.name} waits for your approval.{until}", detail, run_url(run), "See the estimate"
    )


def _state(active: Run | None, newest: Run | None, copy: Run | None, *, is_past: bool) -> tuple[str, str]:
    if active is not None:
        return active.state, ""
    if newest is not None and newest.state == RunState.FAILED:
        return "failed", "Newest run failed"
    if is_past:
        return "attention", "Past objective"
    if copy is None:
        return "not_started", "No run yet" if newest is None else "No copy"
    if copy.state == RunState.COMPLETE_WITH_GAPS:
        return "complete_with_gaps", "Copied within objective, with gaps"
    return "healthy", "Copied within objective"


def _note(plan: Plan, active: Run | None, copy: Run | None, objective: timedelta, now: datetime) -> tuple[str, str]:
    if active is not None:
        words = {
            RunState.WAITING_FOR_APPROVAL: "Waits for approval",
            RunState.WAITING_FOR_INVENTORY: "Waits for the inventory",
            RunState.CANCELLING: "Being cancelled",
        }
        return words.get(
            RunState(active.state), f"Running since {active.started_at or active.created_at:%H:%M} UTC"
        ), run_url(active)
    if plan.paused:
        return "Paused: the schedule starts nothing", ""
    due = next_due(plan, now)
    if due is None:
        return "No schedule: started by hand", ""
    day = "" if due.date() == now.date() else f"{due:%a} {due.day} {due:%b} "
    missed = moment_of(copy) + objective if copy else None
    late = ", after the objective is missed" if missed and now < missed < due else ""
    return f"Next run {day}{due:%H:%M} UTC{late}", ""


def _facts(plan: Plan, copy: Run | None, now: datetime) -> tuple[Fact, ...]:
    month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    sums = plan.runs.aggregate(
        bytes=Sum("bytes_copied"),
        objects=Sum("copied"),
        usd=Sum("actual_usd", filter=Q(finished_at__gte=month)),
        runs=Max("finished_at", filter=Q(finished_at__gte=month)),
    )
    gaps = _gap_fact(copy)
    return (
        _copy_fact(copy),
        _inventory_fact(plan, now),
        gaps,
        Fact("Copied by runs that ended", file_size(sums["bytes"] or 0), f"{thousands(sums['objects'] or 0)} objects"),
        Fact("Spent this month", f"${sums['usd'] or 0:,.2f}", "requests and jobs")
        if sums["runs"]
        else Fact("Spent this month", "Not known", "no run has ended"),
    )


def _copy_fact(copy: Run | None) -> Fact:
    if copy is None:
        return Fact("Last copy", "None yet")
    return Fact("Last copy", run_label(copy), copied_of(copy), run_url(copy))


def _gap_fact(copy: Run | None) -> Fact:
    left = copy.listed - copy.copied - copy.already_there if copy else 0
    if copy is None or left <= 0:
        return Fact("Left over", "None" if copy else "Unknown")
    return Fact("Left over", f"{thousands(left)} objects", "see why", f"{run_url(copy)}#failures")


def _inventory_fact(plan: Plan, now: datetime) -> Fact:
    if not plan.inventory:
        return Fact("Inventory", "Not used", "the source is listed")
    newest = plan.inventories.filter(state=InventoryState.ARRIVED).first()
    if newest is None:
        return Fact("Next inventory", "None seen yet", "the first can take 48 h")
    due = (newest.created_at or newest.checked_at) + timedelta(days=1)
    said = f"{due.day} {due:%b}, about {due:%H:%M}"
    return Fact(
        "Next inventory",
        said,
        f"last {newest.name}, {newest.format or 'CSV'}" if due > now else f"late: last {newest.name}",
    )


def _others(number: int) -> str:
    return "One other plan's too." if number == 1 else f"{number:,} other plans' too."
