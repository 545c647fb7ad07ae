"""Finding the plan that somebody confirms, and what was last read of the copies of a table: from Levee's own rows."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import QuerySet

from changes.asking import ShownPlan, newest_shown
from coordinator.models import DeltaTable
from dashboard.jobs.models import Job

LIST_KIND = "list-rescue"
PLAN_KIND = "plan-rescue"
RESTORE_KIND = "restore-rescue"


def list_jobs(table: DeltaTable) -> "QuerySet[Job]":
    """Every job that listed the copies of one table, newest first."""
    return _jobs(table, LIST_KIND)


def plan_jobs(table: DeltaTable) -> "QuerySet[Job]":
    """Every job that planned to put a copy of a table back, newest first."""
    return _jobs(table, PLAN_KIND)


def shown_plan(table: DeltaTable, copy: str, digest: str) -> ShownPlan:
    """The newest plan of that copy and digest; raises PlanNeeded where none was made in the last 15 minutes."""

    def of_it(job: Job) -> Iterable[Mapping[str, Any]]:
        return [job.result["plan"]] if job.params.get("copy") == copy and job.result.get("plan") else []

    return newest_shown(plan_jobs(table), digest, of_it)


def _jobs(table: DeltaTable, kind: str) -> "QuerySet[Job]":
    return Job.objects.filter(kind=kind, target_type="table", target_id=str(table.pk)).order_by("-created_at")
