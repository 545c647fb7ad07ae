"""Restore points as they lie in the backup: each with a copy of its log of its own, and a list of all its objects.

What a later run copies over the backup's log cannot reach them, and a restore needs the bucket alone. Each name holds a
digest of what it names, and what is there is not written again, so that this may be interrupted anywhere and done anew.
"""

import gzip
import hashlib
import io
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, NamedTuple, TypedDict

import orjson

from lake.aws.copying import Copy, copied
from lake.aws.errors import OF_CREDENTIALS, AwsError
from lake.aws.list_page import ObjectSummary
from lake.aws.s3 import S3
from lake.aws.wire import PASSING_CODES
from lake.backup.objects import POINTS, BucketPrefix
from lake.delta.detaching import detaching_commit, is_coordinated
from lake.delta.facts import LogObject
from lake.delta.file_actions import LogUnreadable
from lake.delta.point_log import PointLog
from lake.delta.restorable import SizeOf
from lake.points.copies import LOG, StoredLog, is_same
from lake.points.table_actions import newest_actions

FORMAT = 1
_TROUBLE = PASSING_CODES | OF_CREDENTIALS | {"ConnectionFailed", "ServiceUnavailable"}
_OF_THE_FIRST = frozenset({"plan", "run", "commits", "proven_at", "digest"})
"""What a document says of the run that wrote it. All else is the same for whoever proves the point, and names it."""
DIFFERS = "{} is not what was written there. Move it away, and the next run writes it anew."


class PointFileJson(TypedDict):
    """The document of a restore point, as it lies in the backup.

    `objects` is the key below `destination` of a file in gzip. Each of its lines names one object of the point:
    `{"key": …, "size": …, "etag": …, "path": …}`, the key below `destination`, the path below the table, or null
    where the log names the object in full. `hash` is the SHA-256 of these lines, which are in the order of their keys;
    `digest` that of this document without it, as JSON with sorted keys and no blanks. `log_from` is the checkpoint that
    the point's log begins with, -1 for the first commit. A copy of a coordinated table would commit to the original's
    registration: `detaching` is the key of the commit that such a copy needs as its next version before any engine
    opens it; "" where the table is not coordinated, or the version has no in-commit timestamp to go on from.
    `commits` are versions that could be restored when the point was proven, with S3's times of their objects at the
    source, which copies do not have.
    """

    format: Annotated[int, 1]
    plan: Annotated[str, "nightly"]
    run: Annotated[str, "0d7e5f5c-3a8c-4c53-8a9f-5f6f0a1f2c11"]
    destination: Annotated[str, "s3a://vault/lake/"]
    table: Annotated[str, "s3a://lake/orders"]
    incarnation: Annotated[str, "7426a6d4-0b3c-4f6e-9b9a-2f3d4c5b6a71"]
    version: Annotated[int, 41]
    in_commit_timestamps: bool
    log_from: Annotated[int, 40]
    coordinated: bool
    detaching: Annotated[str, ""]
    files: Annotated[int, 460]
    bytes: Annotated[int, 123456]
    objects: Annotated[str, "_levee/points/lake/orders/@41-9b1d6e0f3a7c2584.jsonl.gz"]
    hash: Annotated[str, "9b1d6e0f3a7c2584…"]
    commits: Annotated[list[tuple[int, str]], [[41, "2026-11-20T10:00:00+00:00"]]]
    proven_at: Annotated[str, "2026-11-20T12:00:00+00:00"]
    digest: Annotated[str, "c0ffee…"]


class NotKept(Exception):
    """The point cannot be kept; the message is one sentence."""


class PointObject(NamedTuple):
    """One object of a point. `key` is below the place of the backup, `path` below the table that it is part of; None
    where the log names it in full."""

    key: str
    size: int
    etag: str
    path: str | None


