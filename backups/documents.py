"""Plans and runs as the JSON that commands print."""

from datetime import datetime
from decimal import Decimal

from backups.contract import PlanJson, RunJson, RunSummary
from backups.destinations import is_pool
from backups.models import Plan, Run, RunState
from backups.retention import kept_as


def run_document(run: Run) -> RunJson:
    """All of a run. `inventory` is null where the source is listed; money is in USD, sizes in bytes."""
    return {
        **run_summary(run),
        "destination": run.destination,
        "folder": run.folder,
        "cut_off": run.cut_off,
        "requested_by": run.requested_by_name,
        "retry_of": str(run.retry_of_id) if run.retry_of_id else None,
        "error_code": run.error_code,
        "ceiling_usd": _dollars(run.ceiling_usd),
        "actual_usd": _dollars(run.actual_usd),
        "estimate": run.estimate_lines,
        "approved_by": run.approved_by_name,
        "approved_at": run.approved_at,
        "objects_planned": run.objects_planned,
        "bytes_planned": run.bytes_planned,
        "worth_retry": run.worth_retry,
        "evidence": run.evidence,
        "stages": [
            {
                "name": row.name,
                "state": row.state,
                "started_at": row.started_at,
                "finished_at": row.finished_at,
                "done": row.done,
                "total": row.total,
                "detail": row.detail,
            }
            for row in run.stages.order_by("number")
        ],
        "copy_jobs": [
            {
                "number": row.number,
                "lane": row.lane,
                "engine": row.engine,
                "aws_job_id": row.aws_job_id,
                "priority": row.priority,
                "status": row.status,
                "reason": row.reason,
                "done": row.done,
                "failed": row.failed,
                "total": row.total,
            }
            for row in run.copy_jobs.all()
        ],
        "failures": [
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
            for group in run.failures.all()
        ],
    }


def run_summary(run: Run) -> RunSummary:
    """What a list of runs shows."""
    return {
        "id": str(run.pk),
        "plan": run.plan.name,
        "state": run.state,
        "stage": run.stage,
        "sentence": run.sentence,
        "inventory": run.inventory or None,
        "estimate_usd": _dollars(run.estimate_usd),
        "bytes_copied": run.bytes_copied,
        "objects": run.counts,
        "created_at": run.created_at,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
    }


def plan_document(plan: Plan) -> PlanJson:
    """A plan as it is stored, with its last run and its copies without gaps, newest first."""
    last, kept = plan.runs.first(), copies_of(plan)
    return {
        "name": plan.name,
        "connection": plan.connection.name,
        "vault_connection": plan.vault_connection.name,
        "source": plan.source,
        "destination": plan.destination,
        "inventory": plan.inventory,
        "minimum_lag_hours": plan.minimum_lag_hours,
        "engine": plan.engine,
        "schedule": plan.schedule,
        "objective_hours": plan.objective_hours,
        "cost_ceiling_usd": _dollars(plan.cost_ceiling_usd),
        "keep": plan.keep,
        "evidence": plan.evidence,
        "selection": plan.selection,
        "files": plan.files,
        "window_hours": plan.window_hours,
        "role_arn": plan.role_arn,
        "storage_class": plan.storage_class,
        "encryption_key": plan.encryption_key,
        "source_key": plan.source_key,
        "notify": plan.notify,
        "paused": plan.paused,
        "last_run": run_summary(last) if last else None,
        "copies": [{"cut_off": moment, "kept_as": list(names)} for moment, names in kept.items()],
    }


def copies_of(plan: Plan) -> dict[datetime, tuple[str, ...]]:
    """The plan's copies without gaps by cut-off, newest first, and what each is kept as.

    In a pool they share objects, so that none of them may go.
    """
    whole = plan.runs.copies().filter(state=RunState.COMPLETE, cut_off__isnull=False)
    moments = [moment for moment in whole.values_list("cut_off", flat=True) if moment]
    return kept_as(moments, {} if is_pool(plan.destination) else plan.keep)


def _dollars(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)
