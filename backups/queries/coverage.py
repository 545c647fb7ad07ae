"""How many tables can be restored as their plans promise, by the newest proof of each: for the page of all plans."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any
from urllib.parse import urlencode

from django.db.models import Case, Count, F, IntegerField, Min, Q, TextField, Value, When
from django.db.models.functions import Cast, Substr
from django.urls import reverse

from backups.models import PointState, RestorePoint, RunState
from backups.queries.cards import Card, verdict_of
from backups.queries.drawings import Dot, dots_of, place_of
from backups.queries.rows import Headline, at_most_text, run_url, way_on
from dashboard.connections.protection import IN_NO_PROOF, TablesOutside
from dashboard.web.text import file_size

WITHIN, PAST, YOUNG, NEVER = range(4)
"""What a restore point is worth now, the best first: it keeps the promise of its plan, something can be restored,
nothing can yet of a table that is younger than the promise, nothing can."""
KEPT = (WITHIN, YOUNG)
"""What breaks no promise."""
_IS_KNOWN = Q(version__isnull=False, holds_until__isnull=False) & ~Q(proof="")
"""Of points that are kept, and tell up to when their version has all commits."""
_TEN_MINUTES = 15
"""Characters of a time as text up to its tens of minutes; both databases write it alike, in UTC."""
CAUSES = {
    "nothing": "No version can be restored",
    "not_kept": "No restore point is kept",
    "blocked": "Files are not in the backup",
    "doubtful": "More may have been accepted",
    "unknown": "How far behind is not known",
    "late": "The newest proof is too old",
}
"""Why a restore point does not keep the promise of its plan."""


@dataclass(frozen=True, slots=True)
class TableTally:
    """Tables, each once however many plans take it, by the best of their points. `outside` are those of no point, None
    where there are too many to look at each; `total` leaves out the young ones, of which nothing is promised yet."""

    within: int
    past: int
    young: int
    nothing: int
    outside: TablesOutside | None

    @property
    def never(self) -> int:
        return self.nothing + (self.outside.in_no_proof if self.outside else 0)

    @property
    def total(self) -> int:
        return self.within + self.past + self.never


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A plan by what its newest proof says of its `tables`, without those that are younger than its promise. `known` of
    them hold every commit up to `until`, None for none; of the others that is not known."""

    card: Card
    until: datetime | None = None
    known: int = 0
    tables: int = 0
    dots: Sequence[Dot] = ()

    @property
    def is_whole(self) -> bool:
        return self.known == self.tables

    @property
    def behind_text(self) -> str:
        return at_most_text(self.card.stands.now - self.until) if self.until else ""

    @property
    def ages_text(self) -> str:
        return f"{self.card.plan.name}: {'; '.join(dot.title for dot in self.dots) or 'not known of any table'}"

    @property
    def goal(self) -> float:
        return place_of(self.card.stands.objective)


@dataclass(frozen=True, slots=True)
class PlanGap:
    """How many tables do not keep the promise of their plan for one cause, and what to do; None: that is not known."""

    cause: str
    tables: int | None
    says: str
    objects: str
    url: str
    act: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """`rows` have the plan first that needs a person most."""

    verdict: Headline | None
    tally: TableTally
    rows: list[PlanRow]
    gaps: list[PlanGap]


def coverage_of(cards: Sequence[Card], outside: TablesOutside | None, now: datetime) -> Coverage:
    """In five queries, however many plans there are."""
    points = _points(cards, now)
    by_table = points.values("s3", "table").annotate(best=Min("worth"))
    numbers = by_table.aggregate(**{f"of{worth}": Count("table", filter=Q(best=worth)) for worth in range(4)})
    within, past, young, nothing = (numbers[f"of{worth}"] or 0 for worth in range(4))
    tally = TableTally(within, past, young, nothing, outside)
    counts, ages = _counts(points), _ages(points, cards, now)
    rows = [_row(card, counts.get(card.plan.pk, {}), ages[card.plan.pk]) for card in sorted(cards, key=_urgency)]
    return Coverage(_verdict(tally, cards), tally, rows, [*_gaps(rows, points), *_gap_outside(outside)])


