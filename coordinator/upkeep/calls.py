"""The calls of upkeep: exactly what will be sent, and on which facts it rests."""

from dataclasses import dataclass

Fact = str | int | bool | None | tuple[object, ...]


@dataclass(frozen=True, slots=True)
class StoreCall:
    """One DynamoDB operation on a table; `request` is its body as JSON text with sorted names.

    `before` are facts (name of a `StoreDescription` attribute, value) that must hold when it is sent; `after` are those
    that prove it done, and where they hold already it is not sent. A fact of several values holds with any of them. A
    table that does not exist has the one fact that its status is "".
    """

    operation: str
    table: str
    request: str
    says: str
    before: tuple[tuple[str, Fact], ...] = ()
    after: tuple[tuple[str, Fact], ...] = ()


@dataclass(frozen=True, slots=True)
class ListStore:
    """Add a DynamoDB table to the commit stores that Levee knows; an entry that is there already stays."""

    table: str
    kind: str
    says: str


@dataclass(frozen=True, slots=True)
class BeginTtlMigration:
    """Record that TTL of a log store is to move to expireTime; ticks of the schedule carry it on."""

    table: str
    attribute: str
    says: str


@dataclass(frozen=True, slots=True)
class WriteLifecycle:
    """Replace a bucket's lifecycle configuration by one with another rule `rule_id`, all others as they are.

    `read` is a hash of the configuration that the plan was made from: another one stops the change. `rule` is the XML
    of the rule, "" where it is removed. With `removes_all` no rule is left, and the configuration itself goes.
    """

    bucket: str
    rule_id: str
    rule: str
    read: str
    says: str
    removes_all: bool = False


@dataclass(frozen=True, slots=True)
class SweepTable:
    """Delete temp files of one table that no commit needs, last written before `before` (ISO 8601), each by its ETag.

    `folder` is the key of its `_delta_log/`; `lock_domains` are the tablePaths whose entries in the DynamoDB tables
    `stores` may name such a file.
    """

    bucket: str
    folder: str
    before: str
    lock_domains: tuple[tuple[str, str], ...]
    says: str


UpkeepCall = StoreCall | ListStore | BeginTtlMigration | WriteLifecycle | SweepTable


@dataclass(frozen=True, slots=True)
class CallText:
    """A call in words: the AWS operations, what it does, on which condition, and the body that is sent."""

    operation: str
    says: str
    condition: str
    request: str = ""


def say(call: UpkeepCall) -> CallText:
    match call:
        case StoreCall():
            facts = "; ".join(_fact_in_words(name, value) for name, value in call.before)
            return CallText(f"dynamodb:{call.operation}", call.says, facts, call.request)
        case ListStore():
            return CallText("Levee's own records", call.says, "")
        case BeginTtlMigration():
            condition = f"TTL is on {call.attribute}, and no migration of {call.table} is under way"
            return CallText("dynamodb:UpdateTimeToLive, twice", call.says, condition)
        case WriteLifecycle():
            operation = "s3:DeleteBucketLifecycle" if call.removes_all else "s3:PutBucketLifecycleConfiguration"
            condition = "the configuration is the one that the plan was made from; it is read again just before"
            return CallText(operation, call.says, condition, call.rule)
        case SweepTable():
            condition = (
                "its bytes are those of the published file, or its version's entry or checksum shows that another was "
                "accepted; and its ETag is as read"
            )
            return CallText("s3:DeleteObject", call.says, condition)


def _fact_in_words(name: str, value: Fact) -> str:
    if name == "status" and value == "":
        return "no table of this name exists"
    values = value if isinstance(value, tuple) else (value,)
    told = " or ".join("not set" if one in (None, "") else str(one) for one in values)
    return f"{name.replace('_', ' ')} is {told}"
