"""The engine of S3 Batch Operations: a job of AWS per manifest, created suspended, confirmed after the cost gate."""

from backups.models import CopyJob
from backups.outcomes import OVER
from backups.policies.names import UNKNOWN_VAULT, names_of
from backups.runs.work import RunFailed, report_of, until_of
from lake.aws.batch_operations import BatchOperations, CopyRequest, JobStatus
from lake.aws.errors import AwsError
from lake.backup.objects import place_of

LASTING = frozenset({"BadConfiguration", "IdempotencyException"})
"""Refusals of CreateJob that the same request meets each time."""


class S3BatchEngine:
    """Lets S3 copy. Jobs are found again by the id that is kept, and before that by their token."""

    def __init__(self, service: BatchOperations) -> None:
        self._service = service

    def create(self, row: CopyJob) -> JobStatus:
        """Raises RunFailed for what another try would not change, AwsError for the rest."""
        try:
            return self._status(self._service.create_copy(self._request(row)))
        except AwsError as error:
            if error.code in LASTING:
                raise RunFailed(error.code, str(error)) from error
            raise

    def begin(self, row: CopyJob) -> None:
        if self.look(row).status == "Suspended":
            self._service.confirm(row.aws_job_id)

    def look(self, row: CopyJob) -> JobStatus:
        return self._status(row.aws_job_id)

    def cancel(self, row: CopyJob) -> None:
        if self.look(row).status not in OVER:
            self._service.cancel(row.aws_job_id)

    def set_priority(self, row: CopyJob) -> None:
        try:
            self._service.set_priority(row.aws_job_id, row.priority)
        except AwsError as error:
            # It has ended since it was looked at.
            if error.code != "JobStatusException":
                raise

    def _status(self, job_id: str) -> JobStatus:
        try:
            return self._service.status_of(job_id)
        except AwsError as error:
            if error.code != "NoSuchJob":
                raise
            # What it copied lies at the destination all the same, and reconciliation looks there.
            return JobStatus(job_id, "Failed", reason=str(error))

    def _request(self, row: CopyJob) -> CopyRequest:
        """A copy that waits for its confirmation, with a report of all tasks."""
        run, plan = row.run, row.run.plan
        destination, report, role = place_of(run.destination), report_of(row), names_of(plan).batch_role
        if UNKNOWN_VAULT in role:
            # Until a connection or the plan names the account, whose jobs these are says it.
            role = role.replace(UNKNOWN_VAULT, self._service.account_id)
        return CopyRequest(
            token=row.token,
            description=f"Levee {plan.name} {row.number} {run.pk}",
            role_arn=role,
            priority=row.priority,
            manifest_bucket=row.manifest_bucket,
            manifest_key=row.manifest_key,
            manifest_etag=row.manifest_etag,
            report_bucket=report.bucket,
            report_prefix=report.prefix.removesuffix("/"),
            target_bucket=destination.bucket,
            # S3 puts the slash between this and the key itself.
            target_prefix=destination.prefix.removesuffix("/"),
            storage_class=plan.storage_class,
            kms_key=plan.encryption_key,
            # What was overwritten meanwhile is refused instead of copied: its ETag could not always tell it apart.
            not_modified_since=until_of(run),
        )
