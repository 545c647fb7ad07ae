"""Putting back what a repair saved aside: only where nothing is by now, and read back before it is called done."""

import hashlib
import json
from dataclasses import dataclass
from typing import ClassVar

from changes.calls import Answer, LakeCall, Permission, Result, Sending, Stop, already, done, objects_of, table_arn
from coordinator.protocols.wording import label, short
from coordinator.repairs.object_calls import Item, place
from lake.aws.dynamodb import Item as WireItem
from lake.aws.errors import AwsError
from lake.delta.wire import in_order


@dataclass(frozen=True, slots=True)
class RestoreObject(LakeCall):
    """Copy a saved object to the key that it was saved from: GET, then PUT with If-None-Match:*, then read it back.

    `sha256` is that of the copy's bytes as planned; another copy stops it. Where the key exists, equal bytes count as
    put back and different bytes stop it. The copy stays.
    """

    operation: ClassVar[str] = "s3:GetObject, s3:PutObject"
    bucket: str
    source: str
    key: str
    size: int
    sha256: str

    @property
    def says(self) -> str:
        return (
            f"Copies the saved copy of {short(self.key)} back to where it was, only if that key is absent, reads it "
            f"back and compares all {self.size:,} bytes."
        )

    @property
    def condition(self) -> str:
        return f"If-None-Match: *; the copy still has the SHA-256 {self.sha256}."

    @property
    def permissions(self) -> tuple[Permission, ...]:
        objects = objects_of(self.bucket)
        return Permission("s3:GetObject", objects), Permission("s3:PutObject", objects)

    def send(self, sending: Sending) -> Answer:
        if place(sending, self.bucket, self.key, self._read(sending)) is Result.DONE:
            return done(f"{label(self.key)} was put back; read back, the bytes equal those of its copy.")
        return already(f"{label(self.key)} was there already; its bytes equal those of its copy.")

    def _read(self, sending: Sending) -> bytes:
        try:
            data = sending.lake.s3.get(self.bucket, self.source).data
        except AwsError as error:
            if error.code == "NoSuchKey":
                raise Stop(f"The copy {self.source} has gone: nothing was written.") from error
            raise
        if hashlib.sha256(data).hexdigest() != self.sha256:
            raise Stop(f"The copy {self.source} is not the one that the plan was made from: nothing was written.")
        return data


@dataclass(frozen=True, slots=True)
class RestoreItem(LakeCall):
    """Put an item of a commit store, if there is none under its key (`key_names`), and read it strongly consistently.

    An equal item that is there already counts as put back; any other one stays as it is.
    """

    operation: ClassVar[str] = "dynamodb:PutItem, dynamodb:GetItem"
    table: str
    key_names: tuple[str, ...]
    item: Item

    @property
    def says(self) -> str:
        return f"Puts {self._name} back into {self.table}, only if nothing is there, and reads it again."

    @property
    def condition(self) -> str:
        return f"attribute_not_exists({self.key_names[0]})"

    @property
    def request(self) -> str:
        return json.dumps(in_order(self.item), indent=2)

    @property
    def permissions(self) -> tuple[Permission, ...]:
        arn = table_arn(self.table)
        return Permission("dynamodb:PutItem", arn), Permission("dynamodb:GetItem", arn)

    @property
    def _key(self) -> WireItem:
        return {name: dict(self.item[name]) for name in self.key_names}

    @property
    def _name(self) -> str:
        return item_name(self.item)

    def send(self, sending: Sending) -> Answer:
        wanted = {name: dict(value) for name, value in self.item.items()}
        written = sending.write(
            lambda: sending.lake.dynamodb.put_item(
                self.table, wanted, condition="attribute_not_exists(#key)", names={"#key": self.key_names[0]}
            )
        )
        found = sending.lake.dynamodb.get_item(self.table, self._key)
        if found is not None and in_order(found) == in_order(wanted):
            return (
                done(f"{self._shown} was put back and read again.")
                if written
                else already(f"{self._shown} was there already, and equal.")
            )
        raise Stop(self._why_not(written=written, gone=found is None))

    @property
    def _shown(self) -> str:
        return f"{self._name[:1].upper()}{self._name[1:]}"

    def _why_not(self, *, written: bool, gone: bool) -> str:
        if written:
            return f"{self._shown} was put back and has {'gone' if gone else 'been changed'} since, by somebody else."
        if gone:
            return f"{self._shown} was there for a moment and has gone: nothing was written."
        return f"{self._shown} exists and says something else than its copy: it was left as it is."


def item_name(item: Item) -> str:
    """What a sentence calls an entry or a registration."""
    if "tableId" in item:
        return f"registration {item['tableId'].get('S', '')}"
    return f"the entry of {short(str(item.get('fileName', {}).get('S', '')))}"
