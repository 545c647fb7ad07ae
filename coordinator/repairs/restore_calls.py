"""Putting a file back that a repair saved aside: only where nothing is by now, and read back before it is done."""

import hashlib
from dataclasses import dataclass
from typing import ClassVar

from changes.calls import Answer, LakeCall, Permission, Result, Sending, Stop, already, done, objects_of
from coordinator.protocols.wording import label, short
from coordinator.repairs.object_calls import place
from lake.aws.errors import AwsError


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
