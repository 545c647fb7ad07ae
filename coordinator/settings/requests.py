"""What may be asked for of a commit store or a bucket, as values that a form, a command and a job all share."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, ClassVar, get_args

from coordinator.protocols.stores import COMMIT_COORDINATOR, LOG_STORE

_STORE = re.compile(r"[A-Za-z0-9_.-]{3,255}")
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]")
_KEY_ARN = re.compile(r"arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:(key|alias)/[A-Za-z0-9/_-]{1,250}")
_TOKEN = re.compile(r"[0-9a-f]{32}")

MOST_DAYS = 36_500


class ChangeInvalid(ValueError):
    """A change that cannot be: `field` names what is wrong, the text is one sentence that says what to write."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field


@dataclass(frozen=True, slots=True)
class Capacity:
    """Units per second; both 0 means on demand."""

    read: int = 0
    write: int = 0

    @property
    def on_demand(self) -> bool:
        return self.read == 0 and self.write == 0

    def check(self) -> None:
        for name, units in (("read", self.read), ("write", self.write)):
            told = f"Give at least 1 {name} unit a second, or 0 of both for on demand."
            _require(name, self.on_demand or units >= 1, told)


@dataclass(frozen=True, slots=True)
class OfStore:
    """A change of a DynamoDB table that is there; `KIND` is that of the job that carries it out."""

    KIND: ClassVar[str] = "change-store"
    name: str

    @property
    def subject(self) -> str:
        return self.name

    def check(self) -> None:
        told = "The name of a DynamoDB table has 3 to 255 letters, digits, underscores, dots and hyphens."
        _require("name", _STORE.fullmatch(self.name), told)


@dataclass(frozen=True, slots=True)
class CreateStore(OfStore):
    """A new DynamoDB table. `encryption` is "" for a key of DynamoDB's own, "aws" for the account's
    alias/aws/dynamodb, else the ARN of a KMS key. A coordinator gets no TTL, whatever `ttl` says.
    """

    ACT: ClassVar[str] = "create-store"
    KIND: ClassVar[str] = "create-store"
    kind: str = LOG_STORE
    capacity: Capacity = field(default_factory=Capacity)
    deletion_protection: bool = True
    recovery: bool = True
    ttl: bool = True
    encryption: str = ""
    tags: tuple[tuple[str, str], ...] = ()

    def check(self) -> None:
        OfStore.check(self)
        is_known = self.kind in (LOG_STORE, COMMIT_COORDINATOR)
        _require("kind", is_known, f"A commit store is a {LOG_STORE} or a {COMMIT_COORDINATOR}.")
        self.capacity.check()
        is_key = self.encryption in ("", "aws") or _KEY_ARN.fullmatch(self.encryption) is not None
        told = "Give the ARN of a KMS key, `aws` for the account's own, or nothing for the key of DynamoDB."
        _require("encryption", is_key, told)


@dataclass(frozen=True, slots=True)
class ChangeCapacity(OfStore):
    """Another billing mode, or other provisioned units."""

    ACT: ClassVar[str] = "change-capacity"
    capacity: Capacity

    def check(self) -> None:
        OfStore.check(self)
        self.capacity.check()


@dataclass(frozen=True, slots=True)
class ChangeProtection(OfStore):
    """Deletion protection on or off."""

    ACT: ClassVar[str] = "change-protection"
    on: bool


@dataclass(frozen=True, slots=True)
class ChangeRecovery(OfStore):
    """Point-in-time recovery on or off."""

    ACT: ClassVar[str] = "change-recovery"
    on: bool


@dataclass(frozen=True, slots=True)
class EnableTtl(OfStore):
    """TTL on expireTime of a log store where it is off."""

    ACT: ClassVar[str] = "enable-ttl"


@dataclass(frozen=True, slots=True)
class MigrateTtl(OfStore):
    """TTL of a log store from another attribute, such as commitTime, to expireTime."""

    ACT: ClassVar[str] = "migrate-ttl"


@dataclass(frozen=True, slots=True)
class DisableTtl(OfStore):
    """TTL off: what a coordinator needs."""

    ACT: ClassVar[str] = "disable-ttl"


TTL_CHANGES = {one.ACT: one for one in (EnableTtl, MigrateTtl, DisableTtl)}


@dataclass(frozen=True, slots=True)
class OfBucket:
    """A change of a bucket, by its name."""

    KIND: ClassVar[str] = "change-bucket"
    bucket: str

    @property
    def subject(self) -> str:
        return self.bucket

    def check(self) -> None:
        told = "The name of a bucket has 3 to 63 letters, digits, dots and hyphens."
        _require("bucket", _BUCKET.fullmatch(self.bucket), told)


