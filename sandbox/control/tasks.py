"""The tasks of a copy job: read from its manifest, whole or not at all, and each a CopyObject inside moto's S3."""

import io
from typing import Any
from xml.etree.ElementTree import Element

from moto.core.exceptions import ServiceException

from lake.backup.batch_manifest import FIELDS, read_lines
from lake.backup.objects import FileUnreadable, ManifestObject, TaskResult
from sandbox.control import stored
from sandbox.control.jobs import Job
from sandbox.control.rules import Rules
from sandbox.control.xml import moment, text

COPY = "Operation/S3PutObjectCopy"
ARCHIVED = frozenset({"DEEP_ARCHIVE", "GLACIER"})


class ManifestRefused(Exception):
    """Why a job fails before its first task: S3's kind of reason, and a sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class TaskFailed(Exception):
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


def read_manifest(request: Element) -> list[ManifestObject]:
    """The objects that a request's manifest names, in its order. Raises ManifestRefused."""
    bucket, key = stored.split_arn(text(request, "Manifest/Location/ObjectArn"))
    found = stored.stored(bucket, key)
    if found is None:
        raise ManifestRefused("ManifestNotFound", f"There is no manifest s3://{bucket}/{key}.")
    if stored.is_denied("s3:GetObject", bucket, key):
        raise ManifestRefused("ManifestAccessDenied", f"The role may not read the manifest s3://{bucket}/{key}.")
    etag, wanted = stored.bare_etag(found), text(request, "Manifest/Location/ETag").strip('"')
    if etag != wanted:
        sentence = f"The manifest s3://{bucket}/{key} has the ETag {etag}, and the job was given {wanted}."
        raise ManifestRefused("ManifestETagMismatch", sentence)
    fields = tuple((member.text or "").strip() for member in request.iterfind("Manifest/Spec/Fields/member"))
    if fields != FIELDS:
        raise ManifestRefused("ManifestMalformed", f"The sandbox reads manifests of {FIELDS}, and none of {fields}.")
    try:
        objects = list(read_lines(io.StringIO(bytes(found.value).decode(), newline="")))
    except (FileUnreadable, UnicodeDecodeError) as error:
        raise ManifestRefused("ManifestMalformed", str(error)) from error
    if not objects:
        raise ManifestRefused("ManifestEmpty", "The manifest names no object.")
    if len({one.bucket for one in objects}) > 1:
        raise ManifestRefused("ManifestMalformed", "The manifest names objects of more than one bucket.")
    return objects


def run(one: ManifestObject, job: Job, rules: Rules) -> TaskResult:
    """Copy one object, refused where S3 would refuse it."""
    try:
        _copy(one, job, rules)
    except TaskFailed as failure:
        return TaskResult(one.bucket, one.key, False, failure.status, failure.code, str(failure))
    return TaskResult(one.bucket, one.key, True, 200, message="Successful")


def _copy(one: ManifestObject, job: Job, rules: Rules) -> None:
    if text(job.request, "RoleArn") in rules.denied_roles:
        raise _denied()
    found = _source(one)
    _check(found, job, rules)
    bucket, _ = stored.split_arn(text(job.request, f"{COPY}/TargetResource"))
    prefix = job.request.findtext(f"{COPY}/TargetKeyPrefix") or ""
    target = f"{prefix}/{one.key}" if prefix else one.key
    if stored.is_denied("s3:PutObject", bucket, target):
        raise _denied()
    kms_key = text(job.request, f"{COPY}/SSEAwsKmsKeyId") or None
    try:
        stored.backend().copy_object(
            found,
            bucket,
            target,
            storage=text(job.request, f"{COPY}/StorageClass") or None,
            encryption="aws:kms" if kms_key else None,
            kms_key_id=kms_key,
            mdirective="COPY",
        )
    except ServiceException as error:
        status = 404 if str(error.code).startswith("NoSuch") else 400
        raise TaskFailed(status, str(error.code), str(error.message)) from error


def _source(one: ManifestObject) -> Any:
    if stored.bucket(one.bucket) is None:
        raise TaskFailed(404, "NoSuchBucket", "The specified bucket does not exist")
    if stored.is_denied("s3:GetObject", one.bucket, one.key):
        raise _denied()
    found = stored.stored(one.bucket, one.key)
    if found is None:
        # Whoever may not list is not told that an object is missing.
        if stored.is_denied("s3:ListBucket", one.bucket):
            raise _denied()
        raise TaskFailed(404, "NoSuchKey", "The specified key does not exist.")
    return found


def _check(found: Any, job: Job, rules: Rules) -> None:
    if found.storage_class in ARCHIVED and found.expiry_date is None:
        raise TaskFailed(403, "InvalidObjectState", "The operation is not valid for the object's storage class")
    if found.size > rules.copy_limit:
        message = "The specified copy source is larger than the maximum allowable size for a copy source"
        raise TaskFailed(400, "InvalidRequest", f"{message}: {rules.copy_limit}")
    until = text(job.request, f"{COPY}/UnModifiedSinceConstraint")
    if until and moment(found.last_modified).replace(microsecond=0) > moment(until):
        raise TaskFailed(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")


def _denied() -> TaskFailed:
    return TaskFailed(403, "AccessDenied", "Access Denied")
