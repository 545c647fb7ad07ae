"""What removing a table that was restored to a path of its own would send, and the call that does it.

What the restore wrote is removed, and nothing else, and only while the backup holds the version.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import orjson

from backups.restores.actions import REMOVE_KIND
from backups.restores.calls import AT_ONCE, SMALL, WriteLog, listed, objects
from backups.restores.clearing import delete_each, delete_log
from backups.restores.copying import CopyFiles
from backups.restores.planning import RESTORED_FROM, Keys, copying_to, plan_of, restored_from, title_of
from changes.calls import Answer, LakeCall, Permission, Sending, Stop, already, bucket_arn, done
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
_MADE = {*NameKind} - {NameKind.COMMIT, NameKind.TEMP, NameKind.STAGED, NameKind.HIDDEN, NameKind.SIDECAR}
"""What is made from commits, and known by its version."""
_WRITERS = "somebody writes to the table. What is left of it stays; plan again."


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveCopy(LakeCall):
    """Deletes the objects `there` at a table's path, by their ETags: the log, the data files, what claims the path.

    Before, it writes `closing`, commits of the log by their names with their content, after which no writer that keeps
    to the protocol commits, and no restore to the path goes on; they stay until the data files are gone. A key encrypts
    them.
    """

    table: BucketPrefix
    there: tuple[ObjectSummary, ...]
    closing: tuple[str, ...]
    content: bytes
    encryption_key: str

    operation = "s3:PutObject, s3:DeleteObject"

    @property
    def size(self) -> int:
        return sum(one.size for one in self.there)

    @property
    def says(self) -> str:
        if not self.there:
            return f"Looks whether anything is left at {self.table.uri}."
        what = f"{objects(len(self.there))} of {self.size:,} bytes from {self.table.uri}"
        return f"Ends the log by {self._fence}, which keeps writers out, then removes {what}."

    @property
    def _fence(self) -> str:
        return " and ".join(self.closing)

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
        table, planned = self.table, {one.key: one.etag for one in self.there}
        there = self._as_planned(sending, planned, "Nothing was removed; plan again.")
        if not there:
            return already(f"Nothing is left at {table.uri}.")
        fences = self._closed(sending)
        closed = f"Nothing was removed, but writers are kept out by {self._fence}: delete that to keep the table."
        there = self._as_planned(sending, planned | fences, closed)
        last = {path for path, one in there.items() if one.key in fences or path == CLAIM}
        log = {path.removeprefix(LOG): one for path, one in there.items() if path.startswith(LOG) and path not in last}
        delete_log(sending, table.bucket, log, _WRITERS)
        self._require_none(sending, table.below(LOG), fences)  # before the files go that a commit would need
        files = [one for path, one in there.items() if not path.startswith(LOG) and path != CLAIM]
        delete_each(sending, table.bucket, files, _WRITERS)
        for path in sorted(last):  # the log's come before the claim
            delete_each(sending, table.bucket, [there[path]], _WRITERS)
        self._require_none(sending, table)
        number = sum(one.key in planned for one in there.values())
        said = f"{objects(number)} removed. Nothing is left at {table.uri}."
        return replace(done(said), counts={"removed": number})

    def _closed(self, sending: Sending) -> dict[str, str]:
        """The commits that end the log, by their keys, with their ETags. Raises Stop where a writer was faster."""
        s3, table, etags = sending.lake.s3, self.table, dict[str, str]()
        for name in self.closing:
            key = f"{table.prefix}{LOG}{name}"
            sending.write(partial(s3.put, table.bucket, key, self.content, encryption_key=self.encryption_key))
            found = s3.get(table.bucket, key)
            if found.data != self.content:
                raise Stop(f"{table.uri}{LOG}{name} was written by now. Nothing was removed; plan again.", "Moved")
            etags[key] = found.etag
        return etags

    def _as_planned(self, sending: Sending, etags: Mapping[str, str], otherwise: str) -> dict[str, ObjectSummary]:
        """What lies there, by paths below the table. Raises Stop where that has no such ETag."""
        there = listed(sending.lake.s3, self.table)
        for path, one in there.items():
            if etags.get(one.key) != one.etag:
                raise Stop(f"{self.table.uri}{path} was written by now. {otherwise}", "Moved")
        return there

    def _require_none(self, sending: Sending, place: BucketPrefix, but: Collection[str] = ()) -> None:
        left = [one.key for one in listed(sending.lake.s3, place).values() if one.key not in but]
        if left:
            raise Stop(f"s3a://{place.bucket}/{min(left)} was written by now: {_WRITERS}", "Moved")


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
        is_own = partial(self._is_own, {one.name: one for one in self.log.log})
        read: list[tuple[str, ObjectSummary]] = []
        for path, one in there.items():
            if path not in sizes:
                read.append((path, one))
            elif sizes[path] != one.size:
                return path
        small = [pair for pair in read if pair[1].size <= SMALL]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            wrong = [path for (path, _), own in zip(small, pool.map(is_own, small), strict=True) if not own]
        # Of larger ones one at a time is held in memory.
        large = (pair[0] for pair in read if pair[1].size > SMALL and not is_own(pair))
        return next(chain(wrong, large), "")

    def _is_own(self, copies: Mapping[str, LogCopy], found: tuple[str, ObjectSummary]) -> bool:
        """Whether an object that is no data file is the restore's."""
        path, one = found
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
        # What a log store or a coordinator may have accepted is in temp and staged files. The others that have a
        # version are made from commits, of which none is foreign; of hidden ones S3A leaves those of a checksum.
        of_hidden = re.fullmatch(r"\.[0-9]{20}\.(crc|json)\..+\.tmp", name)
        is_made = parsed.kind in _MADE or (parsed.kind is NameKind.SIDECAR and name.endswith(".parquet"))
        return (is_made or of_hidden is not None) and self.log.is_expected(name)

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
    """The plan to remove what a restore has written to a path of a version that the backup holds, as read now; nothing
    may be left there. Raises NotRestorable where something else lies there.
    """
    copying = copying_to(found, to, keys)
    log, written = copying.log, _Written(s3, found, copying)
    there = listed(s3, log.table)
    if other := written.foreign(there):
        since = "somebody has written to the table since, or put it there"
        who = "another restore is there" if other == CLAIM else since
        raise NotRestorable(
            f"{log.table.uri}{other} is not as the restore wrote it: {who}. To give that up too, drop the table by an "
            "engine, or remove its folder by hand."
        )
    etags = {one.path: one.etag for one in copying.files}
    by_size = sum(1 for path, one in there.items() if etags.get(path, one.etag) != one.etag)
    last, fence = commit_name(log.after), commit_name(log.after + 1)
    call = RemoveCopy(
        table=log.table,
        there=tuple(there.values()),
        closing=(fence,) if f"{LOG}{last}" in there else (last, fence),
        content=written.closing,
        encryption_key=log.encryption_key,
    )
    said, title = _consequences(found, to, by_size), title_of(found.state.version, "remove")
    plan = plan_of(found, title, (call,), said, danger=_danger(by_size))
    return replace(plan, kind=REMOVE_KIND, subject=to.s3a, can_lose=bool(by_size))


def _danger(by_size: int) -> str:
    if not by_size:
        return ""
    return (
        f"Of {objects(by_size)} it is not known whether the backup has the same bytes. Their ETags differ from its "
        "own, as those of parts or under a key do: names and sizes alone are the same."
    )


def _consequences(found: RestorableVersion, to: TableUri, by_size: int) -> Iterator[str]:
    yield (
        f"The table at {to.s3a} is gone then for all who read it, shallow clones too, and a catalog that names it goes "
        "on naming it. Neither the original nor the backup is changed."
    )
    yield (
        "Stop its writers before: Spark and deltalake cannot commit while it is removed, but what they commit when it "
        "is gone opens nowhere."
    )
    if not by_size:
        yield "What is removed is in the backup, or follows from it: data files and log were compared with it now."
    yield f"The version can be restored again from {found.point.uri}."
    yield "Where the bucket keeps versions, S3 keeps what is deleted, at a charge, until a lifecycle rule ends it."
