"""Finding the checks that somebody confirms: made by Levee for this very act, and not long ago."""

from typing import Any

from django.db.models import QuerySet

from changes.gate import is_too_old, read_at
from coordinator.coordination.checks import Operation
from coordinator.coordination.gate import ChecksFailed, PreflightNeeded
from coordinator.coordination.reading import CoordinationRequest
from dashboard.jobs.models import Job

CHECK_KIND = "check-coordination"


def check_jobs(uri: str, operation: Operation) -> "QuerySet[Job]":
    """Every job that checked this act on this table, newest first."""
    jobs = Job.objects.filter(kind=CHECK_KIND, target_label=uri, params__operation=operation.value)
    return jobs.select_related("connection").order_by("-created_at")


def plan_of(job: Job) -> dict[str, Any] | None:
    """The plan that a job made (changes.documents); None before it is done, and where the checks refuse it."""
    found = job.result.get("plan")
    return found if isinstance(found, dict) else None


def checks_of(job: Job) -> dict[str, Any] | None:
    """The checks that a job made (checks.preflight_document); None before it is done."""
    found = job.result.get("preflight")
    return found if isinstance(found, dict) else None


def confirmed_plan(job: Job, change: CoordinationRequest, digest: str) -> dict[str, Any]:
    """The plan of this job, if it is the one shown, made for this change and young. Raises ChangeRefused."""
    found, plan = checks_of(job), plan_of(job)
    if found is None or found["digest"] != digest or is_too_old(read_at(job)):
        raise PreflightNeeded
    if (found["operation"], found["uri"]) != (change.operation.value, change.uri):
        raise PreflightNeeded
    if not found["may_run"]:
        failed = next((one for one in found["checks"] if one["state"] == "failed"), {"sentence": "a check failed."})
        raise ChecksFailed(f"The checks refuse it: {failed['sentence']}")
    if plan is None:
        raise PreflightNeeded
    return plan
