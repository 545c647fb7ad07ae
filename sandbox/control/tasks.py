"""One task of a copy job: CopyObject inside moto's S3, refused where S3 would refuse it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from xml.etree.ElementTree import Element

from moto.core.exceptions import ServiceException

from lake.backup.objects import ManifestObject, TaskResult
from sandbox.control import stored
from sandbox.control.rules import FAULTS, Rules
from sandbox.control.xml import text

ARCHIVED = frozenset({"DEEP_ARCHIVE", "GLACIER"})
DONE = "Successful"


@dataclass(frozen=True, slots=True)
class Task:
    """One line of a manifest; `version_named` says that the manifest has a column for versions."""

    source: ManifestObject
    version_named: bool = False


@dataclass(frozen=True, slots=True)
class CopyOperation:
    """S3PutObjectCopy as far as it is played. None leaves tags and metadata as they are at the source."""

    target_bucket: str
    target_prefix: str
    role_arn: str
    storage_class: str = ""
    kms_key: str = ""
    metadata: dict[str, str] | None = None
    tags: dict[str, str] | None = None
    modified_since: datetime | None = None
    unmodified_since: datetime | None = None
    lock_mode: str = ""
    lock_until: str = ""
    legal_hold: str = ""

    def target_key(self, key: str) -> str:
        return f"{self.target_prefix}/{key}" if self.target_prefix else key


class TaskFailed(Exception):
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


def read_operation(operation: Element, role_arn: str) -> CopyOperation:
    """The <S3PutObjectCopy> of a request. ValueError for a value that is none."""
    bucket, _ = stored.split_arn(text(operation, "TargetResource"))
    return CopyOperation(
        target_bucket=bucket,
        target_prefix=operation.findtext("TargetKeyPrefix") or "",
        role_arn=role_arn,
        storage_class=text(operation, "StorageClass"),
        kms_key=text(operation, "SSEAwsKmsKeyId"),
        metadata=_metadata(operation),
        tags=_tags(operation.find("NewObjectTagging")),
        modified_since=_moment(text(operation, "ModifiedSinceConstraint")),
        unmodified_since=_moment(text(operation, "UnModifiedSinceConstraint")),
        lock_mode=text(operation, "ObjectLockMode"),
        lock_until=text(operation, "ObjectLockRetainUntilDate"),
        legal_hold=text(operation, "ObjectLockLegalHoldStatus"),
    )


def run(task: Task, operation: CopyOperation, rules: Rules) -> TaskResult:
    """Copy one object; the first failure that is not a throttle is the task's."""
    one = task.source
    for attempt in range(1, rules.attempts + 1):
        try:
            _copy(task, operation, rules, attempt)
        except TaskFailed as failure:
            if failure.status == 503 and attempt < rules.attempts:
                continue
            return TaskResult(
                one.bucket, one.key, False, failure.status, failure.code, str(failure), version_id=one.version_id
            )
        break
    return TaskResult(one.bucket, one.key, True, 200, message=DONE, version_id=one.version_id)


def _copy(task: Task, operation: CopyOperation, rules: Rules, attempt: int) -> None:
    one = task.source
    if operation.role_arn in rules.denied_roles:
        raise _failed("AccessDenied")
    if fault := rules.fault(one.key, attempt):
        raise _failed(fault.code)
    found = _source(task)
    _check(found, operation, rules)
    target = operation.target_key(one.key)
    if stored.is_denied("s3:PutObject", operation.target_bucket, target):
        raise _failed("AccessDenied")
    try:
        _write(found, operation, target)
    except ServiceException as error:
        status = 404 if str(error.code).startswith("NoSuch") else 400
        raise TaskFailed(status, str(error.code), str(error.message)) from error


def _source(task: Task) -> Any:
    one = task.source
    if task.version_named and not one.version_id:
        raise TaskFailed(400, "InvalidArgument", "Version id cannot be the empty string")
    if stored.bucket(one.bucket) is None:
        raise TaskFailed(404, "NoSuchBucket", "The specified bucket does not exist")
    if stored.is_denied("s3:GetObject", one.bucket, one.key):
        raise _failed("AccessDenied")
    found = stored.stored(one.bucket, one.key, one.version_id)
    if found is None:
        # Whoever may not list is not told that an object is missing.
        raise _failed("AccessDenied" if stored.is_denied("s3:ListBucket", one.bucket) else "NoSuchKey")
    return found


def _check(found: Any, operation: CopyOperation, rules: Rules) -> None:
    if found.storage_class in ARCHIVED and found.expiry_date is None:
        raise _failed("InvalidObjectState")
    if found.size > rules.copy_limit:
        message = (
            f"The specified copy source is larger than the maximum allowable size for a copy source: {rules.copy_limit}"
        )
        raise TaskFailed(400, "InvalidRequest", message)
    modified = found.last_modified.replace(tzinfo=UTC, microsecond=0)
    too_new = operation.unmodified_since and modified > operation.unmodified_since
    too_old = operation.modified_since and modified <= operation.modified_since
    if too_new or too_old:
        raise TaskFailed(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")


def _write(found: Any, operation: CopyOperation, target: str) -> None:
    backend = stored.backend()
    backend.copy_object(
        found,
        operation.target_bucket,
        target,
        storage=operation.storage_class or None,
        encryption="aws:kms" if operation.kms_key else None,
        kms_key_id=operation.kms_key or None,
        mdirective="COPY" if operation.metadata is None else "REPLACE",
        metadata=operation.metadata,
        lock_mode=operation.lock_mode or None,
        lock_until=operation.lock_until or None,
        lock_legal_status=operation.legal_hold or None,
    )
    if operation.tags is not None:
        backend.put_object_tagging(stored.stored(operation.target_bucket, target), operation.tags)


def _failed(code: str) -> TaskFailed:
    status, message = FAULTS[code]
    return TaskFailed(status, code, message)


def _metadata(operation: Element) -> dict[str, str] | None:
    new = operation.find("NewObjectMetadata")
    if new is None or text(operation, "MetadataDirective") != "REPLACE":
        return None
    entries = new.iterfind("UserMetadata/entry")
    metadata = {f"x-amz-meta-{text(entry, 'key')}": text(entry, "value") for entry in entries}
    kind = text(new, "ContentType")
    return metadata | ({"Content-Type": kind} if kind else {})


def _tags(tagging: Element | None) -> dict[str, str] | None:
    if tagging is None:
        return None
    return {text(member, "Key"): text(member, "Value") for member in tagging.iterfind("member")}


def _moment(stamp: str) -> datetime | None:
    return datetime.fromisoformat(stamp).astimezone(UTC) if stamp else None
