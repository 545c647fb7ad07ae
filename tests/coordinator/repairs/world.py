"""A small lake to repair: one bucket, a log store and a coordinator, arranged and inspected through boto3."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from changes.calls import Call
from changes.execution import CallOutcome
from changes.plan import ChangePlan
from lake.aws.errors import AwsError
from tests.builders.changes import execute_plan
from tests.builders.delta import UUID
from tests.builders.moto_lake import MotoLake

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
class World(MotoLake):
    """A bucket, a log store and a coordinator of each test's own, with `registry` the coordinator's DynamoDB table."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.registry = self.coordinator()

    def put(self, key: str, body: bytes = COMMIT) -> str:
        """Returns the ETag."""
        super().put(key, body)
        return self.etag(key)

    def etag(self, key: str) -> str:
        return str(self.s3.head_object(Bucket=self.bucket, Key=key)["ETag"]).strip('"')

    def read(self, key: str) -> bytes:
        body: bytes = self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read()
        return body

    def keys(self) -> list[str]:
        return [found["Key"] for found in self.s3.list_objects_v2(Bucket=self.bucket).get("Contents", [])]

    def enter(self, item: dict[str, Any]) -> dict[str, Any]:
        """Put an entry, or a registration; returns it."""
        table = self.log_store if "tablePath" in item else self.registry
        self.dynamodb.put_item(TableName=table, Item=item)
        return item

    def remove(self, item: dict[str, Any]) -> None:
        names = ("tablePath", "fileName") if "tablePath" in item else ("tableId",)
        table = self.log_store if "tablePath" in item else self.registry
        self.dynamodb.delete_item(TableName=table, Key={name: item[name] for name in names})

    def items(self, table: str) -> list[dict[str, Any]]:
        return list(self.dynamodb.scan(TableName=table, ConsistentRead=True)["Items"])

    def snapshot(self) -> tuple[dict[str, bytes], list[dict[str, Any]], list[dict[str, Any]]]:
        """Everything there is."""
        objects = {key: self.read(key) for key in self.keys()}
        return objects, self.items(self.log_store), self.items(self.registry)


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
