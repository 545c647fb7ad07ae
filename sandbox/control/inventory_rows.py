"""What an inventory lists: one row for each object of a bucket, or for each version.

Columns and their values: S3 User Guide, "Amazon S3 Inventory list".
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from moto.s3.models import OWNER, FakeDeleteMarker

from sandbox.control import stored

Row = dict[str, Any]
ENCRYPTION = {"AES256": "SSE-S3", "aws:kms": "SSE-KMS", "aws:kms:dsse": "DSSE-KMS"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column's name in CSV and in ORC and Parquet, its type there, and its value for a stored object."""

    csv_name: str
    name: str
    kind: str
    value: Callable[[Any], Any]


def _moment(found: Any) -> datetime:
    moment: datetime = found.last_modified
    return moment.replace(tzinfo=UTC, microsecond=moment.microsecond // 1000 * 1000)


def _lock_until(found: Any) -> datetime | None:
    return datetime.fromisoformat(found.lock_until) if found.lock_until else None


OPTIONAL = {
    column.csv_name: column
    for column in (
        Column("Size", "size", "bigint", lambda found: found.size),
        Column("LastModifiedDate", "last_modified_date", "timestamp", _moment),
        Column("ETag", "e_tag", "string", stored.bare_etag),
        Column("StorageClass", "storage_class", "string", lambda found: found.storage_class),
        Column("IsMultipartUploaded", "is_multipart_uploaded", "boolean", lambda found: "-" in found.etag),
        Column("ReplicationStatus", "replication_status", "string", lambda found: None),
        Column(
            "EncryptionStatus",
            "encryption_status",
            "string",
            lambda found: ENCRYPTION.get(found.encryption or "AES256", "NOT-SSE"),
        ),
        Column("ObjectLockRetainUntilDate", "object_lock_retain_until_date", "timestamp", _lock_until),
        Column("ObjectLockMode", "object_lock_mode", "string", lambda found: found.lock_mode or None),
        Column(
            "ObjectLockLegalHoldStatus",
            "object_lock_legal_hold_status",
            "string",
            lambda found: found.lock_legal_status or None,
        ),
        Column(
            "IntelligentTieringAccessTier",
            "intelligent_tiering_access_tier",
            "string",
            lambda found: "FREQUENT" if found.storage_class == "INTELLIGENT_TIERING" else None,
        ),
        Column("BucketKeyStatus", "bucket_key_status", "string", lambda found: "DISABLED"),
        Column("ChecksumAlgorithm", "checksum_algorithm", "string", lambda found: found.checksum_algorithm),
        Column("ObjectAccessControlList", "object_access_control_list", "string", lambda found: None),
        Column("ObjectOwner", "object_owner", "string", lambda found: OWNER),
        Column("LifecycleExpirationDate", "lifecycle_expiration_date", "timestamp", lambda found: None),
    )
}
_VERSIONS = ("VersionId", "IsLatest", "IsDeleteMarker")
_VERSION_COLUMNS = tuple(
    Column(csv_name, name, kind, lambda found: None)
    for csv_name, name, kind in zip(
        _VERSIONS, ("version_id", "is_latest", "is_delete_marker"), ("string", "boolean", "boolean"), strict=True
    )
)
_FIRST = tuple(Column(name, name.lower(), "string", lambda found: None) for name in ("Bucket", "Key"))


@dataclass(frozen=True, slots=True)
class Staleness:
    """How far the list lies behind the bucket: it lacks what was written after `not_after` (UTC), and still holds
    `deleted`, rows by column name that the bucket has no objects for.
    """

    not_after: datetime | None = None
    deleted: tuple[Mapping[str, Any], ...] = field(default_factory=tuple)


def columns_of(fields: tuple[str, ...], *, all_versions: bool) -> tuple[Column, ...]:
    """In S3's own order, whatever that of the configuration."""
    optional = tuple(column for name, column in OPTIONAL.items() if name in fields)
    return _FIRST + (_VERSION_COLUMNS if all_versions else ()) + optional


def rows_of(
    bucket: str, prefix: str, columns: tuple[Column, ...], *, all_versions: bool, staleness: Staleness
) -> Iterator[Row]:
    """Rows by the columns' names in ORC and Parquet; keys and values as they are, None for an empty one."""
    keys = stored.bucket(bucket).keys
    for key in list(keys):
        if not key.startswith(prefix):
            continue
        versions = [one for one in keys.getlist(key, []) if not _is_too_new(one, staleness)]
        for found in versions if all_versions else versions[-1:]:
            is_marker = isinstance(found, FakeDeleteMarker)
            if is_marker and not all_versions:
                continue
            row: Row = {"bucket": bucket, "key": key}
            if all_versions:
                version = str(found.version_id or stored.NULL_VERSION)
                row["version_id"] = None if version == stored.NULL_VERSION else version
                row |= {"is_latest": found is versions[-1], "is_delete_marker": is_marker}
            yield row | _facts(found, columns, is_marker=is_marker)
    for deleted in staleness.deleted:
        yield {column.name: None for column in columns} | {"bucket": bucket} | dict(deleted)


def _facts(found: Any, columns: tuple[Column, ...], *, is_marker: bool) -> Row:
    wanted = [column for column in columns if column.csv_name in OPTIONAL]
    if is_marker:
        return {column.name: _moment(found) if column.value is _moment else None for column in wanted}
    return {column.name: column.value(found) for column in wanted}


def _is_too_new(found: Any, staleness: Staleness) -> bool:
    return staleness.not_after is not None and _moment(found) > staleness.not_after
