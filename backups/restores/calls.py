"""The calls by which a log is written that leads to a version of a table, each safe to send twice."""

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar
from urllib.parse import quote

from changes.calls import Answer, LakeCall, Permission, Sending, Stop, already, bucket_arn, done
from lake.aws.list_page import ObjectSummary
from lake.aws.s3 import S3
from lake.backup.objects import BucketPrefix
from lake.delta.file_actions import LogUnreadable, located
from lake.delta.names import NameKind, parse_name
from lake.delta.opened_log import LogOpener
from lake.points.copies import LOG
from lake.points.reading import LogCopy, in_order_of_writing

AT_ONCE, GIVEN = 64, 10_000
"""Requests in the air, and how many of a million are given to the threads together: each that waits takes memory."""
SMALL = 1_000_000
"""Bytes of a commit that is written beside others."""

One = TypeVar("One")
Did = TypeVar("Did")

_ESCAPED = re.compile(r"[\x00-\x20\x7f\"#%<>?\[\\\]^`{|}\s]")
"""What Java's URIs escape in a path, and with them Spark: where it compares paths, others would not be the same."""
_OF_NO_VERSION = (NameKind.LAST_CHECKPOINT, NameKind.SIDECAR, NameKind.HIDDEN)
"""What a commit may bring along beside objects of its version: nobody reads them but by what those say."""


def listed(s3: S3, place: BucketPrefix, is_wanted: Callable[[str], bool] = lambda _: True) -> dict[str, ObjectSummary]:
    """The objects below a place by their paths there, of the paths that are wanted; none that stands for a folder
    alone, as consoles and S3A make them."""
    every = (one for page in s3.list(place.bucket, place.prefix) for one in page.objects)
    paths = ((one.key[len(place.prefix) :], one) for one in every if one.size or not one.key.endswith("/"))
    return {path: one for path, one in paths if is_wanted(path)}


def at_once(sending: Sending, most: int, act: Callable[[One], Did], those: Sequence[One]) -> Iterator[Did]:
    """What `act` returns for each of those, so many at a time; tells of the progress, and ends where it is stopped."""
    pool = ThreadPoolExecutor(most)
    try:
        for start in range(0, len(those), GIVEN):
            for number, did in enumerate(pool.map(act, those[start : start + GIVEN]), start + 1):
                sending.check_cancelled()
                sending.progress(number, len(those))
                yield did
    finally:
        pool.shutdown(cancel_futures=True)