@dataclass(frozen=True)
class Keeper:
    """Keeps the points of one run in the backup that it wrote."""

    s3: S3
    place: BucketPrefix
    source_bucket: str
    encryption_key: str
    plan: str
    run: str

    def keep(
        self,
        root: str,
        point: PointLog,
        log: StoredLog,
        size_of: SizeOf,
        commits: Mapping[int, datetime],
        now: datetime,
    ) -> str:
        """Write what is not there yet, read all of it back, and return the URI of the point's document.

        `log` is the one that the point was proven from; `commits` are S3's times of the versions that can be restored.
        Raises NotKept, and AwsError for what is no trouble of this one point.
        """
        table = "/".join(filter(None, (self.source_bucket, root)))
        folder = f"{POINTS}{table}/@"
        try:
            objects = [*self._log(f"{folder}log/", point, log), *self._data(root, point, log, size_of)]
            packed, digest = packed_list(objects)
            listed = f"{folder}{point.state.version}-{digest[:16]}.jsonl.gz"
            self.write(listed, packed)
            leaving = self._detaching(folder, point, log)
            document = self._document(table, point, listed, digest, leaving, commits, now)
            key = f"{folder}{point.state.version}-{digest_of(document, _OF_THE_FIRST)[:16]}.json"
            self.write(key, orjson.dumps(document, option=orjson.OPT_INDENT_2))
            self._require(key, document)
        except AwsError as error:
            if may_pass(error):
                raise
            raise NotKept(str(error)) from error
        return self.place.below(key).uri

    def _log(self, folder: str, point: PointLog, log: StoredLog) -> list[PointObject]:
        """The objects of the point's log, after each has been copied that no earlier point has."""
        original = log.instead or log  # Copies of the same bytes may have another ETag each time, as under KMS
        wanted = {
            f"{name}.{_digest_of(found.size, original.etag(found.name))}": found
            for name, found in point.objects.items()
        }
        first = f"{max(point.base, 0):020d}"  # Names begin with versions, but for those of sidecars, which come after
        there = self._listed(folder, first)
        if missing := wanted.keys() - there.keys():
            list(log.pool.map(lambda name: self._copy(folder + name, wanted[name], log), missing))
            there = self._listed(folder, first)
        own = StoredLog(self.s3, self.place.bucket, self.place.prefix + folder, log.pool, tuple(there.values()))
        list(log.pool.map(lambda name: self._compare(own, name, there.get(name), log, wanted[name]), wanted))
        paths = zip(point.objects, wanted, strict=True)
        return [PointObject(folder + key, there[key].size, there[key].etag, LOG + name) for name, key in paths]

    def _compare(self, own: StoredLog, name: str, copy: ObjectSummary | None, log: StoredLog, found: LogObject) -> None:
        """Raise NotKept where a copy is not what it was made from."""
        try:
            if copy and is_same(own, LogObject(name, copy.size, copy.modified_at, copy.etag), log, found):
                return
        except LogUnreadable as reason:
            raise NotKept(str(reason)) from reason
        raise NotKept(DIFFERS.format(f"s3a://{own.bucket}/{own.folder}{name}"))

    def _copy(self, key: str, found: LogObject, log: StoredLog) -> None:
        for origin in filter(None, (log, log.instead)):
            copy = Copy(
                origin.bucket,
                origin.folder + found.name,
                self.place.bucket,
                self.place.prefix + key,
                found.size,
                etag=origin.etag(found.name),
                encryption_key=self.encryption_key,
                with_tags=False,
            )
            try:
                copied(self.s3, copy)
            except AwsError as error:
                if not error.is_archived or origin is log.instead:
                    raise
            else:
                return

    def _listed(self, folder: str, first: str) -> dict[str, ObjectSummary]:
        whole = self.place.prefix + folder
        pages = self.s3.list(self.place.bucket, whole, start_after=whole + first)
        return {one.key[len(whole) :]: one for page in pages for one in page.objects}

    def _detaching(self, folder: str, point: PointLog, log: StoredLog) -> tuple[bool, str]:
        """Whether the table is coordinated, and the key of the commit by which a copy leaves its coordinator."""
        state, objects = point.state, point.objects
        try:
            newest = newest_actions(point.telling, lambda name: log.open(objects[name].name))
            if not is_coordinated(newest["metaData"]):
                return False, ""
            if state.in_commit_timestamp is None:
                return True, ""
            commit = detaching_commit(newest["protocol"], newest["metaData"], state.in_commit_timestamp)
        except LogUnreadable as reason:
            raise NotKept(str(reason)) from reason
        except (TypeError, ValueError, AttributeError) as error:  # proving reads less of these actions
            raise NotKept(f"Its protocol or metadata cannot be read: {error}.") from error
        key = f"{folder}{state.version}-{hashlib.sha256(commit).hexdigest()[:16]}.detaching"
        self.write(key, commit)
        if self.stored(key) != commit:
            raise NotKept(DIFFERS.format(self.place.below(key).uri))
        return True, key

    def _data(self, root: str, point: PointLog, log: StoredLog, size_of: SizeOf) -> list[PointObject]:
        """The data files and deletion vectors, as they are in the backup now."""
        start, below = len(self.place.prefix), f"{root}/" if root else ""
        pages = self.s3.list(self.place.bucket, self.place.prefix + below) if point.files else ()
        found = {one.key[start:]: one for page in pages for one in page.objects if one.key[start:] in point.files}
        others = [key for key in point.files if not key.startswith(below)]
        heads = log.pool.map(lambda key: self.s3.head(self.place.bucket, self.place.prefix + key), others)
        found |= {key: one for key, one in zip(others, heads, strict=True) if one}
        for key in point.files:
            if key not in found or found[key].size != size_of(key):
                raise NotKept(f"{self.place.below(key).uri} changed while the table was proven.")
        return [PointObject(key, found[key].size, found[key].etag, path) for key, path in point.files.items()]

    def write(self, key: str, data: bytes) -> None:
        """Write an object where none is, since what is there under its name is the same."""
        try:
            self.s3.put(self.place.bucket, self.place.prefix + key, data, encryption_key=self.encryption_key)
        except AwsError as error:
            if not error.is_condition_failed:
                raise

    def _require(self, key: str, document: PointFileJson) -> None:
        """Raise NotKept unless document and list are there as they were written, by whichever run."""
        if not _is_document(self.stored(key), document):
            raise NotKept(DIFFERS.format(self.place.below(key).uri))
        if not _is_list(self.stored(document["objects"]), document["hash"]):
            raise NotKept(DIFFERS.format(self.place.below(document["objects"]).uri))

    def stored(self, key: str) -> bytes:
        return self.s3.get(self.place.bucket, self.place.prefix + key).data

    def _document(
        self,
        table: str,
        point: PointLog,
        objects: str,
        digest: str,
        leaving: tuple[bool, str],
        commits: Mapping[int, datetime],
        now: datetime,
    ) -> PointFileJson:
        state = point.state
        coordinated, detaching = leaving
        said = PointFileJson(
            format=FORMAT,
            plan=self.plan,
            run=self.run,
            destination=self.place.uri,
            table=f"s3a://{table}",
            incarnation=state.table_id,
            version=state.version,
            in_commit_timestamps=state.has_own_time,
            log_from=point.base,
            coordinated=coordinated,
            detaching=detaching,
            files=state.files,
            bytes=state.bytes,
            objects=objects,
            hash=digest,
            commits=[(version, moment.isoformat()) for version, moment in commits.items()],
            proven_at=now.isoformat(),
            digest="",
        )
        return {**said, "digest": digest_of(said)}


