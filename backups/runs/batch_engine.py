"""The engine of S3 Batch Operations: a job of AWS per manifest, created suspended, confirmed after the cost gate."""

from typing import Protocol

from backups.outcomes import OVER
from backups.policies.names import UNKNOWN_VAULT
from backups.runs.ports import Copying, CopyStatus
from backups.runs.work import RunFailed
from lake.aws.batch_operations import CopyRequest, JobStatus
from lake.aws.errors import AwsError

LASTING = frozenset({"BadConfiguration", "IdempotencyException"})
"""Refusals of CreateJob that the same request meets each time."""


class BatchService(Protocol):
    """S3 Control, as far as an engine needs it. All raise AwsError."""

    @property
    def account_id(self) -> str: ...

    def create_copy(self, request: CopyRequest) -> str: ...

    def status_of(self, job_id: str) -> JobStatus: ...

    def confirm(self, job_id: str) -> None: ...

    def cancel(self, job_id: str) -> None: ...

    def set_priority(self, job_id: str, priority: int) -> None: ...


class S3BatchEngine:
    """Lets S3 copy. Jobs are found again by the id that is kept, and before that by their token."""

    def __init__(self, service: BatchService) -> None:
        self._service = service

    def create(self, copying: Copying) -> CopyStatus:
        """Raises RunFailed for what another try would not change, AwsError for the rest."""
        try:
            return self._status(self._service.create_copy(_asked(copying, self._role(copying))))
        except AwsError as error:
            if error.code in LASTING:
                raise RunFailed(error.code, str(error)) from error
            raise

    def begin(self, copying: Copying) -> None:
        if self._status(copying.aws_job_id).status == "Suspended":
            self._service.confirm(copying.aws_job_id)

    def look(self, copying: Copying) -> CopyStatus:
        return self._status(copying.aws_job_id)

    def cancel(self, copying: Copying) -> None:
        if self._status(copying.aws_job_id).status not in OVER:
            self._service.cancel(copying.aws_job_id)

    def set_priority(self, copying: Copying) -> None:
        try:
            self._service.set_priority(copying.aws_job_id, copying.priority)
        except AwsError as error:
            # It has ended since it was looked at.
            if error.code != "JobStatusException":
                raise

    def _role(self, copying: Copying) -> str:
        """The role with the account in it: until a connection or the plan names one, whose jobs these are says it."""
        if UNKNOWN_VAULT not in copying.role_arn:
            return copying.role_arn
        return copying.role_arn.replace(UNKNOWN_VAULT, self._service.account_id)

    def _status(self, job_id: str) -> CopyStatus:
        try:
            said = self._service.status_of(job_id)
        except AwsError as error:
            if error.code != "NoSuchJob":
                raise
            # What it copied lies at the destination all the same, and reconciliation looks there.
            return CopyStatus("Failed", reason=str(error), aws_job_id=job_id)
        return CopyStatus(
            said.status,
            said.done,
            said.failed,
            said.total,
            said.active_seconds,
            said.reason,
            job_id,
            said.priority,
            said.ended_at,
        )


def _asked(copying: Copying, role_arn: str) -> CopyRequest:
    """A copy that waits for its confirmation, with a report of all tasks."""
    return CopyRequest(
        token=copying.token,
        description=copying.title,
        role_arn=role_arn,
        priority=copying.priority,
        manifest_bucket=copying.manifest.bucket,
        manifest_key=copying.manifest.key,
        manifest_etag=copying.manifest.etag,
        report_bucket=copying.report.bucket,
        report_prefix=copying.report.prefix.removesuffix("/"),
        target_bucket=copying.destination.bucket,
        # S3 puts the slash between this and the key itself.
        target_prefix=copying.destination.prefix.removesuffix("/"),
        storage_class=copying.storage_class,
        kms_key=copying.encryption_key,
        # What was overwritten meanwhile is refused instead of copied: its ETag could not always tell it apart.
        not_modified_since=copying.until,
    )
