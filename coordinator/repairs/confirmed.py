"""Finding the plan that somebody confirms: it has to be one that Levee made and showed, not long ago."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from coordinator.models import DeltaTable
from coordinator.repairs.fresh import Subject
from coordinator.repairs.gate import PLAN_LASTS, PlanNeeded
from dashboard.jobs.models import Job, JobState


@dataclass(frozen=True, slots=True)
class ShownPlan:
    """A plan as a job made it: its document (`changes.documents`) and the job."""

    job: Job
    document: dict[str, Any]

    @property
    def repair_key(self) -> str:
        """Names the one repair that this plan may lead to: a second click finds the first job."""
        return f"repair:{self.job.pk}:{self.document['digest']}"


def plan_jobs(table: DeltaTable) -> "QuerySet[Job]":
    """Every job that planned repairs of a table, newest first."""
    return Job.objects.filter(kind="plan-repair", target_type="table", target_id=str(table.pk)).order_by("-created_at")


def read_at(job: Job) -> datetime | None:
    """When the lake was read for a plan; None where it was not."""
    text = job.result.get("read_at", "")
    return parse_datetime(text) if text else None


def is_too_old(job: Job) -> bool:
    """Whether a plan may no longer be confirmed."""
    at = read_at(job)
    return at is None or timezone.now() - at > PLAN_LASTS


def confirmed_plan(table: DeltaTable, subject: Subject, digest: str) -> ShownPlan:
    """Return the newest plan of that digest; raises PlanNeeded where none was made in the last 15 minutes."""
    since = timezone.now() - PLAN_LASTS
    for job in plan_jobs(table).filter(state=JobState.SUCCEEDED, created_at__gte=since):
        for document in job.result.get("plans", []):
            same = subject == Subject(document["kind"], document["code"], document["version"])
            if same and document["digest"] == digest and not is_too_old(job):
                return ShownPlan(job, document)
    raise PlanNeeded
