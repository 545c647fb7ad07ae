"""What of a table can be restored now, as the list of tables and the page of one show it."""

import shlex
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.urls import reverse

from backups.destinations import is_copy_of
from backups.models import Plan, PointState, RestorePoint
from backups.queries.cards import next_due
from backups.queries.drawings import Bar
from backups.queries.rows import Headline, age_text, at_most_text
from dashboard.connections import protection
from dashboard.connections.models import Connection
from dashboard.connections.protection import Backups, PlanSource, Restorable, SeenTable, Visible
from dashboard.web.states import look_of
from dashboard.web.text import exact, headline
from lake.backup.objects import place_of

MOST_POINTS = 30
"""Restore points of one table that its page shows, and stretches of versions that it draws of each."""
KEPT_OF_AN_ID = 64
"""Characters of a table's id that are known of it as it was last seen."""
EARLIER, ANOTHER, NOT_SHOWN = "earlier", "another_table", "not_shown"
_WITH_A_VERSION = (PointState.PROVEN, PointState.BEHIND, EARLIER)
_BEST_FIRST = (*_WITH_A_VERSION, PointState.TOO_NEW, PointState.UNPROVABLE, ANOTHER)
_LARGE = ("ranges", "moments", "unpublished", "blocked", "problems")
"""What no list reads of a point."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A restore point and what it is worth now. Every commit that S3 was given before `until` is in its version; None
    where that is not known."""

    point: RestorePoint
    said: Headline
    until: datetime | None = None

    @property
    def worth(self) -> tuple[object, ...]:
        """The higher, the rather the table is restored from it."""
        is_known = self.until is not None
        when = self.until or self.point.proven_at
        return -_BEST_FIRST.index(self.said.state), self.point.version or 0, is_known, when, self.point.proven_at


@dataclass(frozen=True, slots=True)
class PointRow:
    """One restore point. `is_told` is whether the verdict has said its sentence; `more` counts the blocking files
    without a name."""

    judged: Judged
    is_told: bool
    bars: list[Bar]
    versions: str
    more: int


@dataclass(frozen=True, slots=True)
class TablePage:
    """What can be restored of one table. `lake` are the bars of its own log, `ends` those of the axis, None without
    any version. `plans` take the table: each with when it runs next by itself. `is_taken` is whether any plan takes it,
    also one that is out of sight; `left_out` counts restore points beyond MOST_POINTS,
    which `command` lists too."""

    verdict: Headline
    rows: list[PointRow]
    lake: list[Bar]
    ends: tuple[int, int] | None
    plans: list[tuple[Plan, datetime | None]]
    is_taken: bool
    left_out: int
    command: str


def restorable_of(tables: Sequence[SeenTable], visible: Visible, now: datetime) -> list[Restorable]:
    """In two queries, however many tables there are."""
    plans, points = _all_plans(), defaultdict[str, list[RestorePoint]](list)
    for point in _points([table.uri for table in tables], visible).defer(*_LARGE):
        points[point.table].append(point)
    return [_restorable(table, _taking(table, plans), points[table.uri], visible, now) for table in tables]


def page_of(table: SeenTable, visible: Visible, now: datetime) -> TablePage:
    """Restore points with the best first; of plans out of sight, neither they nor their points."""
    taking, judged = _taking(table, _all_plans()), _judged(table, list(_points([table.uri], visible)), now)
    shown, verdict = judged[:MOST_POINTS], _verdict(taking, judged, visible)
    ends = [end for one in shown for stretch in one.point.ranges for end in stretch]
    ends += [end for end in (table.oldest, table.published, table.accepted) if end is not None]
    axis = (min(ends), max(ends)) if ends else None
    told = f"{verdict.headline} {verdict.detail}"
    return TablePage(
        verdict,
        [_row(one, one.point.sentence in told, axis) for one in shown],
        _lake(table, axis),
        axis,
        [(plan, next_due(plan, now)) for plan in taking if _is_in_sight(plan, visible)],
        bool(taking),
        len(judged) - len(shown),
        shlex.join(["levee", "backup", "points", "--table", table.uri]),
    )


def plans(visible: Visible) -> list[str]:
    return list(_in_sight(visible).order_by("name").values_list("name", flat=True))


def sources(plan: str, visible: Visible) -> list[PlanSource]:
    found = Plan.objects.filter(name=plan) if plan else _in_sight(visible)
    return [_source(one) for one in found.select_related("connection")]


