"""What may be asked for of a commit store or a bucket, as values that a form, a command and a job all share."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import Any, ClassVar, get_args

from coordinator.protocols.stores import COMMIT_COORDINATOR, LOG_STORE

_STORE = re.compile(r"[A-Za-z0-9_.-]{3,255}")
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]")
_KEY_ARN = re.compile(r"arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:(key|alias)/[A-Za-z0-9/_-]{1,250}")
_TOKEN = re.compile(r"[0-9a-f]{32}")
_TAG = re.compile(r"[\w .:/=+@-]*")
MOST_TAGS = 50
LONGEST_PREFIX = 1024

MOST_UNITS = 40_000
"""Capacity units that DynamoDB gives one table by default, in each direction; asking for more needs AWS support."""

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
        if self.on_demand:
            return
        for name, units in (("read", self.read), ("write", self.write)):
            if not _is_whole(units) or not 1 <= units <= MOST_UNITS:
                raise ChangeInvalid(
                    name, f"Give 1 to {MOST_UNITS:,} {name} units a second, or 0 of both for on demand."
                )


@dataclass(frozen=True, slots=True)
class CreateStore:
    """A new DynamoDB table. `encryption` is "" for a key of DynamoDB's own, "aws" for the account's
    alias/aws/dynamodb, else the ARN of a KMS key. A coordinator gets no TTL, whatever `ttl` says.
    """

    ACT: ClassVar[str] = "create-store"
    name: str
    kind: str = LOG_STORE
    capacity: Capacity = field(default_factory=Capacity)
    deletion_protection: bool = True
    recovery: bool = True
    ttl: bool = True
    encryption: str = ""
    tags: tuple[tuple[str, str], ...] = ()

    def check(self) -> None:
        _named("name", check_store(self.name))
        if self.kind not in (LOG_STORE, COMMIT_COORDINATOR):
            raise ChangeInvalid("kind", f"A commit store is a {LOG_STORE} or a {COMMIT_COORDINATOR}.")
        self.capacity.check()
        _named("encryption", check_key_arn(self.encryption))
        _named("tags", check_tags(self.tags))


@dataclass(frozen=True, slots=True)
class _OfStore:
    """A change of a DynamoDB table that is there."""

    name: str

    def check(self) -> None:
        _named("name", check_store(self.name))


@dataclass(frozen=True, slots=True)
class ChangeCapacity(_OfStore):
    """Another billing mode, or other provisioned units."""

    ACT: ClassVar[str] = "change-capacity"
    capacity: Capacity

    def check(self) -> None:
        _named("name", check_store(self.name))
        self.capacity.check()


@dataclass(frozen=True, slots=True)
class ChangeProtection(_OfStore):
    """Deletion protection on or off."""

    ACT: ClassVar[str] = "change-protection"
    on: bool


@dataclass(frozen=True, slots=True)
class ChangeRecovery(_OfStore):
    """Point-in-time recovery on or off."""

    ACT: ClassVar[str] = "change-recovery"
    on: bool


@dataclass(frozen=True, slots=True)
class EnableTtl(_OfStore):
    """TTL on expireTime of a log store where it is off."""

    ACT: ClassVar[str] = "enable-ttl"


@dataclass(frozen=True, slots=True)
class MigrateTtl(_OfStore):
    """TTL of a log store from another attribute, such as commitTime, to expireTime."""

    ACT: ClassVar[str] = "migrate-ttl"


@dataclass(frozen=True, slots=True)
class DisableTtl(_OfStore):
    """TTL off: what a coordinator needs."""

    ACT: ClassVar[str] = "disable-ttl"


@dataclass(frozen=True, slots=True)
class SetTempRule:
    """A lifecycle rule on finished temp files. `prefix` is a table's key prefix without `_delta_log/.tmp/`."""

    ACT: ClassVar[str] = "set-temp-rule"
    bucket: str
    prefix: str
    days: int = 3

    def check(self) -> None:
        _named("bucket", check_bucket(self.bucket))
        _named("prefix", check_prefix(self.prefix))
        _check_days(self.days)


@dataclass(frozen=True, slots=True)
class RemoveTempRule:
    """Remove a lifecycle rule that reaches nothing but one table's `_delta_log/.tmp/`."""

    ACT: ClassVar[str] = "remove-temp-rule"
    bucket: str
    rule: str

    def check(self) -> None:
        _named("bucket", check_bucket(self.bucket))
        if not self.rule:
            raise ChangeInvalid("rule", "Name the rule: one without a name cannot be told from others.")


@dataclass(frozen=True, slots=True)
class SetMultipartRule:
    """A lifecycle rule that ends uploads begun and never finished, in the whole bucket."""

    ACT: ClassVar[str] = "set-multipart-rule"
    bucket: str
    days: int = 7

    def check(self) -> None:
        _named("bucket", check_bucket(self.bucket))
        _check_days(self.days)


@dataclass(frozen=True, slots=True)
class Sweep:
    """Delete finished temp files last written before `before` (ISO 8601, UTC); `prefix` "" is every known table."""

    ACT: ClassVar[str] = "sweep"
    bucket: str
    before: str
    prefix: str = ""

    def check(self) -> None:
        _named("bucket", check_bucket(self.bucket))
        _named("prefix", check_prefix(self.prefix))
        if _moment(self.before) is None:
            raise ChangeInvalid("before", "Give a moment with its time zone, such as 2026-11-18T00:00:00+00:00.")

    @property
    def moment(self) -> datetime:
        """Raises ChangeInvalid for a change that was not checked."""
        found = _moment(self.before)
        if found is None:
            raise ChangeInvalid("before", "Give a moment with its time zone.")
        return found


