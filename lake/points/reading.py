"""Reading what a kept restore point restores: from the backup alone, as it is now."""

import gzip
import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, BinaryIO, NamedTuple

import orjson

from lake.aws.errors import AwsError
from lake.aws.list_page import ObjectSummary
from lake.aws.s3 import S3
from lake.backup.objects import POINTS, BucketPrefix, place_of
from lake.delta.facts import LogListing
from lake.delta.file_actions import LogUnreadable
from lake.delta.listing import read_listing
from lake.delta.names import parse_name
from lake.delta.proving import Prover
from lake.delta.restorable import REASONS, TableAtVersion, TableFiles
from lake.points.copies import LOG, StoredLog, is_of_one_object
from lake.points.keeping import FORMAT, PointFileJson, PointObject, digest_of
from lake.points.table_actions import newest_actions

_READ = {
    "table": str,
    "incarnation": str,
    "version": int,
    "log_from": int,
    "objects": str,
    "hash": str,
    "commits": list,
}
"""What is read of a document, and its types."""
MOST_DOCUMENTS = 50
"""Documents of one table that are read to find one whose log reaches a version."""


class NotRestorable(Exception):
    """Nothing is restored from this point now; the message is one or more sentences."""


@dataclass(frozen=True)
class KeptPoint:
    """A restore point by its document at `uri`. `place` is the backup as it lies now, which may be a copy of the bucket
    that the document names; `commits` are those of the document."""

    uri: str
    place: BucketPrefix
    document: PointFileJson
    commits: Mapping[int, datetime]

    @property
    def source(self) -> BucketPrefix:
        """The table's bucket at the source, and its root without slashes at the ends."""
        bucket, _, root = self.document["table"].partition("://")[2].partition("/")
        return BucketPrefix(bucket, root)

    @property
    def folder(self) -> str:
        """What the keys of the table's points begin with, below the place."""
        return _folder(self.document["table"])

    def reaches(self, version: int) -> bool:
        return max(self.document["log_from"], 0) <= version <= self.document["version"]


class LogCopy(NamedTuple):
    """An object of a point's log: its `name` there, and where in the bucket it lies."""

    name: str
    key: str
    size: int
    etag: str


class FileCopy(NamedTuple):
    """A data file or one of deletion vectors: its `path` below the table, "" where the log names it in full, and where
    in the bucket it lies."""

    path: str
    key: str
    size: int
    etag: str
    storage_class: str


@dataclass(frozen=True)
class RestorableVersion:
    """A version of a table, all of whose objects were found in the backup as they should be.

    `log` is what leads to it, `files` are what it has, and `metadata` and `protocol` the actions of that version.
    """

    point: KeptPoint
    state: TableAtVersion
    log: tuple[LogCopy, ...]
    files: tuple[FileCopy, ...]
    metadata: Mapping[str, Any]
    protocol: Mapping[str, Any]


def read_point(s3: S3, uri: str) -> KeptPoint:
    """The point of a document. Raises NotRestorable where it is none, AwsError."""
    at = place_of(uri)
    key = at.prefix.rstrip("/")
    try:
        document: PointFileJson = orjson.loads(s3.get(at.bucket, key).data)
        folder, is_whole = _folder(document["table"]), document["digest"] == digest_of(document)
        is_known = document["format"] == FORMAT and all(type(document[one]) is kind for one, kind in _READ.items())  # type: ignore[literal-required]
        commits = {int(version): datetime.fromisoformat(text) for version, text in document["commits"]}
        is_known = is_known and all(moment.tzinfo for moment in commits.values())
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise NotRestorable(f"{uri} is no document of a restore point.") from error
    before, found, _ = key.partition(f"{folder}@")
    if not (is_whole and is_known and found):
        raise NotRestorable(f"{uri} is not as a run has written it, or of a release that this one does not know.")
    return KeptPoint(uri, BucketPrefix(at.bucket, before), document, commits)


