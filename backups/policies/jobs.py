"""The kind of job `backup-preflight`: finds out which of a plan's permissions are there."""

from django.utils import timezone

from backups.models import Plan
from backups.policies.names import names_of
from backups.policies.preflight import as_documents, check_plan, sentence
from dashboard.connections.access import lake_access
from dashboard.jobs.context import JobContext
from dashboard.jobs.registry import job_kind
from lake.aws.access import open_lake

PREFLIGHT_KIND = "backup-preflight"


@job_kind(PREFLIGHT_KIND, queue="aws", verb="backup.preflight", changes_lake=False)
def preflight(context: JobContext) -> str:
    """Check each permission of one plan; params: plan (its primary key). Changes nothing.

    The result holds `checked_at` and `checks`, each a `Check` as JSON.
    """
    plan = Plan.objects.select_related("connection", "vault_connection").filter(pk=context.params["plan"]).first()
    if plan is None:
        raise LookupError("The plan has been removed: there is nothing to check.")
    source, vault = open_lake(lake_access(plan.connection)), open_lake(lake_access(plan.vault_connection))
    with source, vault, context.step("Check each permission"):
        found = check_plan(names_of(plan), source, vault, context.progress, context.check_cancelled)
    context.result(checked_at=timezone.now().isoformat(), checks=as_documents(found))
    return sentence(found)
