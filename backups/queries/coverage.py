"""How many tables can be restored as their plans promise, by the newest proof of each: for the page of all plans."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any
from urllib.parse import urlencode

from django.db.models import Case, Count, Exists, IntegerField, Min, OuterRef, Q, TextField, Value, When
from django.db.models.functions import Cast, Substr
from django.urls import reverse

from backups.models import PointState, RestorePoint, Run, RunState
from backups.queries.cards import Card, next_due, verdict_of
from backups.queries.drawings import Dot, dots_of, place_of
from backups.queries.rows import Headline, age_text, run_url, way_on
from dashboard.connections.protection import NOT_PROVEN_YET, TablesOutside
from dashboard.web.text import file_size

WITHIN, PAST, YOUNG, NEVER = range(4)
"""What a restore point is worth now, the best first: it keeps the promise of its plan, something can be restored,
nothing can yet of a table that is younger than the promise, nothing can."""
KEPT = (WITHIN, YOUNG)
"""Break no promise."""
_TEN_MINUTES = 15
"""Characters of a time as text up to its tens of minutes; both databases write it alike, in UTC."""
CAUSES = {
    "nothing": "No version can be restored",
    "not_kept": "No restore point is kept",
    "blocked": "Files are not in the backup",
    "unknown": "How far behind is not known",
    "late": "The newest proof is too old",
}
"""Why a restore point does not keep the promise of its plan."""


@dataclass(frozen=True, slots=True)
class TableTally:
    """Tables, each once however many plans take it, by the best of their points. `outside` are those of no point, None
    where there are too many to look at each."""

    within: int
    past: int
    nothing: int
    outside: TablesOutside | None

    @property
    def never(self) -> int:
        return self.nothing + (self.outside.not_proven_yet if self.outside else 0)

    @property
    def total(self) -> int:
        return self.within + self.past + self.never


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A plan by what its newest proof says of its tables. `until` is the moment up to which each of `restorable` tables
    holds all commits, None where that is known of none; `failing` do not keep the promise of the plan."""

    card: Card
    due: datetime | None
    until: datetime | None = None
    restorable: int = 0
    tables: int = 0
    failing: int = 0
    dots: Sequence[Dot] = ()

    @property
    def behind_text(self) -> str:
        return age_text(self.card.stands.now - self.until) if self.until else ""

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
    by_table = points.order_by().values("table").annotate(best=Min("worth"))
    numbers = by_table.aggregate(**{f"of{worth}": Count("table", filter=Q(best=worth)) for worth in range(4)})
    within, past, young, nothing = (numbers[f"of{worth}"] or 0 for worth in range(4))
    tally = TableTally(within + young, past, nothing, outside)
    counts, ages = _counts(points), _ages(points, now)
    rows = [_row(card, counts.get(card.plan.pk, {}), ages[card.plan.pk], now) for card in sorted(cards, key=_urgency)]
    return Coverage(_verdict(tally, cards), tally, rows, [*_gaps(rows, points), *_gap_outside(outside)])


def _points(cards: Sequence[Card], now: datetime) -> Any:
    """The points of the tables that the newest proof of each plan found, some proven anew since, each with its `worth`.
    Those of tables that were not there any more stay as they were, and count no more."""
    made_at = {card.plan.pk: card.stands.proof.created_at for card in cards if card.stands.proof}
    runs = Run.objects.filter(plan__in=made_at, created_at__gte=min(made_at.values(), default=now)).order_by()
    found = runs.filter(Exists(RestorePoint.objects.filter(run=OuterRef("pk")))).values_list(
        "pk", "plan_id", "created_at"
    )
    counted = [run for run, plan, created_at in found if created_at >= made_at[plan]]
    return RestorePoint.objects.filter(run__in=counted, earlier="").annotate(worth=_worth(cards, now))


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
    rows = points.order_by().values("plan_id")
    has_one = ~Q(worth=NEVER)
    counted = rows.annotate(
        tables=Count("pk"),
        restorable=Count("pk", filter=has_one),
        failing=Count("pk", filter=~Q(worth__in=KEPT)),
        until=Min("holds_until", filter=has_one),
    )
    return {row.pop("plan_id"): row for row in counted}


def _ages(points: Any, now: datetime) -> Mapping[int, list[tuple[timedelta, bool, int]]]:
    """Of each plan, how far the tables of which something can be restored may be behind, whether that is past the
    objective, and how many are."""
    ages = defaultdict[int, list[tuple[timedelta, bool, int]]](list)
    known = points.filter(version__isnull=False, holds_until__isnull=False).order_by()
    slots = known.values("plan_id", "worth", slot=Substr(Cast("holds_until", TextField()), 1, _TEN_MINUTES))
    for row in slots.annotate(number=Count("pk"), first=Min("holds_until")):
        ages[row["plan_id"]].append((now - row["first"], row["worth"] != WITHIN, row["number"]))
    return ages


