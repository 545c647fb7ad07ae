"""The engine of S3 Batch Operations: a job of AWS per manifest, created suspended, confirmed after the cost gate."""

from dataclasses import dataclass
from typing import Protocol

from backups.outcomes import OVER
from backups.runs.ports import Copying, CopyStatus


@dataclass(frozen=True, slots=True)
class BatchCopy:
    """A copy job as it is asked for: PUT object copy, confirmation required, report of all tasks."""

    token: str
    description: str
    role_arn: str
    priority: int
    manifest_bucket: str
    manifest_key: str
    manifest_etag: str
    report_bucket: str
    report_prefix: str
    target_bucket: str
    target_prefix: str
    storage_class: str
    kms_key: str


class BatchService(Protocol):
    """S3 Control, as far as an engine needs it. All raise AwsError."""

    def create_copy(self, job: BatchCopy) -> str: ...

    def status_of(self, job_id: str) -> CopyStatus: ...

    def confirm(self, job_id: str) -> None: ...

    def cancel(self, job_id: str) -> None: ...


class S3BatchEngine:
    """Lets S3 copy. Jobs are found again by the id that is kept, and before that by their token."""

    def __init__(self, service: BatchService) -> None:
        self._service = service

    def create(self, copying: Copying) -> CopyStatus:
        return self._status(self._service.create_copy(_asked(copying)))

    def begin(self, copying: Copying) -> None:
        if self._service.status_of(copying.aws_job_id).status == "Suspended":
            self._service.confirm(copying.aws_job_id)

    def look(self, copying: Copying) -> CopyStatus:
        return self._status(copying.aws_job_id)

    def cancel(self, copying: Copying) -> None:
        if self._service.status_of(copying.aws_job_id).status not in OVER:
            self._service.cancel(copying.aws_job_id)

    def _status(self, job_id: str) -> CopyStatus:
        said = self._service.status_of(job_id)
        return CopyStatus(said.status, said.done, said.failed, said.total, said.active_seconds, said.reason, job_id)


def _asked(copying: Copying) -> BatchCopy:
    return BatchCopy(
        token=copying.token,
        description=copying.title[:256],
        role_arn=copying.role_arn,
        priority=copying.priority,
        manifest_bucket=copying.manifest.bucket,
        manifest_key=copying.manifest.key,
        manifest_etag=copying.manifest.etag,
        report_bucket=copying.report.bucket,
        report_prefix=copying.report.prefix.rstrip("/"),
        target_bucket=copying.destination.bucket,
        # S3 puts the slash between this and the key itself.
        target_prefix=copying.destination.prefix.rstrip("/"),
        storage_class=copying.storage_class,
        kms_key=copying.encryption_key,
    )
