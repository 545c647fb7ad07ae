"""Calls about objects: copies that overwrite nothing, and conditions on what is there. Keys are whole S3 keys."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

from changes.calls import (
    Answer,
    Call,
    LakeCall,
    Permission,
    Result,
    Sending,
    Stop,
    already,
    bucket_arn,
    done,
    objects_of,
)
from coordinator.protocols.names import STAGED_FOLDERS
from coordinator.protocols.wording import short
from coordinator.repairs.rescue import (
    NOTE,
    NOWHERE_KNOWN,
    CopiedFrom,
    folder_of,
    in_folder,
    kept_document,
    note_document,
    table_note,
)
from lake.aws.errors import AwsError
from lake.aws.list_page import ObjectSummary
from lake.delta.wire import shown
from lake.differences import first_difference

if TYPE_CHECKING:
    from lake.aws.access import Lake
    from lake.aws.s3 import ObjectBody

Item = Mapping[str, Mapping[str, Any]]
"""A DynamoDB item in wire form."""

MOST_BYTES = 2**30
"""A file is held in memory while it is copied and read back; no writer can make a commit of as much."""
MOST_MARKERS = 1_000
MD5 = re.compile(r"[0-9a-f]{32}")


_COPYING = ("s3:GetObject", "s3:PutObject")
_LOOKING = ("s3:GetObject", "s3:ListBucket")
"""Without s3:ListBucket S3 answers 403 instead of 404 for an object that is absent."""


@dataclass(frozen=True, slots=True)
class ObjectCall(LakeCall):
    """A call about objects of one bucket, which needs these IAM actions."""

    needs: ClassVar[tuple[str, ...]]
    bucket: str

    @property
    def permissions(self) -> tuple[Permission, ...]:
        places = {"s3:ListBucket": bucket_arn(self.bucket)}
        return tuple(Permission(action, places.get(action, objects_of(self.bucket))) for action in self.needs)


@dataclass(frozen=True, slots=True)
class SaveAside(ObjectCall):
    """Keep a copy of what is about to go: an object (`source`), or an item of a DynamoDB table (`item` of `table`) as
    JSON, under the rescue prefix. `copied_from` is kept with it; of an object its
    metaData.id, in a note that all objects of the folder share.

    PUT with If-None-Match:*; a copy of equal bytes that is there already counts as made.
    """

    needs: ClassVar = _COPYING
    key: str
    source: str = ""
    item: Item | None = None
    table: str = ""
    copied_from: CopiedFrom = NOWHERE_KNOWN

    @property
    def operation(self) -> str:
        return "s3:GetObject, s3:PutObject" if self.source else "s3:PutObject"

    @property
    def says(self) -> str:
        kept = f"Keeps a copy of {short(self.source) if self.source else 'the item as JSON'} as {self.key}."
        return f"{kept} {self._note_says}" if self._note else kept

    @property
    def _note(self) -> str:
        """The key of the note beside an object, "" where none is written."""
        return table_note(self.key) if self.source and self.copied_from.metadata_id else ""

    @property
    def _note_says(self) -> str:
        return f"{NOTE} beside it says that it is of the table with metaData.id {shown(self.copied_from.metadata_id)}."

    @property
    def condition(self) -> str:
        return "If-None-Match: *; equal bytes count as kept."

    @property
    def rescue_folder(self) -> str:
        return folder_of(self.key)

    def saving_under(self, folder: str) -> Call:
        return replace(self, key=in_folder(self.key, folder))

    def send(self, sending: Sending) -> Answer:
        what = short(self.source) if self.item is None else "the item"
        if self.item is not None:
            data = kept_document(self.table, self.item, self.copied_from)
        else:
            source = sending.lake.s3.head(self.bucket, self.source)
            if source is None:
                return self._saved_before(sending)
            _check_size(self.source, source.size)
            data = _read(sending, self.bucket, self.source, source.etag, source.size)
        if self._note:
            place(sending, self.bucket, self._note, note_document(self.copied_from.metadata_id))
        if place(sending, self.bucket, self.key, data) is Result.DONE:
            return done(f"A copy of {what} was saved as {self.key}.")
        return already(f"A copy of {what} was there already as {self.key}; the bytes are equal.")

    def _saved_before(self, sending: Sending) -> Answer:
        """The source has gone; an earlier run of the same plan may have saved it, and then let it go."""
        if sending.lake.s3.head(self.bucket, self.key) is None:
            raise Stop(f"{short(self.source)} has gone, and no copy of it was saved: nothing was written.")
        return already(f"{short(self.source)} has gone; the copy saved before is {self.key}.")


@dataclass(frozen=True, slots=True)
class Publish(ObjectCall):
    """Copy the bytes of `source` to `key`: GET, then PUT with If-None-Match:*, then read back and compare.

    `etag` and `size` are the source's as planned; another source stops the repair. Where the key exists, equal bytes
    are success and different bytes stop the repair.
    """

    operation: ClassVar[str] = "s3:GetObject, s3:PutObject"
    needs: ClassVar = _COPYING
    source: str
    key: str
    etag: str
    size: int

    @property
    def says(self) -> str:
        return (
            f"Copies the {self._kind} {short(self.source)} to {short(self.key)}, only if that key is still absent, "
            f"reads it back and compares all {self.size:,} bytes."
        )

    @property
    def condition(self) -> str:
        return f"If-None-Match: *; the {self._kind} still has ETag {self.etag} and {self.size:,} B."

    @property
    def _kind(self) -> str:
        if folder_of(self.source):
            return "saved copy"
        return "staged file" if any(f"/{folder}/" in self.source for folder in STAGED_FOLDERS) else "temp file"

    def send(self, sending: Sending) -> Answer:
        _check_size(self.source, self.size)
        source = sending.lake.s3.head(self.bucket, self.source)
        present = sending.lake.s3.head(self.bucket, self.key)
        if source is None:
            return self._published_without_source(present)
        if (source.etag, source.size) != (self.etag, self.size):
            raise Stop(f"{short(self.source)} is not the object that the plan was made from: nothing was written.")
        if present is not None:
            compare(sending, self.bucket, self.source, self.key)
            return already(f"{short(self.key)} was there already; its bytes equal those of {short(self.source)}.")
        data = _read(sending, self.bucket, self.source, self.etag, self.size)
        if place(sending, self.bucket, self.key, data) is Result.DONE:
            return done(f"{short(self.key)} was published from {short(self.source)}; read back, the bytes are equal.")
        return already(f"{short(self.key)} was published meanwhile; the bytes are equal.")

    def _published_without_source(self, present: ObjectSummary | None) -> Answer:
        """Some writers move their temp file; an MD5 as the ETag of both proves that the bytes are the same."""
        if present is None:
            raise Stop(f"{short(self.source)} has gone, and {short(self.key)} is not there: nothing was written.")
        if MD5.fullmatch(self.etag) and (present.etag, present.size) == (self.etag, self.size):
            return already(
                f"{short(self.key)} was published meanwhile and {short(self.source)} has gone; the MD5 is equal."
            )
        raise Stop(
            f"{short(self.key)} is there, but {short(self.source)} has gone, so that their bytes cannot be compared: "
            "nothing was written."
        )


@dataclass(frozen=True, slots=True)
class RequireEqual(ObjectCall):
    """Read both objects; different bytes, or an absent one, stop the repair."""

    operation: ClassVar[str] = "s3:GetObject"
    needs: ClassVar = _LOOKING
    one: str
    other: str

    @property
    def says(self) -> str:
        return f"Compares {short(self.one)} with {short(self.other)}, byte by byte."

    @property
    def condition(self) -> str:
        return "Both exist and are equal; else nothing further is done."

    def send(self, sending: Sending) -> Answer:
        compare(sending, self.bucket, self.one, self.other)
        return done(f"{short(self.one)} and {short(self.other)} hold equal bytes.")


@dataclass(frozen=True, slots=True)
class RequireAbsent(ObjectCall):
    """HEAD each key; one that exists stops the repair."""

    operation: ClassVar[str] = "s3:HeadObject"
    needs: ClassVar = _LOOKING
    keys: tuple[str, ...]

    @property
    def says(self) -> str:
        return f"Looks for {' and '.join(short(key) for key in self.keys)} once more."

    @property
    def condition(self) -> str:
        return "None exists; else nothing further is done."

    def send(self, sending: Sending) -> Answer:
        for key in self.keys:
            if sending.lake.s3.head(self.bucket, key) is not None:
                raise Stop(f"{short(key)} exists, and the plan rests on its absence: nothing was done.")
        return done(f"{', '.join(map(short, self.keys))} {'is' if len(self.keys) == 1 else 'are'} absent.")


@dataclass(frozen=True, slots=True)
class RequireEmpty(ObjectCall):
    """List the prefix; any object (directory markers aside) stops the repair."""

    operation: ClassVar[str] = "s3:ListObjectsV2"
    needs: ClassVar = ("s3:ListBucket",)
    prefix: str

    @property
    def says(self) -> str:
        return f"Lists {self.prefix} once more."

    @property
    def condition(self) -> str:
        return "Nothing lies there; else nothing further is done."

    def send(self, sending: Sending) -> Answer:
        pages = sending.lake.s3.list(self.bucket, self.prefix, max_keys=MOST_MARKERS)
        keys = list(islice((summary.key for page in pages for summary in page.objects), MOST_MARKERS))
        found = next((key for key in keys if not key.endswith(("/", "_$folder$"))), "")
        if found:
            raise Stop(f"{self.prefix} holds {short(found)}, and the plan rests on its being empty: nothing was done.")
        if len(keys) == MOST_MARKERS:
            raise Stop(
                f"{self.prefix} holds {MOST_MARKERS:,} directory markers, so that what else it holds was not read."
            )
        return done(f"{self.prefix} is empty.")


def place(sending: Sending, bucket: str, key: str, data: bytes) -> Result:
    """Write an object where none is, and compare what is there with `data`: DONE, or ALREADY where another was first.

    Raises Stop where other bytes are there, AwsError.
    """
    written = sending.write(lambda: sending.lake.s3.put(bucket, key, data))
    there = body_of(sending.lake, bucket, key)
    if there is None:
        raise Stop(
            f"{short(key)} was written and has gone again: something deletes it."
            if written
            else f"{short(key)} was refused because another write of it was under way, and it is not there: run this "
            "again."
        )
    where = first_difference(there.data, data)
    if where is None:
        return Result.DONE if written else Result.ALREADY
    if written:
        raise Stop(f"{short(key)} was written and then replaced: from byte {where:,} on it holds other bytes.")
    raise Stop(f"{short(key)} exists with other bytes, from byte {where:,} on: it was left as it is.")


def compare(sending: Sending, bucket: str, one: str, other: str) -> None:
    """Read both objects. Raises Stop where their bytes differ or one is absent, AwsError."""
    contents: list[bytes] = []
    for key in (one, other):
        body = body_of(sending.lake, bucket, key)
        if body is None:
            raise Stop(f"{short(key)} is not there, so that nothing can be compared: nothing was done.")
        contents.append(body.data)
    where = first_difference(*contents)
    if where is not None:
        raise Stop(f"{short(one)} and {short(other)} differ from byte {where:,} on: nothing was done.")


def body_of(lake: "Lake", bucket: str, key: str) -> "ObjectBody | None":
    """The object, None where there is none, or none any more. Raises AwsError."""
    try:
        return lake.s3.get(bucket, key)
    except AwsError as error:
        if error.code in {"NoSuchKey", "NotFound"}:
            return None
        raise


def _read(sending: Sending, bucket: str, key: str, etag: str, size: int) -> bytes:
    body = body_of(sending.lake, bucket, key)
    if body is None:
        raise Stop(f"{short(key)} went while it was about to be read: nothing was written.")
    if body.etag != etag or len(body.data) != size:
        raise Stop(f"{short(key)} changed while it was read: nothing was written.")
    return body.data


def _check_size(key: str, size: int) -> None:
    if size > MOST_BYTES:
        raise Stop(f"{short(key)} has {size:,} bytes; Levee copies no more than {MOST_BYTES:,}: nothing was written.")
