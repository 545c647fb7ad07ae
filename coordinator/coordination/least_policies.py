"""The least that a writer and a reader of Delta tables may do in S3, DynamoDB and KMS, by how commits are made. Pure.

Sources: `S3DynamoDBLogStore`, `BaseExternalLogStore` and `DynamoDBCommitCoordinatorClient` of Delta 3.3 to 4.4, the log
store of delta-rs 1.6.0, and what S3A 3.5 and delta-rs really send (tests/conformance/test_least_policies.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from coordinator.settings.iam import Condition, PolicyStatement, key_use, listing
from lake.aws.arns import KmsKey, literal
from lake.delta.facts import Mechanism
from lake.delta.uri import TableUri


class AccessKind(StrEnum):
    """Who a policy is for."""

    WRITER = "writer"
    READER = "reader"


class WriterEngine(StrEnum):
    """With what it writes or reads: delta-rs up to 1.6.0, the last that knows a log store."""

    SPARK = "spark"
    DELTA_RS = "delta-rs"


@dataclass(frozen=True, slots=True)
class PolicyPlace:
    """What the policy is to reach. `account` has 12 digits or "*"; `prefix` has no slash at its ends.

    `is_table`: the prefix is the root of a table that is there, not a folder of tables. `lock_keys` are the partition
    keys of its items in the store: of a log store the path as writers spell it, of a coordinator the table's id; empty
    where they are not known. `store` is "" where the mechanism has none. `notes` say what of it was not read.
    """

    partition: str
    region: str
    account: str
    bucket: str
    prefix: str
    is_table: bool = True
    store: str = ""
    lock_keys: tuple[str, ...] = ()
    bucket_key: KmsKey | None = None
    store_key: KmsKey | None = None
    notes: tuple[str, ...] = ()

    @property
    def uri(self) -> TableUri:
        return TableUri("s3a", self.bucket, self.prefix)

    @property
    def bucket_arn(self) -> str:
        return f"arn:{self.partition}:s3:::{literal(self.bucket)}"

    @property
    def below(self) -> str:
        """The prefix of all keys that belong to it, "" for the whole bucket."""
        return f"{self.prefix}/" if self.prefix else ""

    @property
    def objects(self) -> str:
        return f"{self.bucket_arn}/{literal(self.below)}*"

    @property
    def store_arn(self) -> str:
        return f"arn:{self.partition}:dynamodb:{self.region}:{self.account}:table/{self.store}"

    @property
    def own(self) -> Condition:
        account = "${aws:PrincipalAccount}" if self.account == "*" else self.account
        return "StringEquals", "aws:ResourceAccount", (account,)


def least_statements(
    mechanism: Mechanism, kind: AccessKind, engine: WriterEngine, place: PolicyPlace
) -> tuple[PolicyStatement, ...]:
    """The statements of its policy; empty where this engine cannot write such tables at all."""
    if kind is AccessKind.WRITER and not can_write(mechanism, engine):
        return ()
    return (*_of_s3(kind, engine, place), *_of_the_store(mechanism, kind, engine, place))


def can_write(mechanism: Mechanism, engine: WriterEngine) -> bool:
    """delta-rs knows no coordinator, and refuses the feature."""
    return mechanism is not Mechanism.COORDINATED_COMMITS or engine is WriterEngine.SPARK


def _of_s3(kind: AccessKind, engine: WriterEngine, place: PolicyPlace) -> Iterator[PolicyStatement]:
    yield listing(place.bucket_arn, [place.below], place.own, "ListTheTable")
    yield PolicyStatement(("s3:GetObject",), (place.objects,), (place.own,), "ReadItsObjects")
    key = (place.bucket_key,) if place.bucket_key else ()
    if kind is AccessKind.READER:
        yield from key_use(key, "s3", ("kms:Decrypt",), "DecryptItsObjects")
        return
    # delta-rs 1.6.0 leaves an upload that failed as it is; a rule for unfinished uploads ends it.
    aborts = ("s3:AbortMultipartUpload",) if engine is WriterEngine.SPARK else ()
    writes = ("s3:PutObject", "s3:DeleteObject", *aborts)
    yield PolicyStatement(writes, (place.objects,), (place.own,), "WriteItsObjects")
    yield from key_use(key, "s3", ("kms:Decrypt", "kms:GenerateDataKey"), "EncryptItsObjects")


def _of_the_store(
    mechanism: Mechanism, kind: AccessKind, engine: WriterEngine, place: PolicyPlace
) -> Iterator[PolicyStatement]:
    items = _items(mechanism, kind, engine, place)
    if not items:
        return
    if engine is WriterEngine.SPARK:
        yield PolicyStatement(("dynamodb:DescribeTable",), (place.store_arn,), (place.own,), "FindTheStore")
    yield PolicyStatement(items, (place.store_arn,), (place.own, *_lock(place)), "UseItsItems")
    yield from key_use((place.store_key,) if place.store_key else (), "dynamodb", ("kms:Decrypt",), "DecryptItsItems")


def _items(mechanism: Mechanism, kind: AccessKind, engine: WriterEngine, place: PolicyPlace) -> tuple[str, ...]:
    """What is done to items. Nobody deletes one, changes TTL or makes a DynamoDB table: that is for Levee."""
    writes = kind is AccessKind.WRITER
    match mechanism, engine:
        case Mechanism.LOG_STORE, WriterEngine.SPARK:
            return ("dynamodb:Query", "dynamodb:GetItem", "dynamodb:PutItem") if writes else ("dynamodb:Query",)
        case Mechanism.LOG_STORE, WriterEngine.DELTA_RS:
            update = ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem")
            return ("dynamodb:Query", *update) if writes else ("dynamodb:Query",)
        case Mechanism.COORDINATED_COMMITS, WriterEngine.SPARK:
            register = () if place.is_table else ("dynamodb:PutItem",)
            return ("dynamodb:GetItem", "dynamodb:UpdateItem", *register) if writes else ("dynamodb:GetItem",)
    return ()


def _lock(place: PolicyPlace) -> tuple[Condition, ...]:
    """Its own items alone, of a store that many tables share."""
    if not place.lock_keys:
        return ()
    return (("ForAllValues:StringLike", "dynamodb:LeadingKeys", place.lock_keys),)


def notes_for(mechanism: Mechanism, kind: AccessKind, engine: WriterEngine, place: PolicyPlace) -> Iterator[str]:
    """What the policy does not say, as sentences."""
    writes = kind is AccessKind.WRITER
    if not can_write(mechanism, engine) and writes:
        yield "delta-rs cannot write coordinated tables: it knows no coordinator, so there is no policy to give."
        return
    yield from _notes_on_the_store(mechanism, engine, writes=writes)
    if mechanism is Mechanism.COORDINATED_COMMITS and writes and not place.is_table:
        yield "It may register new tables; in a policy for one table that is left out, with the items of all others."
    if mechanism is not Mechanism.SINGLE_DRIVER and place.is_table and place.store and not place.lock_keys:
        yield f"The key of its items in {place.store} was not read: the policy reaches the items of every table there."
    if place.prefix:
        yield "Whoever lists the bucket without naming a folder sees the names of all its objects, not more."


def _notes_on_the_store(mechanism: Mechanism, engine: WriterEngine, *, writes: bool) -> Iterator[str]:
    match mechanism, engine:
        case Mechanism.LOG_STORE, WriterEngine.DELTA_RS if writes:
            yield (
                "delta-rs deletes its entry where a commit fails between entry and file. It may not here: the entry "
                "waits, and the next writer or a repair publishes it."
            )
        case Mechanism.LOG_STORE, _ if not writes:
            yield (
                "A reader with the log store publishes a commit that waits. This one may not: it fails until a writer "
                "or a repair has. Without the log store's settings it needs DynamoDB for nothing, and sees published "
                "commits alone."
            )
        case Mechanism.COORDINATED_COMMITS, WriterEngine.DELTA_RS:
            yield "delta-rs asks no coordinator: it sees backfilled commits alone."
    if writes and mechanism is not Mechanism.SINGLE_DRIVER:
        yield "It may delete no entry, change no TTL and create no DynamoDB table."
