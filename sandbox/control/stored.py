"""The objects that moto keeps, read and written inside this process."""

import hashlib
from typing import Any

from moto.core import DEFAULT_ACCOUNT_ID
from moto.iam.access_control import PermissionResult
from moto.s3.models import FakeDeleteMarker, s3_backends


def backend() -> Any:
    return s3_backends[DEFAULT_ACCOUNT_ID]["aws"]


def bucket(name: str) -> Any:
    """moto's bucket, or None."""
    return backend().buckets.get(name)


def stored(bucket_name: str, key: str) -> Any:
    """moto's newest object of a key; None where there is none or a delete marker."""
    found = bucket(bucket_name)
    newest = found.keys.get(key) if found is not None else None
    return None if isinstance(newest, FakeDeleteMarker) else newest


def write(bucket_name: str, key: str, data: bytes) -> None:
    backend().put_object(bucket_name, key, data, disable_notification=True)


def bare_etag(found: Any) -> str:
    return str(found.etag).strip('"')


def is_denied(action: str, bucket_name: str, key: str) -> bool:
    """Whether the bucket's policy denies an action; nobody else denies anything here."""
    found = bucket(bucket_name)
    permission = found and found.get_permission(action, f"arn:aws:s3:::{bucket_name}/{key}")
    return bool(permission == PermissionResult.DENIED)


def split_arn(arn: str) -> tuple[str, str]:
    """Bucket and key of an ARN of S3; the key is "" for a bucket's."""
    name, _, key = arn.removeprefix("arn:aws:s3:::").partition("/")
    return name, key


def md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
