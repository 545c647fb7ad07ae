"""What an inventory lists: one row for each object of a bucket, or for each version.

Columns and their values: S3 User Guide, "Amazon S3 Inventory list".
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from moto.s3.models import OWNER, FakeDeleteMarker

from sandbox.control import stored
from sandbox.control.xml import moment

Row = dict[str, Any]
_TIERS = {"INTELLIGENT_TIERING": "FREQUENT"}
ENCRYPTION = {"AES256": "SSE-S3", "aws:kms": "SSE-KMS", "aws:kms:dsse": "DSSE-KMS"}


def _modified_at(found: Any) -> datetime:
    at = moment(found.last_modified)
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


def _encryption(found: Any) -> str:
    return ENCRYPTION.get(found.encryption or "AES256", "NOT-SSE")


@dataclass(frozen=True, slots=True)
class Column:
    """A column's name in CSV, its type in ORC and Parquet, and its value for a stored object."""

    csv_name: str
    kind: str
    value: Callable[[Any], Any] = lambda found: None

    @property
    def name(self) -> str:
        """Its name in ORC and Parquet."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", self.csv_name).lower()


OPTIONAL = {
    column.csv_name: column
    for column in (
        Column("Size", "bigint", lambda found: found.size),
        Column("LastModifiedDate", "timestamp", _modified_at),
        Column("ETag", "string", stored.bare_etag),
        Column("StorageClass", "string", lambda found: found.storage_class),
        Column("IsMultipartUploaded", "boolean", lambda found: "-" in found.etag),
        Column("ReplicationStatus", "string"),
        Column("EncryptionStatus", "string", _encryption),
        Column("ObjectLockRetainUntilDate", "timestamp"),
        Column("ObjectLockMode", "string"),
        Column("ObjectLockLegalHoldStatus", "string"),
        Column("IntelligentTieringAccessTier", "string", lambda found: _TIERS.get(found.storage_class)),
        Column("BucketKeyStatus", "string", lambda found: "DISABLED"),
        Column("ChecksumAlgorithm", "string", lambda found: found.checksum_algorithm),
        Column("ObjectAccessControlList", "string"),
        Column("ObjectOwner", "string", lambda found: OWNER),
        Column("LifecycleExpirationDate", "timestamp"),
    )
}
_VERSION_COLUMNS = (Column("VersionId", "string"), Column("IsLatest", "boolean"), Column("IsDeleteMarker", "boolean"))
_FIRST = (Column("Bucket", "string"), Column("Key", "string"))


def columns_of(fields: tuple[str, ...], *, all_versions: bool) -> tuple[Column, ...]:
    """In S3's own order, whatever that of the configuration."""
    optional = tuple(column for name, column in OPTIONAL.items() if name in fields)
    return _FIRST + (_VERSION_COLUMNS if all_versions else ()) + optional


def rows_of(bucket: str, prefix: str, columns: tuple[Column, ...], *, all_versions: bool) -> Iterator[Row]:
    """Rows by the columns' names in ORC and Parquet; keys and values as they are, None for an empty one."""
    keys = stored.bucket(bucket).keys
    wanted = [column for column in columns if column.csv_name in OPTIONAL]
    for key in [key for key in keys if key.startswith(prefix)]:
        versions = keys.getlist(key, [])
        for found in versions if all_versions else versions[-1:]:
            is_marker = isinstance(found, FakeDeleteMarker)
            if is_marker and not all_versions:
                continue
            # Of a delete marker only its time is told.
            told = [column for column in wanted if not is_marker or column.value is _modified_at]
            row: Row = {column.name: None for column in columns} | {"bucket": bucket, "key": key}
            if all_versions:
                # An object written before versioning has the id "null", which a list leaves empty.
                version = str(found.version_id or "null")
                row["version_id"] = None if version == "null" else version
                row |= {"is_latest": found is versions[-1], "is_delete_marker": is_marker}
            yield row | {column.name: column.value(found) for column in told}