def point_that_reaches(s3: S3, point: KeptPoint, version: int) -> KeptPoint:
    """The oldest point of the same history, from this one back, whose log leads to a version. Raises NotRestorable."""
    if point.reaches(version):
        return point
    unreadable = 0
    for key in _documents_from(s3, point, version)[:MOST_DOCUMENTS]:
        try:
            earlier = read_point(s3, f"s3a://{point.place.bucket}/{key}")
        except NotRestorable:
            unreadable += 1
        except AwsError as error:
            if not is_of_one_object(error):
                raise
            unreadable += 1
        else:
            if earlier.reaches(version) and is_earlier_of(point, earlier, version):
                return earlier
    newest, first = point.document["version"], max(point.document["log_from"], 0)
    skipped = f" Of {unreadable:,} earlier ones the document could not be read." if unreadable else ""
    raise NotRestorable(
        f"No restore point is known to lead to version {version:,} of this history of the table; this one leads to "
        f"{first:,} to {newest:,}.{skipped}"
    )


def _documents_from(s3: S3, point: KeptPoint, version: int) -> list[str]:
    """The keys of the documents of earlier points of the table from a version on, the oldest first."""
    start = point.place.prefix + point.folder
    keys = [one.key for page in s3.list(point.place.bucket, f"{start}@") for one in page.objects]
    named = [(int(text), key) for key in keys if (text := _version_in(key[len(start) :])).isdecimal()]
    return [key for of, key in sorted(named) if version <= of < point.document["version"]]


def is_earlier_of(point: KeptPoint, earlier: KeptPoint, version: int) -> bool:
    """Whether a version is the same commit in both: another history may have the table's id, as after a foreign writer
    has replaced the log, but its commits were not written when these were."""
    is_same_table = earlier.document["incarnation"] == point.document["incarnation"]
    own, other = point.commits.get(version), earlier.commits.get(version)
    return is_same_table and own is not None and own == other


def version_at(point: KeptPoint, moment: datetime, holds_until: datetime | None) -> int:
    """The version that was the newest of the log at a moment, by S3's times of the commits at the source, which the
    point keeps.

    `holds_until`: every commit that S3 was given before that is in the point. Raises NotRestorable.
    """
    version = max((one for one, at in point.commits.items() if at <= moment), default=None)
    if version is None:
        raise NotRestorable(
            f"No version that can be restored was there at {moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC."
        )
    is_last = version == point.document["version"]
    if version + 1 in point.commits or (is_last and holds_until is not None and moment <= holds_until):
        return version
    known = f"known up to {holds_until:%Y-%m-%d %H:%M} UTC" if holds_until and is_last else "not known"
    raise NotRestorable(
        f"Version {version:,} is the last before that moment that can be restored; whether another one followed it by "
        f"then is {known}. Name the version to restore it."
    )


def read_version(s3: S3, point: KeptPoint, version: int, pool: ThreadPoolExecutor) -> RestorableVersion:
    """Read the point's log and list its objects: is this version all there now? Raises NotRestorable, AwsError."""
    try:
        return _read_version(s3, point, version, pool)
    except LogUnreadable as reason:
        raise NotRestorable(f"Version {version:,} cannot be restored now. {reason}") from reason


def _read_version(s3: S3, point: KeptPoint, version: int, pool: ThreadPoolExecutor) -> RestorableVersion:
    listed = _objects_of(s3, point)
    found = _there_now(s3, point, listed, pool)
    log = [LogCopy(one.path[len(LOG) :], *one[:3]) for one in listed if one.path and one.path.startswith(LOG)]
    for copy in log:
        _require_same(point, PointObject(*copy[1:], None), found.get(copy.key))
    keys, prefix, source = {copy.name: copy.key for copy in log}, point.place.prefix, point.source
    summaries = [replace(found[key], key=f"{LOG}{name}") for name, key in keys.items()]
    listing = _up_to(read_listing(summaries, LOG, folders_listed=True), version)
    in_bucket = [replace(found[key], key=prefix + key) for key in keys.values()]
    reader = _Renamed(StoredLog(s3, point.place.bucket, prefix, pool, in_bucket), keys)
    below = f"{source.prefix}/" if source.prefix else ""

    def size_of(key: str) -> int | None:
        if key not in found and not key.startswith(below) and (there := s3.head(point.place.bucket, prefix + key)):
            found[key] = replace(there, key=key)
        return found[key].size if key in found else None

    prover = Prover(listing, reader, TableFiles(source.prefix, source.bucket, lambda key: key, size_of))
    proof = prover.prove()
    state, base = proof.newest, next((one.base for one in reversed(proof.segments) if one.newest), -1)
    needed = prover.objects_at(state, base) if state and state.version == version else None
    if state is None or needed is None:
        raise NotRestorable(
            f"Version {version:,} cannot be restored now. {_why(proof.problems, proof.blocked)}".strip()
        )
    for one in listed:
        if one.key in needed:
            _require_same(point, one, found.get(one.key))
    names = {one.name for group in (listing.commits.values(), *listing.checkpoints.values()) for one in group}
    newest = newest_actions(names, reader.open)
    names |= {one.name for one in listing.other}
    used = tuple(LogCopy(name, prefix + key, size, etag) for name, key, size, etag in log if name in names)
    there = ((path or "", found[key]) for key, path in needed.items())
    files = tuple(FileCopy(path, prefix + one.key, one.size, one.etag, one.storage_class) for path, one in there)
    return RestorableVersion(point, state, used, files, newest["metaData"], newest["protocol"])


