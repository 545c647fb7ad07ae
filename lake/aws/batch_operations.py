"""Copy jobs of S3 Batch Operations (S3 Control): created suspended, confirmed, followed, cancelled.

Source of fields and states: S3 Control API reference, CreateJob and DescribeJob.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.aws.identity import caller
from lake.backup.batch_manifest import FIELDS, FORMAT
from lake.backup.completion_report import FORMAT as REPORT_FORMAT

LONGEST_TOKEN = 64
LONGEST_DESCRIPTION = 256
_MISSING = frozenset({"NoSuchJob", "NotFoundException"})
_ROLE = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/.+")


@dataclass(frozen=True, slots=True)
class CopyRequest:
    """One copy job. `token` makes it the same job however often it is created; ETags carry no quotes.

    Keys at the destination are `target_prefix`, a slash and the source's key; `report_prefix` ends without a slash too.
    `not_modified_since` (UTC) has S3 refuse objects that were overwritten after it. The job waits in Suspended until
    `confirm`.
    """

    token: str
    description: str
    role_arn: str
    manifest_bucket: str
    manifest_key: str
    manifest_etag: str
    report_bucket: str
    report_prefix: str
    target_bucket: str
    target_prefix: str = ""
    storage_class: str = ""
    kms_key: str = ""
    priority: int = 10
    not_modified_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class JobStatus:
    """Where a job stands, `status` in S3's words; `reason` joins its failure reasons, "" unless there are some."""

    id: str
    status: str
    total: int = 0
    succeeded: int = 0
    failed: int = 0
    active_seconds: int = 0
    reason: str = ""
    description: str = ""
    priority: int = 0
    created_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def done(self) -> int:
        return self.succeeded + self.failed


class BatchOperations:
    """S3 Batch Operations of one account in one region. All methods raise AwsError."""

    def __init__(self, lake: Lake, account_id: str = "") -> None:
        """`account_id` is the account whose jobs these are; "" stands for the one that signs."""
        self._services = lake.services
        self._account_id = account_id

    @property
    def account_id(self) -> str:
        if not self._account_id:
            self._account_id = caller(self._services).account
        return self._account_id

    def create_copy(self, request: CopyRequest) -> str:
        """Create the job, or find the one that the same request has created, and return its id.

        IdempotencyException where the token belongs to another request.
        """
        _check(request)
        said = self._ask("CreateJob", request.token, **_parameters(request))
        return str(said["JobId"])

    def status_of(self, job_id: str) -> JobStatus:
        """NoSuchJob 90 days after its end."""
        return _status(self._ask("DescribeJob", job_id, JobId=job_id)["Job"])

    def confirm(self, job_id: str) -> None:
        """Let a suspended job begin. JobStatusException where it waits for no confirmation."""
        self._ask("UpdateJobStatus", job_id, JobId=job_id, RequestedJobStatus="Ready")

    def cancel(self, job_id: str, reason: str = "") -> None:
        """Ask for its end; what is copied stays. JobStatusException where it has ended."""
        more = {"StatusUpdateReason": reason[:256]} if reason else {}
        self._ask("UpdateJobStatus", job_id, JobId=job_id, RequestedJobStatus="Cancelled", **more)

    def set_priority(self, job_id: str, priority: int) -> None:
        self._ask("UpdateJobPriority", job_id, JobId=job_id, Priority=priority)

    def _ask(self, operation: str, target: str, **parameters: Any) -> dict[str, Any]:
        account = self.account_id
        try:
            return self._services.ask("s3control", operation, {"AccountId": account, **parameters}, target)
        except AwsError as error:
            if error.code in _MISSING:
                message = f"there is no such job any more in account {account}: S3 forgets it 90 days after its end"
                raise AwsError("NoSuchJob", message, error.request_id, error.operation, "", target) from error
            raise


def _check(request: CopyRequest) -> None:
    said = ""
    if not 0 < len(request.token) <= LONGEST_TOKEN:
        said = f"the token has {len(request.token)} characters, and S3 takes 1 to {LONGEST_TOKEN}"
    elif not _ROLE.fullmatch(request.role_arn):
        said = f"{request.role_arn!r} is no ARN of a role that S3 could take; set the plan's role"
    elif not request.manifest_etag:
        said = "no ETag pins the manifest"
    if said:
        raise AwsError("BadConfiguration", said, "", "s3:CreateJob", "", request.description)


def _parameters(request: CopyRequest) -> dict[str, Any]:
    partition = request.role_arn.split(":")[1]
    return {
        "ConfirmationRequired": True,
        "Operation": {"S3PutObjectCopy": _copy(request, partition)},
        "Manifest": {
            "Spec": {"Format": FORMAT, "Fields": list(FIELDS)},
            "Location": {
                "ObjectArn": f"arn:{partition}:s3:::{request.manifest_bucket}/{request.manifest_key}",
                "ETag": request.manifest_etag,
            },
        },
        "Report": {
            "Enabled": True,
            "Bucket": f"arn:{partition}:s3:::{request.report_bucket}",
            "Prefix": request.report_prefix,
            "Format": REPORT_FORMAT,
            "ReportScope": "AllTasks",
        },
        "Priority": request.priority,
        "RoleArn": request.role_arn,
        "Description": request.description[:LONGEST_DESCRIPTION],
        "ClientRequestToken": request.token,
    }


def _copy(request: CopyRequest, partition: str) -> dict[str, Any]:
    given = {
        "TargetResource": f"arn:{partition}:s3:::{request.target_bucket}",
        "TargetKeyPrefix": request.target_prefix,
        "StorageClass": request.storage_class,
        "SSEAwsKmsKeyId": request.kms_key,
        "UnModifiedSinceConstraint": request.not_modified_since,
    }
    return {name: value for name, value in given.items() if value}


def _status(job: Mapping[str, Any]) -> JobStatus:
    progress = job.get("ProgressSummary") or {}
    reasons = (f"{one.get('FailureCode', '')}: {one.get('FailureReason', '')}" for one in job.get("FailureReasons", ()))
    return JobStatus(
        id=str(job["JobId"]),
        status=str(job["Status"]),
        total=int(progress.get("TotalNumberOfTasks") or 0),
        succeeded=int(progress.get("NumberOfTasksSucceeded") or 0),
        failed=int(progress.get("NumberOfTasksFailed") or 0),
        active_seconds=int((progress.get("Timers") or {}).get("ElapsedTimeInActiveSeconds") or 0),
        reason="; ".join(reasons),
        description=str(job.get("Description") or ""),
        priority=int(job.get("Priority") or 0),
        created_at=job.get("CreationTime"),
        ended_at=job.get("TerminationDate"),
    )