def may_pass(error: AwsError) -> bool:
    """Whether what AWS refused is no trouble of one point, and worth another try soon."""
    return error.is_throttle or error.code in _TROUBLE


def packed_list(objects: Iterable[PointObject]) -> tuple[bytes, str]:
    """A line of JSON for each object, in the order of their keys, in gzip; and the SHA-256 of the lines."""
    digest, packed = hashlib.sha256(), io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=6, mtime=0) as file:
        for one in sorted(objects):
            line = orjson.dumps(one._asdict()) + b"\n"
            digest.update(line)
            file.write(line)
    return packed.getvalue(), digest.hexdigest()


def digest_of(document: Mapping[str, Any], without: Collection[str] = ("digest",)) -> str:
    """The SHA-256 of a point's document but for its `digest`, as JSON with sorted keys and no blanks."""
    rest = {name: value for name, value in document.items() if name not in without}
    return hashlib.sha256(orjson.dumps(rest, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _is_document(data: bytes, document: PointFileJson) -> bool:
    try:
        said = orjson.loads(data)
        same = {name: said[name] for name in document if name not in _OF_THE_FIRST}
        return same.items() <= document.items() and said["digest"] == digest_of(said)
    except (ValueError, LookupError, TypeError, AttributeError):
        return False


def _is_list(packed: bytes, digest: str) -> bool:
    try:
        return hashlib.sha256(gzip.decompress(packed)).hexdigest() == digest
    except (EOFError, OSError, zlib.error):
        return False


def _digest_of(size: int, etag: str) -> str:
    return hashlib.sha256(f"{size} {etag}".encode()).hexdigest()[:16]