@dataclass(frozen=True, slots=True)
class SetTempRule(OfBucket):
    """A lifecycle rule on finished temp files. `prefix` is a table's key prefix without `_delta_log/.tmp/`."""

    ACT: ClassVar[str] = "set-temp-rule"
    prefix: str
    days: int = 3

    def check(self) -> None:
        OfBucket.check(self)
        _check_prefix(self.prefix)
        _check_days(self.days)


@dataclass(frozen=True, slots=True)
class RemoveTempRule(OfBucket):
    """Remove a lifecycle rule that reaches nothing but one table's `_delta_log/.tmp/`."""

    ACT: ClassVar[str] = "remove-temp-rule"
    rule: str

    def check(self) -> None:
        OfBucket.check(self)
        _require("rule", self.rule, "Name the rule: one without a name cannot be told from others.")


@dataclass(frozen=True, slots=True)
class SetMultipartRule(OfBucket):
    """A lifecycle rule that ends uploads begun and never finished, in the whole bucket."""

    ACT: ClassVar[str] = "set-multipart-rule"
    days: int = 7

    def check(self) -> None:
        OfBucket.check(self)
        _check_days(self.days)


@dataclass(frozen=True, slots=True)
class Sweep(OfBucket):
    """Delete finished temp files last written before `before` (ISO 8601, UTC); `prefix` "" is every known table."""

    ACT: ClassVar[str] = "sweep"
    before: str
    prefix: str = ""

    def check(self) -> None:
        OfBucket.check(self)
        _check_prefix(self.prefix)
        told = "Give a moment with its time zone, such as 2026-11-18T00:00:00+00:00."
        try:
            _require("before", self.moment.tzinfo, told)
        except ValueError as error:
            raise ChangeInvalid("before", told) from error

    @property
    def moment(self) -> datetime:
        return datetime.fromisoformat(self.before)


@dataclass(frozen=True, slots=True)
class CleanWriterTest(OfStore):
    """Remove what the script of a writer's self-test left: the objects of its scratch table, and its items."""

    ACT: ClassVar[str] = "clean-writer-test"
    token: str

    def check(self) -> None:
        OfStore.check(self)
        told = "Give the token of a writer test, 32 letters and digits as it was printed."
        _require("token", _TOKEN.fullmatch(self.token), told)


ChangeRequest = (
    CreateStore
    | ChangeCapacity
    | ChangeProtection
    | ChangeRecovery
    | EnableTtl
    | MigrateTtl
    | DisableTtl
    | SetTempRule
    | RemoveTempRule
    | SetMultipartRule
    | Sweep
    | CleanWriterTest
)

CHANGES: dict[str, type[Any]] = {kind.ACT: kind for kind in get_args(ChangeRequest)}


def change_request_document(change: ChangeRequest) -> dict[str, object]:
    """A change as JSON; `read_change_request` turns it back."""
    return {"act": change.ACT, **asdict(change)}


def read_change_request(document: Mapping[str, Any]) -> ChangeRequest:
    """The change that `change_request_document` wrote."""
    values = {name: value for name, value in document.items() if name != "act"}
    if "capacity" in values:
        values["capacity"] = Capacity(**values["capacity"])
    if "tags" in values:
        values["tags"] = tuple((key, value) for key, value in values["tags"])
    change: ChangeRequest = CHANGES[document["act"]](**values)
    return change


class NotPlanned(Exception):
    """Why a change must not be made now: a short word for it, as `Refusal.why` has it, and one sentence."""

    def __init__(self, why: str, reason: str) -> None:
        super().__init__(reason)
        self.why = why


def _require(field: str, holds: object, sentence: str) -> None:
    if not holds:
        raise ChangeInvalid(field, sentence)


def _check_days(days: int) -> None:
    _require("days", 1 <= days <= MOST_DAYS, f"Give 1 to {MOST_DAYS:,} days.")


def _check_prefix(prefix: str) -> None:
    """A key prefix without slashes at its ends; "" is the root of the bucket."""
    _require("prefix", prefix == prefix.strip("/"), "Give the key prefix without slashes at its ends.")
    is_plain = all(ord(letter) >= 32 and not "\ud800" <= letter <= "\udfff" for letter in prefix)
    _require("prefix", is_plain, "A lifecycle rule cannot name a prefix with control characters.")
