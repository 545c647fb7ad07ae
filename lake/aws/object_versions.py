"""What a bucket with versioning still has of one object: its older versions, and when it was deleted."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import unquote_plus

from lake.aws.answers import malformed
from lake.aws.buckets import parse_answer
from lake.aws.list_page import bare_etag
from lake.aws.s3 import S3

OPERATION = "s3:ListObjectVersions"
MOST = 100
"""Versions and delete markers that are looked at."""


@dataclass(frozen=True, slots=True)
class ObjectVersion:
    """One version of an object: `size` in bytes, `etag` without its quotes."""

    version_id: str
    size: int
    etag: str
    modified_at: datetime


@dataclass(frozen=True, slots=True)
class OlderVersions:
    """The noncurrent versions of one key, newest first. `deleted_at` is the time of its newest delete marker, or None.

    `is_complete` is False where there are more than were looked at.
    """

    versions: tuple[ObjectVersion, ...]
    deleted_at: datetime | None
    is_complete: bool


def older_versions(s3: S3, bucket: str, key: str) -> OlderVersions:
    """One request (ListObjectVersions). Keys that only begin with this one are left out. Raises AwsError."""
    query = {"versions": "", "prefix": key, "max-keys": str(MOST), "encoding-type": "url"}
    target = f"s3://{bucket}/{key}"
    answer = s3.ask(OPERATION, bucket, "", query=query, target=target)
    # An S3 that does not know the question may pass over it and list the objects, as Ceph does with others.
    if b"ListVersionsResult" not in answer.body[:1_000]:
        raise malformed(answer, "the answer is no list of versions", OPERATION, target)
    said = parse_answer(answer, OPERATION.removeprefix("s3:"), target)
    named = unquote_plus if said.get("EncodingType") == "url" else str
    listed = [(named(one.get("Key", "")), one) for one in (*said.get("Versions", ()), *said.get("DeleteMarkers", ()))]
    try:
        own = [one for name, one in listed if name == key]
        older = [_version(one) for one in own if "Size" in one and not one["IsLatest"]]
        deleted = [datetime.fromisoformat(one["LastModified"]) for one in own if "Size" not in one]
        # Keys come in order, so that all of this one's are there once another key follows.
        is_complete = not said["IsTruncated"] or len(own) < len(listed)
    except (KeyError, TypeError, ValueError) as error:
        raise malformed(answer, f"a version cannot be read: {error!r}", OPERATION, target) from error
    older.sort(key=lambda one: one.modified_at, reverse=True)
    return OlderVersions(tuple(older), max(deleted, default=None), is_complete)


def _version(said: Mapping[str, Any]) -> ObjectVersion:
    at = datetime.fromisoformat(said["LastModified"])
    return ObjectVersion(str(said["VersionId"]), int(said["Size"]), bare_etag(str(said.get("ETag", ""))), at)
