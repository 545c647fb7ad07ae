"""What removing a table that was restored to a path of its own would send, and the call that does it.

What the restore wrote is removed, and nothing else, and only while the backup holds the version.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import orjson

from backups.restores.actions import REMOVE_KIND
from backups.restores.calls import AT_ONCE, WriteLog, listed, objects
from backups.restores.clearing import delete_each, delete_log
from backups.restores.copying import CopyFiles
from backups.restores.planning import RESTORED_FROM, Keys, copying_to, plan_of, restored_from, title_of
from changes.calls import Answer, LakeCall, Permission, Sending, Stop, bucket_arn, done
from changes.plan import ChangePlan
from lake.aws.list_page import ObjectSummary
from lake.aws.s3 import S3
from lake.backup.objects import CLAIM, BucketPrefix
from lake.delta.file_actions import LogUnreadable, commit_rows
from lake.delta.names import NameKind, commit_name, parse_name
from lake.delta.opened_log import read_only
from lake.delta.uri import TableUri
from lake.points.copies import LOG
from lake.points.reading import LogCopy, NotRestorable, RestorableVersion

_OF_A_SETTING = {"commitInfo", "metaData", "protocol"}
"""The actions of a commit that sets a property."""
_WRITERS = "somebody writes to the table. What is left of it stays; plan again."


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveCopy(LakeCall):
    """Deletes the objects `there` at a table's path, by their ETags: the log first, and what claims the path last.

    Before, it writes the next commit of the log, `closing` by its name and its content, after which no writer that
    keeps to the protocol commits; "" where no commit is there. A key encrypts it.
    """

    table: BucketPrefix
    there: tuple[ObjectSummary, ...]
    closing: tuple[str, bytes]
    encryption_key: str

    operation = "s3:PutObject, s3:DeleteObject"

    @property
    def size(self) -> int:
        return sum(one.size for one in self.there)

    @property
    def says(self) -> str:
        what = f"{objects(len(self.there))} of {self.size:,} bytes from {self.table.uri}"
        if name := self.closing[0]:
            return f"Ends the log by {name}, a commit that keeps writers out, then removes {what}."
        return f"Removes {what}."

    @property
    def condition(self) -> str:
        return "these objects lie there and no other, each with the ETag that was read."

    @property
    def permissions(self) -> tuple[Permission, ...]:
        bucket, key = bucket_arn(self.table.bucket), self.encryption_key
        place = f"{bucket}/{self.table.prefix}"
        return (
            Permission("s3:ListBucket", bucket),
            *(Permission(f"s3:{one}", f"{place}*") for one in ("GetObject", "DeleteObject")),
            Permission("s3:PutObject", f"{place}{LOG}*"),
            *(Permission(f"kms:{one}", key) for one in ("Decrypt", "GenerateDataKey") if key),
        )

    def send(self, sending: Sending) -> Answer:
        table, there = self.table, self._closed(sending)
        delete = partial(delete_each, sending, table.bucket, moved=_WRITERS)
        log = {path.removeprefix(LOG): one for path, one in there.items() if path.startswith(LOG)}
        delete_log(sending, table.bucket, log, _WRITERS)
        self._require_empty(sending, table.below(LOG))  # before what a commit would need
        delete([one for path, one in there.items() if path != CLAIM and not path.startswith(LOG)])
        delete([there[path] for path in (CLAIM,) if path in there])
        self._require_empty(sending, table)
        said = f"{objects(len(there))} removed. Nothing lies at {table.uri.rstrip('/')} any more."
        return replace(done(said), counts={"removed": len(there)})

    def _closed(self, sending: Sending) -> dict[str, ObjectSummary]:
        """What lies there by paths below the table, once nobody can commit any more. Raises Stop."""
        s3, table, (name, data) = sending.lake.s3, self.table, self.closing
        etags = {one.key: one.etag for one in self.there}
        there = self._as_planned(s3, etags, "Nothing was removed; plan again.")
        if not name:
            return there
        key = f"{table.prefix}{LOG}{name}"
        sending.write(partial(s3.put, table.bucket, key, data, encryption_key=self.encryption_key))
        found = s3.get(table.bucket, key)
        if found.data != data:
            raise Stop(f"{table.uri}{LOG}{name} was written by now. Nothing was removed; plan again.", "Moved")
        closed = f"Nothing was removed, but {name} keeps writers out: delete it where the table is to be kept."
        return self._as_planned(s3, {**etags, key: found.etag}, closed)

    def _as_planned(self, s3: S3, etags: Mapping[str, str], otherwise: str) -> dict[str, ObjectSummary]:
        there = listed(s3, self.table)
        for path, one in there.items():
            if etags.get(one.key) != one.etag:
                raise Stop(f"{self.table.uri}{path} was written by now. {otherwise}", "Moved")
        return there

    def _require_empty(self, sending: Sending, place: BucketPrefix) -> None:
        if left := listed(sending.lake.s3, place):
            raise Stop(f"{place.uri}{min(left)} was written by now: {_WRITERS}", "Moved")


@dataclass(frozen=True, slots=True)
class _Written:
    """What a restore has written: `copying` with its log, of the version `found`, which the backup holds."""

    s3: S3
    found: RestorableVersion
    copying: CopyFiles

    @property
    def log(self) -> WriteLog:
        return self.copying.log

    @property
    def closing(self) -> bytes:
        """The content of the commit that ends its log."""
        return orjson.dumps({"protocol": read_only(self.found.protocol)}) + b"\n"

    def foreign(self, there: Mapping[str, ObjectSummary]) -> str:
        """The path of an object that is not as the restore wrote it, "" for none. Raises AwsError."""
        sizes = {one.path: one.size for one in self.copying.files}
        read = [path for path in there if path not in sizes]
        copies = {one.name: one for one in self.log.log}
        with ThreadPoolExecutor(AT_ONCE) as pool:
            is_own = dict(zip(read, pool.map(lambda path: self._is_own(path, there[path], copies), read), strict=True))
        return next((path for path, one in there.items() if not is_own.get(path, sizes.get(path) == one.size)), "")

    def _is_own(self, path: str, one: ObjectSummary, copies: Mapping[str, LogCopy]) -> bool:
        """Whether an object that is no data file is the restore's."""
        name = path.removeprefix(LOG)
        if path == CLAIM:
            return self._data(one) == self.copying.claim
        if name == path:
            return False
        if copy := copies.get(name):
            is_same = (one.size, one.etag) == (copy.size, copy.etag)
            return is_same or self._data(one) == self.s3.get(self.log.backup.bucket, copy.key).data
        parsed, own = parse_name(name), dict(self.log.own)
        if parsed.kind is NameKind.COMMIT:
            data = self._data(one)
            return data == (own.get(name) or self.closing) or (
                parsed.version == self.log.after and self._is_write(data)
            )
        # A log store or a coordinator may have accepted these. All else is made from commits, of which none is foreign.
        return parsed.kind not in {NameKind.TEMP, NameKind.STAGED} and self.log.is_expected(name)

    def _is_write(self, data: bytes) -> bool:
        """Whether a commit is the one by which Spark wrote to the table, and adds and removes no file."""
        try:
            rows = list(commit_rows(self.log.after, data))
        except LogUnreadable:
            return False
        set_to = [row["metaData"].get("configuration", {}).get(RESTORED_FROM) for row in rows if "metaData" in row]
        return all(map(_OF_A_SETTING.issuperset, rows)) and set_to == [restored_from(self.found)]

    def _data(self, one: ObjectSummary) -> bytes:
        return self.s3.get(self.log.table.bucket, one.key).data


