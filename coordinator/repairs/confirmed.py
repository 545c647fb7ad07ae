"""Finding the plan of a repair that somebody confirms: one that Levee made and showed, not long ago."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import QuerySet

from changes.asking import ShownPlan, newest_shown
from coordinator.models import DeltaTable
from coordinator.repairs.fresh import Subject
from dashboard.jobs.models import Job

REPAIR_KEY = "repair"


def plan_jobs(table: DeltaTable) -> "QuerySet[Job]":
    """Every job that planned repairs of a table, newest first."""
    return Job.objects.filter(kind="plan-repair", target_type="table", target_id=str(table.pk)).order_by("-created_at")


def shown_plan(table: DeltaTable, subject: Subject, digest: str) -> ShownPlan:
    """The newest plan of that digest about the subject; raises PlanNeeded where none is young enough."""

    def about_it(job: Job) -> Iterable[Mapping[str, Any]]:
        plans = job.result.get("plans", [])
        return (one for one in plans if subject == Subject(one["kind"], one["code"], one["version"]))

    return newest_shown(plan_jobs(table), digest, about_it)
