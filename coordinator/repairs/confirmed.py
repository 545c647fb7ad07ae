"""What the jobs of repairs take and tell, and the plans that they have made."""

from typing import TypedDict

from django.db.models import QuerySet

from changes.documents import PlanDocument, RefusalDocument
from changes.gate import Confirmation
from coordinator.models import DeltaTable
from coordinator.repairs.fresh import Subject
from dashboard.jobs.context import JobResult
from dashboard.jobs.models import Job


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


def jobs_about(table: DeltaTable, kind: str) -> "QuerySet[Job]":
    """Every job of one kind about a table, newest first."""
    return Job.objects.filter(kind=kind, target_type="table", target_id=str(table.pk)).order_by("-created_at")


def plans_about(planned: Job, subject: Subject) -> list[PlanDocument]:
    """The plan that a job made about the subject, none where it was refused or could not be read."""
    result: PlanRepairResult = planned.result
    return [one for one in result.get("plans", []) if subject == Subject.told_by(one)]