def proven(s3: str, visible: Visible) -> "QuerySet[RestorePoint]":
    connections = [one.pk for one in Connection.objects.all() if one.s3 == s3]
    return RestorePoint.objects.filter(plan__in=_in_sight(visible).filter(connection__in=connections)).newest()


def _in_sight(visible: Visible) -> "QuerySet[Plan]":
    if visible is None:
        return Plan.objects.all()
    return Plan.objects.filter(Q(connection__in=visible) | Q(vault_connection__in=visible))


def _is_in_sight(plan: Plan, visible: Visible) -> bool:
    return visible is None or not visible.isdisjoint({plan.connection_id, plan.vault_connection_id})


def _points(uris: Sequence[str], visible: Visible) -> "QuerySet[RestorePoint]":
    return RestorePoint.objects.filter(table__in=uris, plan__in=_in_sight(visible)).select_related("plan__connection")


def _all_plans() -> list[tuple[PlanSource, Plan]]:
    return [(_source(plan), plan) for plan in Plan.objects.select_related("connection")]


def _taking(table: SeenTable, plans: Sequence[tuple[PlanSource, Plan]]) -> list[Plan]:
    return [plan for source, plan in plans if source.takes(table)]


def _source(plan: Plan) -> PlanSource:
    place = place_of(plan.source)
    return PlanSource(plan.connection.s3, place.bucket, place.prefix)


def _is_of_this(table: SeenTable, point: RestorePoint) -> bool | None:
    """Whether the point is of the table as it was last seen; None where one of the two has no known id."""
    if not table.incarnation or not point.incarnation:
        return None
    return point.incarnation[:KEPT_OF_AN_ID] == table.incarnation


def _judged(table: SeenTable, points: Sequence[RestorePoint], now: datetime) -> list[Judged]:
    """The points of this place, the best first."""
    here = [point for point in points if point.plan.connection.s3 == table.s3]
    known = [one.accepted_version for one in here if _is_of_this(table, one) is not False]
    newest = max((version for version in (*known, table.accepted) if version is not None), default=None)
    return sorted((_judge(table, point, newest, now) for point in here), key=lambda one: one.worth, reverse=True)


def _judge(table: SeenTable, point: RestorePoint, newest: int | None, now: datetime) -> Judged:
    """What a point is worth; `newest` is the newest version that was ever seen accepted."""
    is_of_this, plan = _is_of_this(table, point), point.plan
    if is_of_this is False:
        return Judged(point, Headline(ANOTHER, "It is of another table at this place."))
    if not _source(plan).takes(table) or not is_copy_of(plan.destination, point.destination):
        changed = f"The plan {plan.name} was changed since then: it adds nothing to this copy."
        state, said = PointState.BEHIND, f"Version {point.version} could be restored when that was proven."
        if point.version is None:
            state, said = PointState.UNPROVABLE, "Nothing of this table is proven."
        return Judged(point, Headline(state, said, changed))
    if point.version is None:
        return Judged(point, _without_version(point, now))
    version = f"Version {point.version:,}"
    if point.earlier:
        return Judged(point, Headline(EARLIER, f"{version} could be restored when that was proven.", point.sentence))
    if not point.proof:
        said = f"{version} could be restored when that was proven; no restore point is kept."
        return Judged(point, Headline(PointState.BEHIND, said, point.not_kept))
    if is_of_this is None:
        said = f"{version} can be restored; whether it is of this table is not known."
        return Judged(point, Headline(PointState.BEHIND, said))
    return _how_far(table, point, newest, version, now)


def _without_version(point: RestorePoint, now: datetime) -> Headline:
    """What a point of which nothing can be restored says, as long as that holds."""
    objective = timedelta(hours=point.plan.objective_hours)
    if point.state == PointState.TOO_NEW and (point.holds_until is None or now - point.holds_until > objective):
        return Headline(PointState.UNPROVABLE, "Nothing of this table is proven; at the last proof it was too new.")
    return Headline(point.state, *headline(point.sentence, f"{look_of(point.state).word}."))


