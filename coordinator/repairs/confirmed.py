"""Finding the plan of a repair that somebody confirms: one that Levee made and showed, not long ago."""

from collections.abc import Iterable
from typing import TypedDict

from django.db.models import QuerySet

from changes.asking import ShownPlan, newest_shown
from changes.documents import PlanDocument, RefusalDocument
from changes.gate import Confirmation
from coordinator.models import DeltaTable
from coordinator.repairs.fresh import Subject
from dashboard.jobs.context import JobResult
from dashboard.jobs.models import Job

REPAIR_KEY = "repair"


class PlanRepairParams(TypedDict):
    """`path_scheme` is "" for none chosen."""

    uri: str
    path_scheme: str


class PlanRepairResult(JobResult):
    read_at: str
    plans: list[PlanDocument]
    refusals: list[RefusalDocument]


class RepairParams(PlanRepairParams, Confirmation):
    name: str
    repair: str
    code: str
    version: int | None


def plan_jobs(table: DeltaTable) -> "QuerySet[Job]":
    """Every job that planned repairs of a table, newest first."""
    return Job.objects.filter(kind="plan-repair", target_type="table", target_id=str(table.pk)).order_by("-created_at")


def shown_plan(table: DeltaTable, subject: Subject, digest: str) -> ShownPlan:
    """The newest plan of that digest about the subject; raises PlanNeeded where none is young enough."""

    def about_it(job: Job) -> Iterable[PlanDocument]:
        result: PlanRepairResult = job.result
        return (one for one in result.get("plans", []) if subject == Subject.told_by(one))

    return newest_shown(plan_jobs(table), digest, about_it)
