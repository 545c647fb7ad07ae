"""Plans as pages show them: how far behind their tables are, to which moments they can be restored, what comes next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Sum
from django.urls import reverse

from backups.cron import Schedule, ScheduleError, parse_schedule
from backups.models import ACTIVE, Inventory, InventoryState, Plan, Run, RunState
from backups.queries.drawings import Bar, bars_of
from backups.queries.rows import Headline, Standing, age_text, proven_text, run_url, way_on
from dashboard.connections.models import Connection

_NOTHING: Mapping[str, Any] = {"bytes": 0, "objects_copied": 0, "spent": None, "uncounted": 0}
"""Of a plan of which no run has ended this month."""


@dataclass(frozen=True, slots=True)
class Card:
    """One plan: its state with a word for it, how far behind its tables are, what comes next. `bars` are the moments of
    the last 30 days to which they can be restored, which `range_text` says in words."""

    plan: Plan
    state: str
    word: str
    stands: Standing
    note: str
    bars: list[Bar]
    range_text: str
    inventory: Inventory | None
    inventory_is_late: bool
    sums: Mapping[str, Any]
    active: Run | None
    newest: Run | None


def plans_in_scope(connection: Connection | None) -> QuerySet[Plan]:
    """Plans that read or write through a connection; all of them for None."""
    plans = Plan.objects.select_related("connection", "vault_connection", "due")
    if connection is None:
        return plans
    return plans.filter(Q(connection=connection) | Q(vault_connection=connection))


def cards_of(plans: QuerySet[Plan], now: datetime) -> list[Card]:
    """The cards of these plans, in as many queries as one takes."""
    runs = Run.objects.filter(plan=OuterRef("pk")).order_by("-created_at", "-id")
    arrived = Inventory.objects.filter(plan=OuterRef("pk"), state=InventoryState.ARRIVED).order_by("-name")
    found = list(
        plans.annotate(
            newest_run=Subquery(runs.values("pk")[:1]),
            active_run=Subquery(runs.filter(state__in=ACTIVE).values("pk")[:1]),
            newest_proof=Subquery(runs.proofs().values("pk")[:1]),
            begun_at=Subquery(runs.order_by("created_at").values("created_at")[:1]),
            arrived=Subquery(arrived.values("pk")[:1]),
        )
    )
    chosen = {pk for one in found for pk in (one.newest_run, one.active_run, one.newest_proof)}
    by_key = Run.objects.select_related("plan").in_bulk(chosen - {None})
    inventories = Inventory.objects.in_bulk({one.arrived for one in found if one.arrived and one.inventory})
    sums = _sums(found, now)
    return [
        _card(
            plan,
            by_key.get(plan.newest_run),
            by_key.get(plan.active_run),
            Standing(by_key.get(plan.newest_proof), plan.begun_at, timedelta(hours=plan.objective_hours), now),
            inventories.get(plan.arrived),
            sums.get(plan.pk, _NOTHING),
            now,
        )
        for plan in found
    ]


def _card(
    plan: Plan,
    newest: Run | None,
    active: Run | None,
    stands: Standing,
    inventory: Inventory | None,
    sums: Mapping[str, Any],
    now: datetime,
) -> Card:
    state, word = _state(active, newest, stands)
    told = stands.proof.tables.get("restorable") if stands.proof else None
    spans = [(datetime.fromisoformat(start), datetime.fromisoformat(end), of_all) for start, end, of_all in told or ()]
    bars, text = bars_of(spans, now)
    return Card(
        plan,
        state,
        word,
        stands,
        _note(plan, active, stands, now),
        bars,
        "Not known" if told is None else text,
        inventory,
        inventory is not None and inventory.next_at <= now,
        sums,
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
    failed = [(card, run) for card in cards if (run := card.newest) and run.state == RunState.FAILED]
    if failed:
        (card, run), more = failed[0], f" {_others(len(failed) - 1)}" if len(failed) > 1 else ""
        return Headline(
            "failed",
            f"The newest run of {card.plan.name} failed at the stage {run.stage.replace('_', ' ')}.{more}",
            run.sentence,
            *way_on(run),
        )
    for card in cards:
        if card.stands.is_past:
            name, objective = card.plan.name, card.stands.objective_text
            said = f"{name} is up to {card.stands.behind_text} behind, past its {objective} objective."
            if card.stands.proof is None:
                said = f"{name} has no proven copy, and its {objective} objective has passed."
            elif card.stands.behind is None:
                said = f"It is not known of every table of {name} how far behind it is."
            return _at_plan("attention", card, said)
    for card in cards:
        if card.stands.proof is None:
            return _at_plan("not_started", card, f"{card.plan.name} has no proven copy yet.")
    return Headline("healthy", "Every plan is within its objective.", _proven(cards)) if cards else None


def verdict_of_one(card: Card) -> Headline:
    """The one sentence above the page of a plan."""
    if card.active and card.active.state == RunState.WAITING_FOR_APPROVAL:
        return _waiting(card, card.active)
    if card.active is not None:
        return Headline(card.state, "A run is under way.", card.active.sentence, run_url(card.active), "See the run")
    if card.newest is not None and card.newest.state == RunState.FAILED:
        said = f"The newest run failed at the stage {card.newest.stage.replace('_', ' ')}."
        return Headline("failed", said, card.newest.sentence, *way_on(card.newest))
    if card.stands.proof is None:
        return Headline(card.state, "This plan has no proven copy yet.", card.note)
    behind, objective = card.stands.behind_text, card.stands.objective_text
    said = f"No table is more than {behind} behind its source; {objective} are allowed."
    if not behind:
        said = "It is not known of every table how far behind it is."
    elif not card.stands.proof.table_count:
        said = f"There was no table to prove; what was copied is {behind} old, of {objective} allowed."
    elif card.stands.is_past:
        said = f"A table may be up to {behind} behind its source, past the {objective} objective."
    return Headline(card.state, said, f"{_proven([card])} {card.note}".strip())


def _proven(cards: Sequence[Card]) -> str:
    return proven_text(card.stands.proof for card in cards)


def _at_plan(state: str, card: Card, said: str) -> Headline:
    return Headline(state, said, card.note, reverse("backup-plan", args=[card.plan.name]), "See the plan")


def spent_this_month(cards: Sequence[Card]) -> Decimal:
    """What those runs have cost that ended this month and whose cost was counted, in USD."""
    return sum((card.sums["spent"] or Decimal(0) for card in cards), Decimal(0))


def _month(now: datetime) -> datetime:
    return now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def _waiting(card: Card, run: Run) -> Headline:
    estimate = f"${run.estimate_usd:,.2f}" if run.estimate_usd is not None else "an unknown amount"
    ceiling = f", above the ${run.ceiling_usd:,.2f} that Levee may spend by itself" if run.ceiling_usd else ""
    detail = f"The copy would cost {estimate}{ceiling}. Nothing is copied before a person decides."
    stands = card.stands
    until = ""
    if stands.proof and stands.missed_at and not stands.is_past:
        until = f" The objective is missed in {age_text(stands.missed_at - stands.now)}."
    said = f"{card.plan.name} waits for your approval.{until}"
    return Headline("waiting_for_approval", said, detail, run_url(run), "See the estimate")


def _state(active: Run | None, newest: Run | None, stands: Standing) -> tuple[str, str]:
    if active is not None:
        return active.state, ""
    if newest is not None and newest.state == RunState.FAILED:
        return "failed", "Newest run failed"
    if stands.proof is not None and stands.behind is None:
        return "attention", "Not known"
    if stands.is_past:
        return "attention", "Past objective"
    if stands.proof is None:
        return "not_started", "No run yet" if newest is None else "No proven copy"
    if stands.proof.state == RunState.COMPLETE_WITH_GAPS:
        return "complete_with_gaps", "Within objective, with gaps"
    return "healthy", "Within objective"


def _note(plan: Plan, active: Run | None, stands: Standing, now: datetime) -> str:
    if active is not None:
        words = {
            RunState.WAITING_FOR_APPROVAL: "Waits for approval",
            RunState.WAITING_FOR_INVENTORY: "Waits for the inventory",
            RunState.CANCELLING: "Being cancelled",
        }
        begun = f"Running since {active.started_at:%H:%M} UTC" if active.started_at else "Not begun yet"
        return words.get(RunState(active.state), begun)
    if plan.paused:
        return "Paused: the schedule starts nothing"
    due = next_due(plan, now)
    if due is None:
        return "No schedule: started by hand"
    day = "" if due.date() == now.date() else f"{due:%a} {due.day} {due:%b} "
    late = ", after the objective is missed" if stands.missed_at and now < stands.missed_at < due else ""
    return f"Next run {day}{due:%H:%M} UTC{late}"


def _sums(plans: Sequence[Plan], now: datetime) -> dict[int, Mapping[str, Any]]:
    """What the runs of each plan that ended this month copied, and `spent`, None where the cost of no run was counted;
    `uncounted` are those without their cost."""
    ended = Run.objects.filter(plan__in=plans, finished_at__gte=_month(now)).order_by()
    sums = ended.values("plan_id").annotate(
        bytes=Sum("bytes_copied"),
        objects_copied=Sum("copied"),
        spent=Sum("actual_usd"),
        uncounted=Count("pk", filter=Q(actual_usd=None) & (Q(estimate_usd__isnull=False) | Q(copied__gt=0))),
    )
    return {row["plan_id"]: row for row in sums}


def _others(number: int) -> str:
    return "One other plan's too." if number == 1 else f"{number:,} other plans' too."