@dataclass(frozen=True, slots=True)
class CleanWriterTest(_OfStore):
    """Remove what the script of a writer's self-test left: the objects of its scratch table, and its items."""

    ACT: ClassVar[str] = "clean-writer-test"
    token: str

    def check(self) -> None:
        _named("name", check_store(self.name))
        if not _TOKEN.fullmatch(self.token):
            raise ChangeInvalid("token", "Give the token of a writer test, 32 letters and digits as it was printed.")


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
    """A checked change from JSON or a form's values. Raises ChangeInvalid, whatever the document holds."""
    kind = CHANGES.get(str(document.get("act")))
    if kind is None:
        raise ChangeInvalid("act", f"There is no change of that name; there are {', '.join(sorted(CHANGES))}.")
    values = {one.name: document[one.name] for one in fields(kind) if one.name in document}
    if isinstance(values.get("capacity"), Mapping):
        values["capacity"] = Capacity(**{key: values["capacity"].get(key, 0) for key in ("read", "write")})
    if "tags" in values:
        values["tags"] = _pairs(values["tags"])
    try:
        change: ChangeRequest = kind(**values)
    except TypeError as error:
        raise ChangeInvalid("act", f"The change {kind.ACT} is not complete: {error}.") from error
    _check_types(change)
    change.check()
    return change


def is_of_store(change: ChangeRequest) -> bool:
    """Whether it is about a commit store; else it is about a bucket."""
    return not isinstance(change, SetTempRule | RemoveTempRule | SetMultipartRule | Sweep)


def subject_name(change: ChangeRequest) -> str:
    """The DynamoDB table or the bucket that it is about."""
    if isinstance(change, SetTempRule | RemoveTempRule | SetMultipartRule | Sweep):
        return change.bucket
    return change.name


def _check_types(change: ChangeRequest) -> None:
    expected = {"str": str, "int": int, "bool": bool, "Capacity": Capacity}
    for one in fields(change):
        value, named = getattr(change, one.name), str(getattr(one.type, "__name__", one.type))
        if named in expected and type(value) is not expected[named]:
            raise ChangeInvalid(one.name, f"{one.name} is no {named}.")


def _pairs(tags: object) -> tuple[tuple[str, str], ...]:
    given = tags.items() if isinstance(tags, Mapping) else tags
    try:
        return tuple((key, value) for key, value in given)  # type: ignore[attr-defined]
    except (TypeError, ValueError) as error:
        raise ChangeInvalid("tags", "Give each tag a key and a value.") from error


def _named(field: str, reason: str) -> None:
    if reason:
        raise ChangeInvalid(field, reason)


def _check_days(days: int) -> None:
    if not _is_whole(days) or not 1 <= days <= MOST_DAYS:
        raise ChangeInvalid("days", f"Give 1 to {MOST_DAYS:,} days.")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo else None


def check_store(name: object) -> str:
    if isinstance(name, str) and _STORE.fullmatch(name):
        return ""
    return "The name of a DynamoDB table has 3 to 255 letters, digits, underscores, dots and hyphens."


def check_bucket(name: object) -> str:
    if isinstance(name, str) and _BUCKET.fullmatch(name):
        return ""
    return "The name of a bucket has 3 to 63 letters, digits, dots and hyphens."


def check_prefix(prefix: object) -> str:
    """A key prefix without slashes at its ends; "" is the root of the bucket."""
    if not isinstance(prefix, str) or prefix != prefix.strip("/"):
        return "Give the key prefix without slashes at its ends."
    try:
        size = len(prefix.encode())
    except UnicodeEncodeError:
        return "The prefix is not valid Unicode."
    if size > LONGEST_PREFIX - len("/_delta_log/.tmp/"):
        return f"A key has at most {LONGEST_PREFIX:,} bytes, and this prefix leaves no room for _delta_log/.tmp/."
    if any(ord(letter) < 32 for letter in prefix):
        return "A lifecycle rule cannot name a prefix with control characters."
    return ""


def check_key_arn(key: object) -> str:
    if key in ("", "aws") or (isinstance(key, str) and _KEY_ARN.fullmatch(key)):
        return ""
    return "Give the ARN of a KMS key, `aws` for the account's own, or nothing for the key of DynamoDB."


def check_tags(tags: Sequence[tuple[object, object]]) -> str:
    """AWS's rules for tags: at most 50, keys of 1 to 128, values of up to 256 characters, none of them twice."""
    if len(tags) > MOST_TAGS:
        return f"A DynamoDB table has at most {MOST_TAGS} tags."
    for key, value in tags:
        if not isinstance(key, str) or not isinstance(value, str):
            return "Tags are text."
        if not 1 <= len(key) <= 128 or len(value) > 256 or not _TAG.fullmatch(key) or not _TAG.fullmatch(value):
            return f"The tag {key[:40]!r} is not one that AWS takes: letters, digits, spaces and . : / = + @ - _."
        if key.lower().startswith("aws:"):
            return "Tags that begin with aws: belong to AWS."
    return "" if len({key for key, _ in tags}) == len(tags) else "A tag is named twice."