def plan_removing(s3: S3, found: RestorableVersion, to: TableUri, keys: Keys) -> ChangePlan:
    """The plan to remove what a restore has written to a path of a version that the backup holds, as read now.

    Raises NotRestorable where nothing lies there, or something else.
    """
    copying = copying_to(found, to, keys)
    version, log, written = found.state.version, copying.log, _Written(s3, found, copying)
    if not (there := listed(s3, log.table)):
        raise NotRestorable(f"Nothing lies at {to.s3a} any more.")
    if other := written.foreign(there):
        raise NotRestorable(
            f"{log.table.uri}{other} is not as the restore wrote it: somebody has written to the table since, or put "
            "it there. To give that up too, drop the table by an engine, or remove its folder by hand."
        )
    etags = {one.path: one.etag for one in copying.files}
    by_size = sum(1 for path, one in there.items() if etags.get(path, one.etag) != one.etag)
    commits = {name for path in there if parse_name(name := path.removeprefix(LOG)).kind is NameKind.COMMIT}
    is_written = not commits.isdisjoint({commit_name(log.after), commit_name(log.after + 1)})
    call = RemoveCopy(
        table=log.table,
        there=tuple(there.values()),
        closing=(commit_name(log.after + is_written) if commits else "", written.closing),
        encryption_key=log.encryption_key,
    )
    plan = plan_of(found, title_of(version, "remove"), (call,), _consequences(found, to), danger=_danger(by_size))
    return replace(plan, kind=REMOVE_KIND, subject=to.s3a, can_lose=bool(by_size))


def _danger(by_size: int) -> str:
    if not by_size:
        return ""
    return (
        f"Of the data files {objects(by_size)} cannot be compared with the backup. Their ETags are of parts or under a "
        "key: their names and sizes alone say that the backup has the same."
    )


def _consequences(found: RestorableVersion, to: TableUri) -> Iterator[str]:
    yield (
        f"The table at {to.s3a} is gone then for all who read it, and a catalog that names it goes on naming it. "
        "Neither the original nor the backup is changed."
    )
    yield (
        "What is removed is what the restore wrote: each data file is in the backup, the log was compared with it, and "
        f"no commit of anybody else is there. It can be restored again from {found.point.uri}."
    )
    yield "Where the bucket keeps versions, S3 keeps what is deleted, at a charge, until a lifecycle rule ends it."
