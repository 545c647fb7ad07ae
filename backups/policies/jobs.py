"""The kind of job `backup-preflight`: finds out which of a plan's permissions are there."""

from dataclasses import asdict
from typing import TypedDict

from django.utils import timezone

from backups.models import Plan
from backups.policies.names import names_of
from backups.policies.preflight import check_plan, sentence
from dashboard.connections.access import lake_access
from dashboard.connections.owners import keep_owner
from dashboard.jobs.context import JobContext, JobResult
from dashboard.jobs.registry import job_kind
from lake.aws.access import open_lake

PREFLIGHT_KIND = "backup-preflight"


class PreflightParams(TypedDict):
    """The plan by its primary key."""

    plan: int


class PreflightResult(JobResult):
    """`checks` are those of `preflight.PolicyCheck`."""

    checked_at: str
    checks: list[dict[str, str]]


@job_kind(PREFLIGHT_KIND, queue="aws", verb="backup.preflight", changes_lake=False)
def preflight(context: JobContext, params: PreflightParams) -> str:
    """Check each permission of one plan; changes nothing. The result is a `PreflightResult`."""
    plan = Plan.objects.select_related("connection", "vault_connection").filter(pk=params["plan"]).first()
    if plan is None:
        raise LookupError("The plan has been removed: there is nothing to check.")
    source, vault = open_lake(lake_access(plan.connection)), open_lake(lake_access(plan.vault_connection))
    with source, vault, context.step("Check each permission"):
        keep_owner(plan.vault_connection, vault, names_of(plan).destination.bucket)
        found = check_plan(names_of(plan), source, vault, context.progress, context.check_cancelled)
    context.result(PreflightResult(checked_at=timezone.now().isoformat(), checks=[asdict(one) for one in found]))
    return sentence(found)