def in_order_of_writing(log: Sequence[LogCopy]) -> tuple[list[LogCopy], list[LogCopy]]:
    """The objects of a log so that Spark opens no part of it: those that are written before, in any order, and those
    that come last, one after the other: checkpoints and the first commit, from which it begins.

    deltalake 1.6 begins from any commit that has protocol and metadata.
    """
    before, last = list[LogCopy](), list[LogCopy]()
    for one in sorted(log):
        (last if _is_base(parse_name(one.name)) else before).append(one)
    return before, last


class _Renamed:
    """Reads a log whose objects lie under other keys than its names."""

    def __init__(self, log: StoredLog, keys: Mapping[str, str]) -> None:
        self._log, self._keys = log, keys

    def bodies(self, names: Sequence[str]) -> Iterator[bytes | LogUnreadable]:
        return self._log.bodies([self._keys[name] for name in names])

    def open(self, name: str) -> BinaryIO:
        return self._log.open(self._keys[name])


def _folder(table: str) -> str:
    return f"{POINTS}{table.partition('://')[2]}/"


def _version_in(name: str) -> str:
    """The digits of the version in the name of a document, as in "@41-9b1d6e0f3a7c2584.json"; "" for any other."""
    version, _, digest = name.removeprefix("@").partition("-")
    return version if name.startswith("@") and digest.endswith(".json") else ""


def _objects_of(s3: S3, point: KeptPoint) -> list[PointObject]:
    document = point.document
    packed = s3.get(point.place.bucket, point.place.prefix + document["objects"]).data
    try:
        lines = gzip.decompress(packed)
        if hashlib.sha256(lines).hexdigest() != document["hash"]:
            raise ValueError("The lines are not those that the document names.")
        return [PointObject(**orjson.loads(line)) for line in lines.splitlines()]
    except (EOFError, OSError, zlib.error, ValueError, TypeError) as error:
        raise NotRestorable(f"The list of the objects of {point.uri} is not as a run has written it.") from error


def _there_now(
    s3: S3, point: KeptPoint, listed: Sequence[PointObject], pool: ThreadPoolExecutor
) -> dict[str, ObjectSummary]:
    """What is in the backup now of the table and of its points' logs, by the keys below the place."""
    start, root = len(point.place.prefix), point.source.prefix
    prefixes = (f"{root}/" if root else "", f"{point.folder}@log/")
    pages = (page for one in prefixes for page in s3.list(point.place.bucket, point.place.prefix + one))
    found = {one.key[start:]: replace(one, key=one.key[start:]) for page in pages for one in page.objects}
    others = [one.key for one in listed if not one.key.startswith(prefixes)]
    heads = pool.map(lambda key: s3.head(point.place.bucket, point.place.prefix + key), others)
    return found | {key: replace(one, key=key) for key, one in zip(others, heads, strict=True) if one}


def _require_same(point: KeptPoint, said: PointObject, there: ObjectSummary | None) -> None:
    if there is None or (there.size, there.etag) != (said.size, said.etag):
        what = "is not there any more" if there is None else "is not the object that was proven any more"
        raise NotRestorable(
            f"{point.place.below(said.key).uri} {what}. Prove the backup again, or choose another point."
        )


def _up_to(listing: LogListing, version: int) -> LogListing:
    """The log up to a version. Sidecars stay: only the checkpoint that names them reads them."""
    commits = {one: found for one, found in listing.commits.items() if one <= version}
    return replace(listing, commits=commits)


def _why(problems: Sequence[Any], blocked: Sequence[Any]) -> str:
    if blocked:
        return f"It lacks {blocked[0].key}: {REASONS[blocked[0].reason]}."
    return problems[0].reason if problems else ""


def _is_base(name: Any) -> bool:
    return bool(name.format) or name.version == 0