def objects(number: int) -> str:
    return f"{number:,} object{'' if number == 1 else 's'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteLog(LakeCall):
    """Writes the log of a version, `table` being the place of the new table and `backup` that of the backup.

    `own` are objects by their names that Levee makes, `after` the version that a reader of the table may have written
    once it was whole, -1 for none. Keys encrypt what is written; those of the backup decrypt what is read.
    """

    backup: BucketPrefix
    table: BucketPrefix
    log: tuple[LogCopy, ...]
    encryption_key: str
    backup_key: str
    own: tuple[tuple[str, bytes], ...] = ()
    after: int = -1

    operation = "s3:GetObject, s3:PutObject"

    @property
    def says(self) -> str:
        return f"Writes the log of the version, {objects(len(self.log) + len(self.own))}, in {self.table.uri}{LOG}."

    @property
    def condition(self) -> str:
        return f"nothing else lies in {self.table.uri}{LOG}."

    @property
    def permissions(self) -> tuple[Permission, ...]:
        backup, bucket = bucket_arn(self.backup.bucket), bucket_arn(self.table.bucket)
        keys = {self.backup_key, self.encryption_key} - {""}
        return (
            Permission("s3:ListBucket", backup),
            Permission("s3:ListBucket", bucket),
            Permission("s3:GetObject", f"{backup}/{self.backup.prefix}*"),
            *(Permission(action, f"{bucket}/{self.table.prefix}*") for action in ("s3:GetObject", "s3:PutObject")),
            *(Permission("kms:Decrypt", key) for key in sorted(keys)),
            *(Permission("kms:GenerateDataKey", key) for key in (self.encryption_key,) if key),
        )

    def send(self, sending: Sending) -> Answer:
        s3, write = sending.lake.s3, partial(self._write, sending, self._maker())
        there = self._names_there(s3)
        written = sum([self._put(sending, name, data) for name, data in self.own])
        before, last = in_order_of_writing(self.log)
        beside = {one for one in before if one.size <= SMALL and parse_name(one.name).kind is NameKind.COMMIT}
        found = {one for one in beside if one.name in there}
        for some in (found, beside - found):  # what is there is compared before others are written
            written += sum(at_once(sending, AT_ONCE, write, sorted(some)))
        # Not by `at_once`: none of these is begun before the one before it has been written.
        for one in (*(one for one in before if one not in beside), *last):
            sending.check_cancelled()
            written += write(one)
        if gone := {one.name for one in self.log} - self._names_there(s3):
            raise Stop(f"{self.table.uri}{LOG}{min(gone)} has gone again. {self.instead}", "Occupied")
        said = f"{objects(written)} written to {self.table.uri}{LOG}."
        return done(said) if written else already(f"The log at {self.table.uri} was there, and is the same.")

    def _maker(self) -> Callable[[str, bytes], bytes]:
        """What an object of the log becomes, by its name."""
        return lambda _, data: data

    def _write(self, sending: Sending, made: Callable[[str, bytes], bytes], one: LogCopy) -> bool:
        """As `_put`, what an object of the log in the backup becomes."""
        found = sending.lake.s3.get(self.backup.bucket, one.key)
        if found.etag != one.etag:
            raise Stop(f"s3a://{self.backup.bucket}/{one.key} is not the object that was read for the plan.", "Moved")
        try:
            return self._put(sending, one.name, made(one.name, found.data))
        except LogUnreadable as reason:
            raise Stop(str(reason), "LogUnreadable") from reason

    def _put(self, sending: Sending, name: str, data: bytes) -> bool:
        """Whether it was written; False where the same was there."""
        s3, key = sending.lake.s3, f"{self.table.prefix}{LOG}{name}"
        if sending.write(partial(s3.put, self.table.bucket, key, data, encryption_key=self.encryption_key)):
            return True
        if s3.get(self.table.bucket, key).data != data:
            raise Stop(f"s3a://{self.table.bucket}/{key} holds something else. {self.instead}", "Occupied")
        return False

    def _names_there(self, s3: S3) -> set[str]:
        """The names of what the log has. Raises Stop where one is not of this plan."""
        names = listed(s3, self.table.below(LOG)).keys()
        if other := [name for name in names if not self.is_expected(name)]:
            raise Stop(f"{self.table.uri}{LOG}{min(other)} is there already. {self.instead}", "Occupied")
        return {*names}

    def is_expected(self, name: str) -> bool:
        """Whether an object of that name in the log is of this plan, or of what follows it."""
        if name in {one.name for one in self.log} or name in dict(self.own):
            return True
        parsed = parse_name(name)
        return self.after >= 0 and (parsed.kind in _OF_NO_VERSION or parsed.version == self.after)

    @property
    def instead(self) -> str:
        """What to do where something else lies there."""
        return "Nothing is overwritten: choose another path."


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLog(WriteLog):
    """Writes a log that opens a version of a table where its files lie in a backup.

    `source` is the table's bucket and its root there; the new table lies in the bucket of the backup.
    """

    source: BucketPrefix

    @property
    def instead(self) -> str:
        return f"Nothing is overwritten: remove {self.table.uri} first."

    @property
    def says(self) -> str:
        return f"Writes a log of {objects(len(self.log))}, which names the table's files in the backup."

    def _maker(self) -> Callable[[str, bytes], bytes]:
        return LogOpener(self._place).opened

    def _place(self, path: str) -> str:
        """The URI of a file in the backup; a path that leads elsewhere, which no file of the version has, stays."""
        keys = located(path, self.source.prefix, self.source.bucket).keys
        if not keys:
            return path
        return f"s3a://{self.backup.bucket}/{_ESCAPED.sub(lambda one: quote(one[0]), self.backup.prefix + keys[0])}"
