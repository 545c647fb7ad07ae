"""What of a table can be restored, as the list of tables and the page of one show it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.urls import reverse

from backups.destinations import is_copy_of
from backups.models import Plan, PointState, RestorePoint
from backups.queries.cards import next_due
from backups.queries.rows import Headline, age_text
from dashboard.connections import protection
from dashboard.connections.protection import PlanSource, Restorable, SeenTable
from dashboard.web.states import look_of
from dashboard.web.text import exact, headline
from lake.backup.objects import place_of

MOST_POINTS = 30
"""Restore points of one table that its page shows."""
_LARGE = ("ranges", "unpublished", "blocked", "problems")
"""What no list reads of a point."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of versions, in hundredths of the axis; `css` says what of it."""

    x: float
    width: float
    css: str


@dataclass(frozen=True, slots=True)
class PointRow:
    """One restore point. `is_of_this` is False where it is of another table that was there before, None where that is
    not known; `more` counts the blocking files that are not named."""

    point: RestorePoint
    is_of_this: bool | None
    bars: list[Bar]
    versions: str
    more: int


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A plan that takes the table, and when it runs next by itself."""

    plan: Plan
    due: datetime | None


@dataclass(frozen=True, slots=True)
class TablePage:
    """What can be restored of one table. `lake` are the bars of its own log, `first` and `last` the ends of the axis.
    `is_taken` is whether any plan takes it, also one that is out of sight; `left_out` counts restore points beyond
    MOST_POINTS."""

    verdict: Headline
    rows: list[PointRow]
    lake: list[Bar]
    first: int
    last: int
    plans: list[PlanRow]
    is_taken: bool
    left_out: int


def restorable_of(tables: Sequence[SeenTable], visible: frozenset[int] | None, now: datetime) -> list[Restorable]:
    """In two queries, however many tables there are."""
    plans, points = _all_plans(), defaultdict[str, list[RestorePoint]](list)
    for point in _points([table.uri for table in tables], visible).defer(*_LARGE):
        points[point.table].append(point)
    return [_restorable(table, _taking(table, plans), points[table.uri], now) for table in tables]


def page_of(table: SeenTable, visible: frozenset[int] | None, now: datetime) -> TablePage:
    """Restore points with the best first; of plans out of sight, neither they nor their points."""
    points = list(_points([table.uri], visible))
    taking = _taking(table, _all_plans())
    points.sort(key=lambda point: (_rank(table, point), point.proven_at), reverse=True)
    shown = points[:MOST_POINTS]
    ends = [end for point in shown for one in point.ranges for end in one]
    ends += [end for end in (table.oldest, table.published, table.accepted) if end is not None]
    first, last = min(ends, default=0), max(ends, default=0)
    in_sight = set(_in_sight(Plan.objects.all(), visible).values_list("pk", flat=True))
    return TablePage(
        _verdict(table, taking, points, now),
        [_row(table, point, first, last) for point in shown],
        _lake(table, first, last),
        first,
        last,
        [PlanRow(plan, next_due(plan, now)) for plan in taking if plan.pk in in_sight],
        bool(taking),
        len(points) - len(shown),
    )


def plans(visible: frozenset[int] | None) -> list[str]:
    return list(_in_sight(Plan.objects.order_by("name"), visible).values_list("name", flat=True))


def sources(plan: str) -> list[PlanSource]:
    found = Plan.objects.filter(name=plan) if plan else Plan.objects.all()
    return [_source(one) for one in found.select_related("connection")]


def _in_sight(plans: "QuerySet[Plan]", visible: frozenset[int] | None) -> "QuerySet[Plan]":
    if visible is None:
        return plans
    return plans.filter(Q(connection__in=visible) | Q(vault_connection__in=visible))


def _points(uris: Sequence[str], visible: frozenset[int] | None) -> "QuerySet[RestorePoint]":
    found = RestorePoint.objects.filter(table__in=uris, plan__in=_in_sight(Plan.objects.all(), visible))
    return found.select_related("plan__connection", "run")


def _all_plans() -> list[tuple[PlanSource, Plan]]:
    return [(_source(plan), plan) for plan in Plan.objects.select_related("connection")]


def _taking(table: SeenTable, plans: Sequence[tuple[PlanSource, Plan]]) -> list[Plan]:
    return [plan for source, plan in plans if source.takes(table)]


def _source(plan: Plan) -> PlanSource:
    place = place_of(plan.source)
    return PlanSource(plan.connection.endpoint_url.rstrip("/"), place.bucket, place.prefix)


def _is_of_this(table: SeenTable, point: RestorePoint) -> bool | None:
    """Whether the point is of the table as it is now; None where one of the two has no known id."""
    if not table.incarnation or not point.incarnation:
        return None
    return table.incarnation == point.incarnation


def _rank(table: SeenTable, point: RestorePoint) -> tuple[bool, bool, int]:
    """The higher, the better to restore the table from: of this table, not set aside, of a newer version."""
    return _is_of_this(table, point) is not False, not point.earlier, -1 if point.version is None else point.version


def _best(table: SeenTable, points: Sequence[RestorePoint]) -> RestorePoint | None:
    """The point with the newest version of this table; None where nothing of it can be restored."""
    own = [point for point in points if point.version is not None and _is_of_this(table, point) is not False]
    return max(own, key=lambda point: _rank(table, point), default=None)


def _has_newest(table: SeenTable, point: RestorePoint, points: Sequence[RestorePoint]) -> bool:
    """Whether no commit is known, of any time, that the point does not have."""
    known = [one.accepted_version for one in points if _is_of_this(table, one) and one.accepted_version is not None]
    is_judged = bool(_is_of_this(table, point)) and point.anchored and not point.earlier
    is_compared = point.accepted_version is not None and table.accepted is not None
    return is_judged and is_compared and (point.version or 0) >= max([*known, table.accepted or 0])


def _restorable(table: SeenTable, taking: Sequence[Plan], points: Sequence[RestorePoint], now: datetime) -> Restorable:
    point = _best(table, points)
    if point is None:
        state, says = _why_none(table, taking, points)
        return Restorable(state, says)
    found = _how_far(table, point, points, now)
    return Restorable(found.state, f"{found.headline} {found.detail}".strip(), point.version, point.committed_at)


def _how_far(table: SeenTable, point: RestorePoint, points: Sequence[RestorePoint], now: datetime) -> Headline:
    """By what is the most that the point can lack; its plan has to be as it was."""
    version, plan, objective = f"Version {point.version:,}", point.plan, timedelta(hours=point.plan.objective_hours)
    if not _source(plan).takes(table) or not is_copy_of(plan.destination, point.destination):
        changed = f"The plan {plan.name} was changed since then: it adds nothing to this copy."
        return Headline(PointState.BEHIND, f"{version} can be restored.", changed)
    if _is_of_this(table, point) is None:
        return Headline(PointState.BEHIND, f"{version} can be restored; whether it is of this table is not known.")
    if point.earlier:
        return Headline(PointState.BEHIND, f"{version} can be restored, from an earlier restore point.", point.sentence)
    if _has_newest(table, point, points):
        return Headline(PointState.PROVEN, f"{version}, the newest that is known, can be restored.")
    if point.holds_until is None:
        return Headline(PointState.BEHIND, f"{version} can be restored; how far behind it is is not known.")
    behind, allowed = now - point.holds_until, f"{age_text(objective)} are allowed."
    if behind > objective:
        return Headline(PointState.BEHIND, f"{version} can be restored; it may be {age_text(behind)} behind.", allowed)
    return Headline(PointState.PROVEN, f"{version} can be restored, at most {age_text(behind)} behind.", allowed)


def _why_none(table: SeenTable, taking: Sequence[Plan], points: Sequence[RestorePoint]) -> tuple[str, str]:
    judged = [point for point in points if _is_of_this(table, point) is not False]
    if judged:
        newest = max(judged, key=lambda point: point.proven_at)
        return newest.state, newest.sentence
    if points:
        return PointState.UNPROVABLE, "Nothing of this table is proven: what was proven here is of one before it."
    if taking:
        return "not_started", "Nothing is proven yet: no run of a plan that takes this table has come so far."
    return "no_plan", "No backup plan takes this table."


def _verdict(table: SeenTable, taking: Sequence[Plan], points: Sequence[RestorePoint], now: datetime) -> Headline:
    point = _best(table, points)
    if point is None:
        state, says = _why_none(table, taking, points)
        return Headline(state, *headline(says, f"{look_of(state).word}."))
    found = _how_far(table, point, points, now)
    files = f"{point.files:,} data file{'' if point.files == 1 else 's'}"
    detail = (
        f"{found.detail} Proven {exact(point.proven_at)} by {point.plan.name}, with {files} in {point.destination}."
    )
    if point.not_kept:
        detail += f" It has no restore point of its own, so the next run may replace it: {point.not_kept}"
    return Headline(
        found.state, found.headline, detail.strip(), reverse("backup-run", args=[point.run_id]), "See the run"
    )


def _row(table: SeenTable, point: RestorePoint, first: int, last: int) -> PointRow:
    bars = [_bar(start, end, first, last, "proven") for start, end in point.ranges]
    said = ", ".join(f"{start:,}" if start == end else f"{start:,} to {end:,}" for start, end in point.ranges)
    return PointRow(point, _is_of_this(table, point), bars, said, point.blocked_total - len(point.blocked))


def _lake(table: SeenTable, first: int, last: int) -> list[Bar]:
    bars, published = [], table.published
    if table.oldest is not None and published is not None:
        bars.append(_bar(table.oldest, published, first, last, "some"))
    if table.accepted is not None and table.accepted > (-1 if published is None else published):
        bars.append(_bar(0 if published is None else published + 1, table.accepted, first, last, "ahead"))
    return bars


def _bar(start: int, end: int, first: int, last: int, css: str) -> Bar:
    """One version is at least as wide as can be seen."""
    unit = 100 / (last - first + 1)
    width = max((end - start + 1) * unit, 0.5)
    return Bar(round(min((start - first) * unit, 100 - width), 2), round(width, 2), css)


class _Backups:
    restorable_of = staticmethod(restorable_of)
    page_of = staticmethod(page_of)
    plans = staticmethod(plans)
    sources = staticmethod(sources)


protection.register(_Backups())
