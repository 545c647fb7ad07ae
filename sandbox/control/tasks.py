"""The tasks of a copy job: read from its manifest, whole or not at all, and each a CopyObject inside moto's S3."""

import io
from typing import Any

from moto.core.exceptions import ServiceException

from lake.backup.batch_manifest import read_lines
from lake.backup.objects import FileUnreadable, ManifestObject, TaskResult
from sandbox.control import stored
from sandbox.control.jobs import Job, Rules
from sandbox.control.xml import Document, Refusal, moment, text

COPY = "Operation/S3PutObjectCopy"
ARCHIVED = frozenset({"DEEP_ARCHIVE", "GLACIER"})


def read_manifest(request: Document) -> list[ManifestObject]:
    """The objects that a request's manifest names, in its order. Raises Refusal."""
    bucket, key = stored.split_arn(text(request, "Manifest/Location/ObjectArn"))
    found = stored.stored(bucket, key)
    if found is None:
        raise Refusal("ManifestNotFound", f"There is no manifest s3://{bucket}/{key}.")
    etag, wanted = stored.bare_etag(found), text(request, "Manifest/Location/ETag").strip('"')
    if etag != wanted:
        sentence = f"The manifest s3://{bucket}/{key} has the ETag {etag}, and the job was given {wanted}."
        raise Refusal("ManifestETagMismatch", sentence)
    try:
        return list(read_lines(io.StringIO(bytes(found.value).decode(), newline="")))
    except (FileUnreadable, UnicodeDecodeError) as error:
        raise Refusal("ManifestMalformed", str(error)) from error


def run(one: ManifestObject, job: Job, rules: Rules) -> TaskResult:
    """Copy one object, refused where S3 would refuse it."""
    try:
        _copy(one, job, rules)
    except Refusal as refusal:
        return TaskResult(one.bucket, one.key, False, refusal.status, refusal.code, str(refusal))
    return TaskResult(one.bucket, one.key, True, 200, message="Successful")


def _copy(one: ManifestObject, job: Job, rules: Rules) -> None:
    if text(job.request, "RoleArn") in rules.denied_roles:
        raise _denied()
    found = _source(one)
    _check(found, job, rules)
    bucket, _ = stored.split_arn(text(job.request, f"{COPY}/TargetResource"))
    prefix = text(job.request, f"{COPY}/TargetKeyPrefix")
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
        raise Refusal(str(error.code), str(error.message), status) from error


def _source(one: ManifestObject) -> Any:
    if stored.is_denied("s3:GetObject", one.bucket, one.key):
        raise _denied()
    found = stored.stored(one.bucket, one.key)
    if found is None:
        raise Refusal("NoSuchKey", "The specified key does not exist.", 404)
    return found


def _check(found: Any, job: Job, rules: Rules) -> None:
    if found.storage_class in ARCHIVED and found.expiry_date is None:
        raise Refusal("InvalidObjectState", "The operation is not valid for the object's storage class", 403)
    if found.size > rules.copy_limit:
        message = "The specified copy source is larger than the maximum allowable size for a copy source"
        raise Refusal("InvalidRequest", f"{message}: {rules.copy_limit}", 400)
    until = text(job.request, f"{COPY}/UnModifiedSinceConstraint")
    if until and moment(found.last_modified).replace(microsecond=0) > moment(until):
        raise Refusal("PreconditionFailed", "At least one of the pre-conditions you specified did not hold", 412)


def _denied() -> Refusal:
    return Refusal("AccessDenied", "Access Denied", 403)
