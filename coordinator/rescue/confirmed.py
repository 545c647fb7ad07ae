"""Finding the plan that somebody confirms, and what was last read of the copies of a table: from Levee's own rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from changes.gate import LASTS, PlanNeeded, is_too_old, read_at
from coordinator.models import DeltaTable
from dashboard.jobs.models import Job, JobState

LIST_KIND = "list-rescue"
PLAN_KIND = "plan-rescue"
RESTORE_KIND = "restore-rescue"


@dataclass(frozen=True, slots=True)
class ShownRestore:
    """A plan as a job made it: its document (`changes.documents`) and the job."""

    job: Job
    document: Mapping[str, Any]

    @property
    def restore_key(self) -> str:
        """Names the one job that this plan may lead to: a second click finds the first."""
        return f"restore-rescue:{self.job.pk}:{self.document['digest']}"


def list_jobs(table: DeltaTable) -> "QuerySet[Job]":
    """Every job that listed the copies of one table, newest first."""
    return _jobs(table, LIST_KIND)


def plan_jobs(table: DeltaTable) -> "QuerySet[Job]":
    """Every job that planned to put a copy of a table back, newest first."""
    return _jobs(table, PLAN_KIND)


def confirmed_plan(table: DeltaTable, copy: str, digest: str) -> ShownRestore:
    """The newest plan of that copy and digest; raises PlanNeeded where none was made in the last 15 minutes."""
    since = timezone.now() - LASTS
    for job in plan_jobs(table).filter(state=JobState.SUCCEEDED, created_at__gte=since):
        plan = job.result.get("plan")
        is_same = plan and job.params.get("copy") == copy and plan["digest"] == digest
        if is_same and not is_too_old(read_at(job)):
            return ShownRestore(job, plan)
    raise PlanNeeded


def _jobs(table: DeltaTable, kind: str) -> "QuerySet[Job]":
    return Job.objects.filter(kind=kind, target_type="table", target_id=str(table.pk)).order_by("-created_at")