def _points(cards: Sequence[Card], now: datetime) -> Any:
    """The points of the newest proofs, with their `worth` and the `s3` of their source."""
    by_s3: dict[str, list[int]] = defaultdict(list)
    for card in cards:
        by_s3[card.plan.connection.s3].append(card.plan.pk)
    s3 = Case(*(When(plan__in=plans, then=Value(one)) for one, plans in by_s3.items()), default=Value(""))
    newest = RestorePoint.objects.filter(plan__in=[card.plan.pk for card in cards]).newest()
    return newest.annotate(worth=_worth(cards, now), s3=s3)


def _worth(cards: Sequence[Card], now: datetime) -> Case:
    plans: dict[timedelta, list[int]] = defaultdict(list)
    for card in cards:
        plans[card.stands.objective].append(card.plan.pk)
    late = [Q(plan__in=of, holds_until__lt=now - objective) for objective, of in plans.items()]
    is_late = reduce(or_, late, Q(holds_until=None))
    is_nothing = Q(version=None) & (~Q(state=PointState.TOO_NEW) | is_late)
    is_past = Q(version__isnull=False) & (Q(proof="") | is_late)
    is_young = Q(version=None)
    worth = (When(is_nothing, then=NEVER), When(is_young, then=YOUNG), When(is_past, then=PAST))
    return Case(*worth, default=Value(WITHIN), output_field=IntegerField())


def _counts(points: Any) -> Mapping[int, Mapping[str, Any]]:
    """Of each plan, the tables of its points."""
    counted = points.values("plan_id").annotate(
        tables=Count("pk", filter=~Q(worth=YOUNG)),
        known=Count("pk", filter=_IS_KNOWN),
        until=Min("holds_until", filter=_IS_KNOWN),
    )
    return {row.pop("plan_id"): row for row in counted}


def _ages(points: Any, cards: Sequence[Card], now: datetime) -> Mapping[int, list[tuple[timedelta, bool, int]]]:
    """Of each plan, how far tables of which that is known may be behind, whether that is past the objective, and how
    many are."""
    objectives = {card.plan.pk: card.stands.objective for card in cards}
    ages = defaultdict[int, list[tuple[timedelta, bool, int]]](list)
    slots = points.filter(_IS_KNOWN).values(
        "plan_id", "worth", slot=Substr(Cast("holds_until", TextField()), 1, _TEN_MINUTES)
    )
    for row in slots.annotate(number=Count("pk"), first=Min("holds_until")):
        age = now - row["first"]
        ages[row["plan_id"]].append((age, age > objectives[row["plan_id"]], row["number"]))
    return ages


def _row(card: Card, counts: Mapping[str, Any], ages: Sequence[tuple[timedelta, bool, int]]) -> PlanRow:
    proof, row = card.stands.proof, PlanRow(card, **counts, dots=dots_of(ages))
    return replace(row, until=proof.holds_until) if proof and row.is_whole else row


def _urgency(card: Card) -> tuple[object, ...]:
    """What waits for a person, then what has failed, is late, was never proven, and all else."""
    never = card.stands.proof is None and card.active is None
    order = (card.state == "waiting_for_approval", card.state == "failed", card.stands.is_past, never)
    return *(not one for one in order), card.plan.name


