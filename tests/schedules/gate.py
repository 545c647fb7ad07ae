"""The proxy before S3 and DynamoDB: counts Levee's requests, lets others act between them, and watches its writes."""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lake.aws.answers import AwsResponse
from lake.aws.transport import UnreachableError
from tests.schedules.clock import Clock
from tests.schedules.lake import MemoryLake
from tests.schedules.ledger import Accepted, Ledger, Left
from tests.schedules.place import COORDINATOR
from tests.schedules.wire import answer, operation_of
from tests.schedules.world import World

WRITES = frozenset({"s3:Put", "s3:Delete", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"})


class Killed(BaseException):
    """The process that was sending requests ends here."""


@dataclass
class Gate:
    """In place of `lake.aws.transport.Transport`; one request at a time goes through.

    `acts` maps a request's number, from 0, to what happens before it. `wrongs` are Levee's writes that took something
    of an accepted commit away, or made up what was never accepted. Commits that are known to be lost (`given_up`) may
    be hidden, as long as their bytes stay.
    """

    world: World
    clock: Clock
    acts: dict[int, Callable[[], object]] = field(default_factory=dict)
    operations: list[str] = field(default_factory=list)
    wrongs: list[str] = field(default_factory=list)
    given_up: Collection[Accepted] = ()
    unanswered: int | None = None
    """The number of the request that is carried out without an answer."""
    fact: Callable[[], bool] = lambda: True
    held: list[bool] = field(default_factory=list)
    """Whether the `fact` held at each request since Levee's last write: what a proof can have read."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, method: str, origin: str, target: str, headers: Mapping[str, str], body: bytes) -> AwsResponse:
        with self._lock:
            operation = operation_of(method, target, headers)
            self._note(operation)
            said = self._watched(operation, lambda: answer(self.world.lake, method, target, headers, body))
            self.held = [] if operation in WRITES else [*self.held, self.fact()]
            if self.unanswered == len(self.operations) - 1:
                raise UnreachableError("the connection broke before the answer was complete", is_retryable=True)
            return said

    def moment(self, name: str) -> None:
        """Something else than a request of Levee's is about to be sent on its behalf."""
        with self._lock:
            self._note(name)

    def _note(self, name: str) -> None:
        self.clock.tick()
        self.operations.append(name)
        self.acts.pop(len(self.operations) - 1, _nothing)()

    def close(self) -> None:
        """Nothing is open."""

    def _watched(self, operation: str, send: Callable[[], AwsResponse]) -> AwsResponse:
        if operation not in WRITES:
            return send()
        ledger, lake = self.world.ledger, self.world.lake
        before = Seen.of(ledger, lake)
        said = send()
        self.wrongs += [f"{operation} {wrong}" for wrong in before.wrongs(Seen.of(ledger, lake), self.given_up)]
        return said


@dataclass(frozen=True)
class Seen:
    """What of the ledger's commits can be seen in the lake at one moment."""

    commits: Sequence[Accepted]
    left: Sequence[Left]
    waiting: Sequence[Accepted]
    invented: Sequence[str]
    versions: Mapping[str, int]

    @classmethod
    def of(cls, ledger: Ledger, lake: MemoryLake) -> "Seen":
        versions = {item["tableId"]["S"]: int(item["tableVersion"]["N"]) for item in lake.items(COORDINATOR)}
        return cls(tuple(ledger.accepted), ledger.left(lake), ledger.waiting(lake), ledger.invented(lake), versions)

    def wrongs(self, after: "Seen", given_up: Collection[Accepted]) -> Iterator[str]:
        """What one write of Levee's did between the two moments that it must never do."""
        for commit, held, holds in zip(self.commits, self.left, after.left, strict=True):
            if holds < (min(held, Left.BYTES) if commit in given_up else held):
                yield f"took commit {commit.version} from {held.name} to {holds.name}"
            lost = holds is not Left.READABLE and commit in self.waiting and commit not in after.waiting
            if lost and commit not in given_up:
                yield f"took away what leads to commit {commit.version}, which is not in the log"
        if not given_up:
            yield from (f"made that {sentence}" for sentence in after.invented if sentence not in self.invented)
        for table_id, version in after.versions.items():
            if version < self.versions.get(table_id, version):
                yield f"lowered tableVersion from {self.versions[table_id]} to {version}"


def _nothing() -> None:
    return


def opened(gate: Gate) -> Callable[..., Any]:
    """What stands in for the class Transport."""
    return lambda *_, **__: gate