def _row(card: Card, counts: Mapping[str, Any], ages: Sequence[tuple[timedelta, bool, int]], now: datetime) -> PlanRow:
    proof, due = card.stands.proof, next_due(card.plan, now)
    if proof is None:
        return PlanRow(card, due)
    counted = {"tables": 0, "restorable": 0, **counts}
    if counted["restorable"] == counted["tables"]:
        counted["until"] = proof.holds_until
    return PlanRow(card, due, **counted, dots=dots_of(ages))


def _urgency(card: Card) -> tuple[object, ...]:
    """What waits for a person, then what has failed, is late, was never proven, and all else."""
    order = ("waiting_for_approval", "failed", "attention", "not_started")
    return order.index(card.state) if card.state in order else len(order), card.plan.name


def _verdict(tally: TableTally, cards: Sequence[Card]) -> Headline | None:
    """How many tables keep the promise of their plans, and below it what needs a person most."""
    worst = verdict_of(cards)
    if worst is None or not tally.total:
        return worst
    of = "" if tally.outside else " of the newest proofs"
    said = f"{tally.within:,} of {tally.total:,} tables{of} can be restored within their objective."
    if tally.within == tally.total:
        said = f"Each of {tally.total:,} tables{of} can be restored within its objective."
    if tally.total == 1:
        said = f"The one table{of} can{'' if tally.within else 'not'} be restored within its objective."
    state = "attention" if worst.state == "healthy" and tally.within < tally.total else worst.state
    return Headline(state, said, f"{worst.headline} {worst.detail}".strip(), worst.url, worst.act)


def _gaps(rows: Sequence[PlanRow], points: Any) -> list[PlanGap]:
    """By plan and cause, the plan first that needs a person most. What waits or has failed is why no proof is newer."""
    is_cause = {
        "not_kept": Q(version__isnull=False, proof=""),
        "nothing": Q(version=None),
        "blocked": Q(blocked_total__gt=0),
        "unknown": Q(holds_until=None),
    }
    cause = Case(*(When(one, then=Value(name)) for name, one in is_cause.items()), default=Value("late"))
    found = points.exclude(worth__in=KEPT).order_by().values("plan_id", cause=cause)
    causes = defaultdict[int, list[Mapping[str, Any]]](list)
    for one in found.annotate(number=Count("pk"), table=Min("table"), sentence=Min("sentence")):
        causes[one["plan_id"]].append(one)
    gaps = list[PlanGap]()
    for row in rows:
        of_run = _gap_of_run(row)
        gaps += of_run
        shown = [one for one in causes[row.card.plan.pk] if not of_run or one["cause"] != "late"]
        gaps += [_gap(row, one) for one in sorted(shown, key=lambda one: list(CAUSES).index(one["cause"]))]
    return gaps


def _gap_of_run(row: PlanRow) -> list[PlanGap]:
    run, name, failing = row.card.newest, row.card.plan.name, row.failing if row.card.stands.proof else None
    if run and run.state == RunState.WAITING_FOR_APPROVAL:
        objects = (
            f"{run.objects_planned:,} object{'' if run.objects_planned == 1 else 's'}, {file_size(run.bytes_planned)}"
        )
        return [
            PlanGap("The copy waits for approval", failing, f"{name}: {run.sentence}", objects, run_url(run), "Decide")
        ]
    if run and run.state == RunState.FAILED:
        return [PlanGap("The newest run failed", failing, f"{name}: {run.sentence}", "", *way_on(run))]
    return []


def _gap(row: PlanRow, one: Mapping[str, Any]) -> PlanGap:
    name, number, proof = row.card.plan.name, one["number"], row.card.stands.proof
    if number == 1:
        url = f"{reverse('tables')}?{urlencode({'q': one['table']})}"
        return PlanGap(CAUSES[one["cause"]], 1, f"{name}, {one['table']}: {one['sentence']}", "", url, "See the table")
    said = f"{name}: {number:,} of {row.tables:,} tables, such as {one['table']}."
    return PlanGap(CAUSES[one["cause"]], number, said, "", run_url(proof) if proof else "", "See the run")


def _gap_outside(outside: TablesOutside | None) -> list[PlanGap]:
    if not outside or not outside.not_proven_yet:
        return []
    said = "A plan takes them. If a run of it has ended since they were made, its inventory lacks them."
    url = f"{reverse('tables')}?{urlencode({'plan': NOT_PROVEN_YET})}"
    return [PlanGap("No run has proven them", outside.not_proven_yet, said, "", url, "See the tables")]
