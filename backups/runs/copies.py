"""Copy jobs as rows, and as engines are given them."""

from django.utils import timezone

from backups.models import CopyJob
from backups.policies.names import names_of
from backups.runs.ports import Copying, CopyStatus, place_of
from backups.runs.work import GivenUp, Work, until_of
from lake.backup.batch_manifest import Manifest
from lake.backup.objects import BucketPrefix


def copying_of(row: CopyJob) -> Copying:
    run = row.run
    plan = run.plan
    manifest = Manifest(row.lane, row.manifest_bucket, row.manifest_key, row.manifest_etag, row.total, row.bytes)
    return Copying(
        token=row.token,
        title=f"Levee {plan.name} {row.number} {run.pk}",
        manifest=manifest,
        destination=place_of(run.destination),
        source=place_of(plan.source),
        report=report_of(row),
        role_arn=names_of(plan).batch_role,
        storage_class=plan.storage_class,
        encryption_key=plan.encryption_key,
        priority=row.priority,
        until=until_of(run),
        aws_job_id=row.aws_job_id,
    )


def report_of(row: CopyJob) -> BucketPrefix:
    """Where the engine writes the report of a copy job."""
    return place_of(row.run.folder).below(row.report_prefix)


def store_status(work: Work, row: CopyJob, status: CopyStatus) -> None:
    """Keep what an engine said of a copy job. Raises GivenUp where the run is another job's by now."""
    facts = {
        "status": status.status,
        "reason": status.reason,
        "done": status.done,
        "failed": status.failed,
        "active_seconds": status.active_seconds,
        "total": status.total or row.total,
        "aws_job_id": status.aws_job_id or row.aws_job_id,
        "ended_at": status.ended_at,
        "updated_at": timezone.now(),
    }
    if not CopyJob.objects.filter(pk=row.pk, run__worker=work.context.job).update(**facts):
        raise GivenUp
    for name, value in facts.items():
        setattr(row, name, value)
