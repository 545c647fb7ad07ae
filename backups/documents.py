"""Plans and runs as the JSON that commands print."""

from datetime import datetime
from decimal import Decimal
from typing import TypeVar, cast

from django.db.models import Count, Model, Q
from django.utils import timezone

from backups.contract import (
    CopyJobDocument,
    FailureDocument,
    ObjectiveDocument,
    PlanJson,
    PointJson,
    RunJson,
    RunSummary,
    StageDocument,
)
from backups.destinations import is_pool
from backups.models import FailureGroup, Plan, RestorePoint, Run, RunState
from backups.queries.rows import standing
from backups.retention import kept_as

Shape = TypeVar("Shape")


def run_document(run: Run) -> RunJson:
    """All of a run. `inventory` is null where the source is listed; money is in USD, sizes in bytes."""
    return _document(
        run,
        RunJson,
        **run_summary(run),
        requested_by=run.requested_by_name,
        retry_of=str(run.retry_of_id) if run.retry_of_id else None,
        estimate=run.estimate_lines,
        approved_by=run.approved_by_name,
        stages=[_document(row, StageDocument) for row in run.stages.all()],
        copy_jobs=[_document(row, CopyJobDocument) for row in run.copy_jobs.all()],
        failures=[failure_document(group) for group in run.failures.all()],
        points=run.tables.get("points", {}),
    )


def run_summary(run: Run) -> RunSummary:
    """What a list of runs shows."""
    return _document(
        run, RunSummary, id=str(run.pk), plan=run.plan.name, inventory=run.inventory or None, objects=run.counts
    )


def failure_document(group: FailureGroup) -> FailureDocument:
    return _document(group, FailureDocument, objects=group.object_count)


def stored_point(point: RestorePoint) -> PointJson:
    """A stored restore point."""
    plan, run, absent = point.plan.name, str(point.run_id), dict.fromkeys(("last_checked_at", "last_drill_at"))
    told = {"proof": point.proof or None, "earlier": bool(point.earlier)}
    return _document(point, PointJson, id=str(point.pk), plan=plan, run=run, **told, **absent)


def plan_document(plan: Plan) -> PlanJson:
    """A plan as a file would declare it, with its last run and its copies without gaps, newest first."""
    last, kept = plan.runs.first(), copies_of(plan)
    return _document(
        plan,
        PlanJson,
        connection=plan.connection.name,
        vault_connection=plan.vault_connection.name,
        last_run=run_summary(last) if last else None,
        objective=objective_document(plan, timezone.now()),
        copies=[{"cut_off": moment, "kept_as": list(names)} for moment, names in kept.items()],
    )


def objective_document(plan: Plan, now: datetime) -> ObjectiveDocument:
    """How a plan stands by the points of its newest proof, and of runs since then that have not ended."""
    stands = standing(plan, now)
    newest = plan.points.filter(earlier="")
    points = newest.filter(run__created_at__gte=stands.proof.created_at) if stands.proof else newest.none()
    young = Q(version__isnull=False, holds_until__gt=now - stands.objective)
    counts = points.aggregate(tables=Count("pk"), proven=Count("pk", filter=young))
    behind = stands.behind
    return ObjectiveDocument(
        state="never" if stands.proof is None else "past" if stands.is_past else "within",
        hours=plan.objective_hours,
        tables=counts["tables"],
        proven=counts["proven"],
        worst_age_seconds=None if behind is None else int(behind.total_seconds()),
    )


def _document(row: Model, shape: type[Shape], **told: object) -> Shape:
    """What a document of this shape says: what is `told`, and of the others the fields of the same name."""
    found = {name: told[name] if name in told else _plain(getattr(row, name)) for name in shape.__annotations__}
    return cast(Shape, found)


def _plain(value: object) -> object:
    return float(value) if isinstance(value, Decimal) else value


def copies_of(plan: Plan) -> dict[datetime, tuple[str, ...]]:
    """The plan's copies without gaps by cut-off, newest first, and what each is kept as.

    In a pool they share objects, so that none of them may go.
    """
    whole = plan.runs.copies().filter(state=RunState.COMPLETE, cut_off__isnull=False)
    moments = [moment for moment in whole.values_list("cut_off", flat=True) if moment]
    return kept_as(moments, {} if is_pool(plan.destination) else plan.keep)
