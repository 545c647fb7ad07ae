"""A small lake to repair: one bucket, a log store and a coordinator, arranged and inspected through boto3."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from changes.calls import Call
from changes.execution import CallOutcome
from changes.plan import ChangePlan
from lake.aws.errors import AwsError
from tests.builders.changes import execute_plan
from tests.builders.delta import UUID

URI = "s3a://lake/sales/orders"
LOG = "sales/orders/_delta_log/"
NOW = 1_800_000_000
WRITES = ("put_if_absent", "delete_object", "update_item", "put_item", "delete_item")
COMMIT = b'{"commitInfo":{"operation":"WRITE"}}\n{"add":{"path":"p"}}\n'


def commit_key(version: int) -> str:
    return f"{LOG}{version:020d}.json"


def temp_key(version: int) -> str:
    return f"{LOG}.tmp/{version:020d}.json.{UUID}"


def staged_key(version: int) -> str:
    return f"{LOG}_staged_commits/{version:020d}.{UUID}.json"


@dataclass
class World:
    """`s3` and `dynamodb` are boto3 clients; each world has a bucket and two DynamoDB tables of its own."""

    s3: Any
    dynamodb: Any
    bucket: str
    log_store: str = field(init=False)
    coordinator: str = field(init=False)

    def __post_init__(self) -> None:
        self.log_store = self._table(f"log-{self.bucket}", "tablePath", "fileName")
        self.coordinator = self._table(f"coordinator-{self.bucket}", "tableId")

    def put(self, key: str, data: bytes = COMMIT) -> str:
        """Returns the ETag."""
        return str(self.s3.put_object(Bucket=self.bucket, Key=key, Body=data)["ETag"]).strip('"')

    def put_in_parts(self, key: str, data: bytes = COMMIT) -> str:
        """Returns the ETag, which is that of a multipart upload."""
        place = {"Bucket": self.bucket, "Key": key}
        upload = self.s3.create_multipart_upload(**place)["UploadId"]
        part = self.s3.upload_part(**place, UploadId=upload, PartNumber=1, Body=data)
        parts = {"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
        done = self.s3.complete_multipart_upload(**place, UploadId=upload, MultipartUpload=parts)
        return str(done["ETag"]).strip('"')

    def delete(self, key: str) -> None:
        self.s3.delete_object(Bucket=self.bucket, Key=key)

    def read(self, key: str) -> bytes:
        body: bytes = self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read()
        return body

    def keys(self) -> list[str]:
        return [found["Key"] for found in self.s3.list_objects_v2(Bucket=self.bucket).get("Contents", [])]

    def enter(self, item: dict[str, Any]) -> dict[str, Any]:
        """Put an entry, or a registration; returns it."""
        table = self.log_store if "tablePath" in item else self.coordinator
        self.dynamodb.put_item(TableName=table, Item=item)
        return item

    def remove(self, item: dict[str, Any]) -> None:
        names = ("tablePath", "fileName") if "tablePath" in item else ("tableId",)
        table = self.log_store if "tablePath" in item else self.coordinator
        self.dynamodb.delete_item(TableName=table, Key={name: item[name] for name in names})

    def items(self, table: str) -> list[dict[str, Any]]:
        return list(self.dynamodb.scan(TableName=table, ConsistentRead=True)["Items"])

    def snapshot(self) -> tuple[dict[str, bytes], list[dict[str, Any]], list[dict[str, Any]]]:
        """Everything there is."""
        return {key: self.read(key) for key in self.keys()}, *self.snapshot_of_items()

    def snapshot_of_items(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        return self.items(self.log_store), self.items(self.coordinator)

    def _table(self, name: str, *keys: str) -> str:
        kinds = list(zip(keys, ("HASH", "RANGE"), strict=False))
        self.dynamodb.create_table(
            TableName=name,
            KeySchema=[{"AttributeName": key, "KeyType": kind} for key, kind in kinds],
            AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
            BillingMode="PAY_PER_REQUEST",
        )
        return name


class Meddled:
    """A lake to which something happens: `before` and `after` the first request of a method, or `at` the n-th
    request of all, counted from 0. What happens may raise. Methods are named as `NAMES` has them.
    """

    NAMES: ClassVar = {"put": "put_if_absent", "delete": "delete_object", "list": "list_objects"}

    def __init__(self, lake: Any) -> None:
        self.asked: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self._lake = lake
        self._before: dict[str, Callable[[], object]] = {}
        self._after: dict[str, Callable[[], object]] = {}
        self._at: dict[int, Callable[[], object]] = {}

    def before(self, method: str, act: Callable[[], object]) -> "Meddled":
        self._before[method] = act
        return self

    def after(self, method: str, act: Callable[[], object]) -> "Meddled":
        self._after[method] = act
        return self

    def at(self, number: int, act: Callable[[], object]) -> "Meddled":
        self._at[number] = act
        return self

    @property
    def s3(self) -> "Part":
        return Part(self, self._lake.s3)

    @property
    def dynamodb(self) -> "Part":
        return Part(self, self._lake.dynamodb)

    def ask(self, send: Callable[..., Any], method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        self.asked.append((method, args, options))
        self._at.pop(len(self.asked) - 1, _nothing)()
        self._before.pop(method, _nothing)()
        answer = send(*args, **options)
        self._after.pop(method, _nothing)()
        return answer


@dataclass(frozen=True)
class Part:
    """S3 or DynamoDB of a lake that is meddled with."""

    lake: Meddled
    part: Any

    def __getattr__(self, method: str) -> Callable[..., Any]:
        send, name = getattr(self.part, method), Meddled.NAMES.get(method, method)
        return lambda *args, **options: self.lake.ask(send, name, args, options)


def _nothing() -> None:
    pass


def refusal(code: str) -> Callable[[], None]:
    """An act that raises AWS's error of that code."""

    def act() -> None:
        raise AwsError(code, "no", "R-failed", "s3:Anything")

    return act


def plan_of(*calls: Call) -> ChangePlan:
    return ChangePlan("publish-commit", URI, "Publish", calls, code="C2", version=7)


def make(call: Call, lake: Any) -> CallOutcome:
    """The outcome of one call."""
    [outcome] = execute_plan(plan_of(call), lake, now=lambda: NOW).outcomes
    return outcome
