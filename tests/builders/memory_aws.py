"""S3 and DynamoDB in memory as tests/schedules has them, with a hook before each request and its calls kept.

To arrange with, it answers the few methods of boto3 that builders call; to read from, it opens as Levee's own clients.
"""

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from lake.aws import access
from lake.aws.access import Access, Lake, open_lake
from lake.aws.answers import AwsResponse
from tests.builders.guard import Call
from tests.schedules.lake import MemoryLake, Table
from tests.schedules.place import BUCKET, ENDPOINT
from tests.schedules.wire import answer, operation_of

__all__ = ["BUCKET", "ENDPOINT", "MemoryAws"]


class MemoryAws:
    """One bucket and its DynamoDB tables; `before` is called before each of Levee's requests."""

    def __init__(self) -> None:
        self.memory = MemoryLake({BUCKET: {}})
        self.before: Callable[[Call], object] = lambda call: None
        self.calls: list[Call] = []
        self._one_at_a_time = threading.Lock()

    def lake(self) -> Lake:
        """What reads it."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(access, "Transport", lambda *_, **__: self)
            return open_lake(Access("us-east-1", endpoint_url=ENDPOINT, static_credentials=("memory", "memory")))

    def count(self, operation: str) -> int:
        return sum(call.operation == operation for call in self.calls)

    # As boto3 has them

    def put_object(self, **given: Any) -> None:
        self.memory.put(given["Bucket"], given["Key"], given["Body"])

    def delete_object(self, **given: Any) -> None:
        self.memory.delete(given["Bucket"], given["Key"])

    def create_table(self, **given: Any) -> None:
        keys = tuple(key["AttributeName"] for key in given["KeySchema"])
        self.memory.tables[given["TableName"]] = Table(keys)

    def put_item(self, **given: Any) -> None:
        # Builders go on changing the item that they gave.
        self.memory.put_item(given["TableName"], json.loads(json.dumps(given["Item"])))

    def delete_item(self, **given: Any) -> None:
        self.memory.delete_item(given["TableName"], given["Key"])

    # As a transport

    def send(self, method: str, origin: str, target: str, headers: Mapping[str, str], body: bytes) -> AwsResponse:
        call = Call(operation_of(method, target, headers), body.decode() or target)
        with self._one_at_a_time:
            self.calls.append(call)
            self.before(call)
            return answer(self.memory, method, target, headers, body)

    def close(self) -> None:
        """Nothing is open."""
