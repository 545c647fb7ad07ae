"""Finding the checks that somebody confirms: made by Levee for this very act, and not long ago."""

from django.db.models import QuerySet

from changes.gate import is_too_old, read_at
from coordinator.contract import PreflightDocument
from coordinator.coordination.checks import Operation
from coordinator.coordination.gate import ChecksFailed, PreflightNeeded
from coordinator.coordination.reading import CoordinationRequest
from dashboard.jobs.models import Job

CHECK_KIND = "check-coordination"


def check_jobs(uri: str, operation: Operation) -> "QuerySet[Job]":
    """Every job that checked this act on this table, newest first."""
    jobs = Job.objects.filter(kind=CHECK_KIND, target_label=uri, params__operation=operation.value)
    return jobs.select_related("connection").order_by("-created_at")


def checks_of(job: Job) -> PreflightDocument | None:
    """The checks that a job made (checks.preflight_document); None before it is done."""
    found: PreflightDocument | None = job.result.get("preflight")
    return found


def is_stale(job: Job) -> bool:
    """Whether the checks may no longer be confirmed."""
    return is_too_old(read_at(job))


def confirmed_checks(job: Job, change: CoordinationRequest, digest: str) -> PreflightDocument:
    """The checks of this job, if they are those shown, made for this change and young. Raises ChangeRefused."""
    found = checks_of(job)
    if found is None or found["digest"] != digest or is_stale(job):
        raise PreflightNeeded
    if (found["operation"], found["uri"]) != (change.operation.value, change.uri):
        raise PreflightNeeded
    if not found["may_run"]:
        failed = next((one["sentence"] for one in found["checks"] if one["state"] == "failed"), "a check failed.")
        raise ChecksFailed(f"The checks refuse it: {failed}")
    return found
