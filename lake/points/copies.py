"""A backup as it lies in S3: the logs of its tables, and the size of every other object."""

import io
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import BinaryIO

from lake.aws.errors import AwsError
from lake.aws.list_page import ObjectSummary
from lake.aws.s3 import S3
from lake.backup.objects import POINTS, BucketPrefix
from lake.delta.facts import LogListing, LogObject
from lake.delta.file_actions import LogUnreadable
from lake.delta.listing import read_listing

LOG = "_delta_log/"
AT_ONCE = 64
"""Objects of a log that are in memory together."""
REMEMBERED = 64 * 1024
"""Bytes up to which an object of a log is not asked for a second time, of MOST_REMEMBERED objects."""
MOST_REMEMBERED = 500


@dataclass
class BackupObjects:
    """The objects below a place. `logs` are those of each table's log by the table's root, a key without the place's
    prefix ("" for the place itself); `sizes` are the bytes of all others by their keys, of the same kind."""

    place: BucketPrefix
    logs: dict[str, list[ObjectSummary]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    def listing(self, root: str) -> LogListing:
        """The log of a table, sorted into what each object is."""
        return read_listing(self.logs.get(root, ()), self.place.prefix + log_of(root), folders_listed=True)


def log_of(root: str) -> str:
    """The folder of a table's log by the table's root."""
    return f"{root}/{LOG}" if root else LOG


def read_copy(s3: S3, place: BucketPrefix, within: str) -> BackupObjects:
    """List the place, or what of it begins with `within`. Raises AwsError."""
    copy = BackupObjects(place)
    for key, found in _listed(s3, place, within):
        root = _root_of(key)
        if root is None:
            copy.sizes[key] = found.size
        else:
            copy.logs.setdefault(root, []).append(found)
    return copy


def roots_below(s3: S3, place: BucketPrefix, within: str) -> list[str]:
    """The roots of all tables that have a log there, sorted. Raises AwsError."""
    roots = {_root_of(key) for key, _ in _listed(s3, place, within)}
    return sorted(root for root in roots if root is not None)


def _listed(s3: S3, place: BucketPrefix, within: str) -> Iterator[tuple[str, ObjectSummary]]:
    """Objects by their keys below the place, but for those of restore points."""
    for page in s3.list(place.bucket, place.prefix + within):
        for found in page.objects:
            key = found.key[len(place.prefix) :]
            if f"/{POINTS}" not in f"/{key}":
                yield key, found


def _root_of(key: str) -> str | None:
    """The root of the table of whose log this is the key of an object; None for any other."""
    before, log, _ = f"/{key}".partition(f"/{LOG}")
    return before[1:] if log else None


@dataclass(frozen=True)
class StoredLog:
    """A table's log in S3, as it was listed, read by the threads of `pool`.

    What of it lies in an archive is read from `instead`.
    """

    s3: S3
    bucket: str
    folder: str
    pool: ThreadPoolExecutor
    listed: Sequence[ObjectSummary] = ()
    instead: "StoredLog | None" = None
    _read: dict[str, bytes] = field(default_factory=dict)

    @cached_property
    def _etags(self) -> dict[str, str]:
        return {one.key[len(self.folder) :]: one.etag for one in self.listed}

    def etag(self, name: str) -> str:
        """What an object was listed with, "" where it was not listed or without one."""
        return self._etags.get(name, "")

    def bodies(self, names: Sequence[str]) -> Iterator[bytes | LogUnreadable]:
        for start in range(0, len(names), AT_ONCE):
            yield from self.pool.map(self.body, names[start : start + AT_ONCE])

    def open(self, name: str) -> BinaryIO:
        body = self.body(name)
        if isinstance(body, LogUnreadable):
            raise body
        return io.BytesIO(body)

    def body(self, name: str) -> bytes | LogUnreadable:
        """The object whole, or why this one cannot be had. Raises AwsError for what is no trouble of one object."""
        if (read := self._read.get(name)) is not None:
            return read
        try:
            found = self.s3.get(self.bucket, self.folder + name)
        except AwsError as error:
            if error.is_archived and self.instead is not None:
                return self.instead.body(name)
            if not is_of_one_object(error):
                raise
            archived = f"{error.target} lies in an archive: have S3 restore it first (RestoreObject)."
            return LogUnreadable(archived if error.is_archived else str(error))
        if found.etag and self.etag(name) not in ("", found.etag):
            return LogUnreadable(f"{name} was written anew after the log was listed.")
        if found.size <= REMEMBERED and len(self._read) < MOST_REMEMBERED:
            self._read[name] = found.data
        return found.data


def is_of_one_object(error: AwsError) -> bool:
    """Whether S3 refused what was asked for, and trying again would not help; others may be had all the same."""
    is_gone = error.code in {"NoSuchKey", "NotFound"}
    return error.is_access_denied or error.is_archived or is_gone or error.code.startswith("KMS.")


def is_same(log: StoredLog, found: LogObject, original: StoredLog, there: LogObject) -> bool:
    """Whether objects of two logs are the same: of one size and ETag, or, as an ETag may be of parts or encrypted, of
    one size and the same bytes. Raises LogUnreadable where bytes tell and cannot be had."""
    if found.size != there.size:
        return False
    if found.etag and found.etag == there.etag:
        return True
    with log.open(found.name) as one, original.open(there.name) as other:
        return one.read() == other.read()
