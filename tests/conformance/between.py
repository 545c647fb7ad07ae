"""A server between Spark and DynamoDB that passes every request on, and at one of them does what a test asks for."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from tests.serving import Behind, Came, Given, serving

Body = dict[str, Any]
_SPARK = "aws-sdk-java/1"
"""Delta's coordinator speaks through the AWS SDK v1; Levee's own requests name themselves otherwise."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An error in DynamoDB's own form."""

    code: str
    status: int = 400

    @property
    def body(self) -> bytes:
        return json.dumps({"__type": f"com.amazonaws.dynamodb.v20120810#{self.code}", "message": "as asked"}).encode()


@dataclass(slots=True)
class Moment:
    """The first request of Spark's that is this operation and fits. `before` happens ahead of it, `after` behind it.

    `answer` is given instead of passing the request on, `times` times. Without `is_passed_on` DynamoDB never hears of
    it, without `is_answered` Spark never hears of the answer.
    """

    operation: str
    fits: Callable[[Body], bool] = lambda body: True
    before: Callable[[], object] = lambda: None
    after: Callable[[], object] = lambda: None
    answer: Answer | None = None
    times: int = 1
    is_passed_on: bool = True
    is_answered: bool = True


@dataclass
class Between:
    """`moments` wait for their requests; one that came is taken from the list."""

    behind: Behind
    origin: str = ""
    moments: list[Moment] = field(default_factory=list)
    came: list[str] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def at(self, moment: Moment) -> Moment:
        self.moments.append(moment)
        return moment

    def forget(self) -> None:
        """No test hears of the moments of the one before."""
        with self._lock:
            self.moments.clear()
            self.came.clear()

    def take(self, operation: str, body: Body) -> Moment | None:
        with self._lock:
            for moment in self.moments:
                if moment.operation == operation and moment.fits(body):
                    moment.times -= 1
                    if not moment.times:
                        self.moments.remove(moment)
                    self.came.append(operation)
                    return moment
        return None

    def answer(self, came: Came) -> Given | None:
        operation = came.headers.get("x-amz-target", "").rpartition(".")[2]
        is_sparks = _SPARK in came.headers.get("user-agent", "")
        moment = self.take(operation, json.loads(came.body)) if is_sparks else None
        if moment is None:
            return self.behind.answer(came)
        moment.before()
        if moment.answer is not None:
            return moment.answer.status, moment.answer.body, {"Content-Type": "application/x-amz-json-1.0"}
        answer = self.behind.answer(came) if moment.is_passed_on else None
        moment.after()
        return answer if moment.is_answered else None


@contextmanager
def between(target: str) -> Iterator[Between]:
    """Serve on loopback in front of the origin `target`."""
    stands = Between(Behind(target))
    with serving(stands.answer) as (stands.origin, _):
        yield stands