def _how_far(table: SeenTable, point: RestorePoint, newest: int | None, version: str, now: datetime) -> Judged:
    """By what is the most that the point can lack. A look that saw no newer version says as much as a proof: up to
    then there was none."""
    seen_at, until, own = table.seen_at, point.holds_until, point.version or 0
    if seen_at and seen_at > point.proven_at and table.accepted is not None and table.accepted < own:
        back = f"{version} can be restored; the table has been set back since, to version {table.accepted:,}."
        return Judged(point, Headline(PointState.BEHIND, back), until)
    is_newest = point.anchored and point.accepted_version is not None and table.accepted == own == newest
    if seen_at and is_newest:
        until = max(until or seen_at, seen_at)
    objective = timedelta(hours=point.plan.objective_hours)
    if until is None:
        return Judged(point, Headline(PointState.BEHIND, f"{version} can be restored; how far behind is not known."))
    state = PointState.BEHIND if now - until > objective else PointState.PROVEN
    lacking = 0 if newest is None else newest - own
    said = f"{version} can be restored, {_versions(lacking)}at most {at_most_text(now - until)} behind."
    if seen_at and is_newest and state == PointState.PROVEN:
        said = f"{version}, the newest that was seen, can be restored."
    return Judged(point, Headline(state, said, f"The objective is {age_text(objective)}."), until)


def _versions(lacking: int) -> str:
    return f"{lacking:,} version{'' if lacking == 1 else 's'} and " if lacking > 0 else ""


def _restorable(
    table: SeenTable, taking: Sequence[Plan], points: Sequence[RestorePoint], visible: Visible, now: datetime
) -> Restorable:
    judged = _judged(table, points, now)
    said = _said(taking, judged, visible)
    says = f"{said.headline} {said.detail}".strip()
    if said.state not in _WITH_A_VERSION:
        return Restorable(said.state, says)
    point = judged[0].point
    return Restorable(said.state, says, point.version, point.committed_at, is_kept=bool(point.proof))


def _said(taking: Sequence[Plan], judged: Sequence[Judged], visible: Visible) -> Headline:
    """What the best point says, or why there is none."""
    state = judged[0].said.state if judged else None
    if state not in _WITH_A_VERSION and not all(_is_in_sight(plan, visible) for plan in taking):
        return Headline(NOT_SHOWN, "A plan that you may not see takes this table.", "What it has proven is not shown.")
    if state == ANOTHER:
        said = "Nothing of this table is proven; what was proven here is of another table."
        return Headline(PointState.UNPROVABLE, said)
    if judged:
        return judged[0].said
    if taking:
        return Headline("not_proven_yet", "No run has proven this table.")
    return Headline("no_plan", "No backup plan takes this table.")


def _verdict(taking: Sequence[Plan], judged: Sequence[Judged], visible: Visible) -> Headline:
    said = _said(taking, judged, visible)
    if said.state not in _WITH_A_VERSION:
        return said
    point = judged[0].point
    files = f"{point.files:,} data file{'' if point.files == 1 else 's'}"
    proven = f"Proven {exact(point.proven_at)} by {point.plan.name}, with {files} in {point.destination}."
    url = reverse("backup-run", args=[point.run_id])
    return Headline(said.state, said.headline, f"{proven} {said.detail}".strip(), url, "See the run")


def _row(judged: Judged, is_told: bool, axis: tuple[int, int] | None) -> PointRow:
    point, stretches = judged.point, judged.point.ranges[-MOST_POINTS:]
    bars = [_bar(start, end, axis, "proven") for start, end in stretches] if axis else []
    said = ", ".join(f"{start:,}" if start == end else f"{start:,} to {end:,}" for start, end in stretches)
    if len(stretches) < len(point.ranges):
        said = f"{len(point.ranges) - len(stretches):,} stretches more, {said}"
    return PointRow(judged, is_told, bars, said, point.blocked_total - len(point.blocked))


def _lake(table: SeenTable, axis: tuple[int, int] | None) -> list[Bar]:
    """Only where its log was read: what is accepted goes on from there."""
    if axis is None or table.oldest is None or table.published is None:
        return []
    bars = [_bar(table.oldest, table.published, axis, "some")]
    if table.accepted is not None and table.accepted > table.published:
        bars.append(_bar(table.published + 1, table.accepted, axis, "ahead"))
    return bars


def _bar(start: int, end: int, axis: tuple[int, int], css: str) -> Bar:
    """One version is at least as wide as can be seen."""
    unit = 100 / (axis[1] - axis[0] + 1)
    width = max((end - start + 1) * unit, 0.5)
    return Bar(round(min((start - axis[0]) * unit, 100 - width), 2), round(width, 2), css)


protection.register(Backups(restorable_of, page_of, plans, sources, proven))