def _verdict(tally: TableTally, cards: Sequence[Card]) -> Headline | None:
    """How many tables keep the promise of their plans, and what needs a person most: first where each table does."""
    worst = verdict_of(cards)
    if worst is None or not tally.total:
        return worst
    of = "" if tally.outside else " of the newest proofs"
    said = f"{tally.within:,} of {tally.total:,} tables{of} can be restored within their objective."
    if tally.within == tally.total:
        said = f"Each of {tally.total:,} tables{of} can be restored within its objective."
    if tally.total == 1:
        said = f"The one table{of} can{'' if tally.within else 'not'} be restored within its objective."
    if worst.state == "healthy":
        state = "attention" if tally.within < tally.total else worst.state
        return Headline(state, said, worst.headline if state == "healthy" else "")
    if tally.within == tally.total:
        return Headline(worst.state, worst.headline, f"{worst.detail} {said}".strip(), worst.url, worst.act)
    return Headline(worst.state, said, f"{worst.headline} {worst.detail}".strip(), worst.url, worst.act)


def _gaps(rows: Sequence[PlanRow], points: Any) -> list[PlanGap]:
    """By plan and cause, the plan first that needs a person most. What waits or has failed is why no proof is newer."""
    is_cause = {
        "not_kept": Q(version__isnull=False, proof=""),
        "nothing": Q(version=None),
        "blocked": Q(blocked_total__gt=0, accepted_version__gt=F("version")),
        "doubtful": Q(accepted_version=None) & ~Q(state=PointState.PROVEN),
        "unknown": Q(holds_until=None),
    }
    cause = Case(*(When(one, then=Value(name)) for name, one in is_cause.items()), default=Value("late"))
    found = points.exclude(worth__in=KEPT).values("plan_id", cause=cause)
    causes = defaultdict[int, dict[str, Mapping[str, Any]]](dict)
    told = {"number": Count("pk"), "example": Min("table"), "says": Min("sentence"), "why": Min("not_kept")}
    for one in found.annotate(**told):
        causes[one["plan_id"]][one["cause"]] = one
    gaps = list[PlanGap]()
    for row in rows:
        of_plan = causes[row.card.plan.pk]
        if of_run := _gap_of_run(row, of_plan.get("late")):
            gaps.append(of_run)
            of_plan.pop("late", None)
        gaps += [_gap(row, of_plan[cause]) for cause in CAUSES if cause in of_plan]
    return gaps


def _gap_of_run(row: PlanRow, late: Mapping[str, Any] | None) -> PlanGap | None:
    """Why nothing newer is proven of these tables, or of any; None where nothing has to be, or it is no run's doing."""
    run, name, number = row.card.newest, row.card.plan.name, late["number"] if late else None
    if run is None or (late is None and row.card.stands.proof):
        return None
    if run.state == RunState.WAITING_FOR_APPROVAL:
        some = f"{run.objects_planned:,} object{'' if run.objects_planned == 1 else 's'}"
        objects = f"{some}, {file_size(run.bytes_planned)}"
        return PlanGap(
            "The copy waits for approval", number, f"{name}: {run.sentence}", objects, run_url(run), "Decide"
        )
    if run.state == RunState.FAILED:
        return PlanGap("The newest run failed", number, f"{name}: {run.sentence}", "", *way_on(run))
    return None


def _gap(row: PlanRow, one: Mapping[str, Any]) -> PlanGap:
    name, number, example, proof = row.card.plan.name, one["number"], one["example"], row.card.stands.proof
    if number == 1:
        url = f"{reverse('tables')}?{urlencode({'q': example})}"
        says = one["why"] if one["cause"] == "not_kept" else one["says"]
        return PlanGap(CAUSES[one["cause"]], 1, f"{name}, {example}: {says}", "", url, "See the table")
    said = f"{name}: {number:,} tables, such as {example}."
    return PlanGap(CAUSES[one["cause"]], number, said, "", run_url(proof) if proof else "", "See the run")


def _gap_outside(outside: TablesOutside | None) -> list[PlanGap]:
    if not outside or not outside.in_no_proof:
        return []
    said = "A plan takes them. Where a run of it has ended since they were made, its list of objects lacked them."
    url = f"{reverse('tables')}?{urlencode({'plan': IN_NO_PROOF})}"
    return [PlanGap("In no proof", outside.in_no_proof, said, "", url, "See the tables")]
