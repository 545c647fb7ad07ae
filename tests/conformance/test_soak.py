"""Writers that die at any step while Levee repairs without pause: at the end every accepted commit is there, once.

A soak ends after so many commits; the long ones are in the slow layer.
"""

import itertools
import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event, Lock

import pytest

from changes.calls import Result
from coordinator.models import CommitStore
from coordinator.protocols.published_log import LONG_REPLAY
from coordinator.repairs.fresh import plan_anew
from lake.delta.uri import TableUri
from sandbox.client import Client
from sandbox.coordinated import take_back_backfill
from sandbox.delta_files import append, commit_bytes, data_file
from sandbox.ground import DELTA_COMMITS, DELTA_LOG
from sandbox.log_store_writer import BrokenLogError, CommitExistsError, Step, file_name
from sandbox.spark_tables import SparkLake, delta_path
from tests.builders.changes import execute_plan
from tests.conformance.conftest import BUCKET
from tests.conformance.coordinated import Coordinated
from tests.conformance.levee import Levee
from tests.conformance.logged import SHAPE, Logged
from tests.conformance.old_deltalake import Read
from tests.waiting import scaled

LONGEST_SECONDS = 1_800
"""A soak that has not come to its commits by then hangs."""
WRITERS = 3
PAUSE_SECONDS = 0.2
"""Between two of Levee's looks: the servers are shared with the writers, and small."""
STALL_SECONDS = 1.2
SETTLING_SECONDS = scaled(30)
DEADLY = (*list(Step)[:-1], Step.ENTRY_PREPARED, Step.PUBLISHED)
"""Steps after which writers die, those that leave something to repair twice as often."""


@dataclass
class Repairs:
    """Levee at work on one table; `made` counts the calls of each repair that changed something.

    Whoever makes a death up holds `alone`: a file that was published and seen never vanishes in the real world.
    """

    levee: Levee
    uri: str
    made: Counter[str] = field(default_factory=Counter)
    alone: Lock = field(default_factory=Lock)

    def once(self) -> bool:
        """Plan anew and carry out all that can lose nothing; whether anything was left to do."""
        with self.alone, self.levee.open() as lake:
            fresh = plan_anew(self.levee.connection, lake, TableUri.parse(self.uri))
            plans = [plan for plan in fresh.plans if not plan.can_lose]
            for plan in plans:
                execution = execute_plan(plan, lake)
                results = [outcome.result for outcome in execution.outcomes]
                assert Result.FAILED not in results, execution.end
                self.made[plan.kind] += Result.DONE in results[-1:] and execution.is_complete
        return bool(plans)

    def until(self, stopped: Callable[[], bool]) -> None:
        while not stopped():
            self.once()
            time.sleep(PAUSE_SECONDS)

    def settle(self) -> None:
        """Go on until nothing is left to do, now that nobody writes any more."""
        deadline = time.monotonic() + SETTLING_SECONDS
        while self.once():
            assert time.monotonic() < deadline, f"{self.uri} is still to be repaired"


@dataclass
class Accepted:
    """The oracle: each version with the bytes that the log store accepted for it."""

    commits: dict[int, bytes] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def add(self, version: int, data: bytes) -> None:
        with self.lock:
            assert version not in self.commits, f"version {version} was accepted twice"
            self.commits[version] = data


@dataclass
class MortalWriter:
    """A writer of the log store that dies after random steps and starts again.

    `stalled_until` is common to all: some deaths leave every writer standing where it is for a while, so that nobody
    but Levee repairs, and the others go on with what they had begun.
    """

    table: Logged
    accepted: Accepted
    numbers: "itertools.count[int]"
    stalled_until: list[float]
    dice: random.Random

    def until(self, stopped: Callable[[], bool]) -> None:
        while not stopped():
            data = self._commit_of(next(self.numbers))
            while not stopped() and not self._try(data):
                continue

    def last_commit(self) -> None:
        """Have one more commit accepted, and die."""
        version, data = self._next_version(), self._commit_of(next(self.numbers))
        self.table.store.commit(version, data, stop_after=Step.ENTRY_PREPARED)
        self.accepted.add(version, data)

    def _try(self, data: bytes) -> bool:
        """One attempt at the next version; whether it was accepted."""
        dies_after = self.dice.choice(DEADLY) if self.dice.random() < 0.2 else None
        prepared = False
        try:
            self._stand()
            version = self._next_version()
            for step in self.table.store.write(version, data):
                if step is Step.ENTRY_PREPARED:
                    prepared = True
                    self.accepted.add(version, data)
                if step is dies_after:
                    self._die(prepared)
                    break
                self._stand()
        except (CommitExistsError, BrokenLogError):
            return prepared  # whatever goes wrong behind the entry is swallowed upstream
        return prepared

    def _stand(self) -> None:
        time.sleep(max(0.0, self.stalled_until[0] - time.monotonic()))

    def _die(self, prepared: bool) -> None:
        if prepared and self.dice.random() < 0.3:
            self.stalled_until[0] = time.monotonic() + STALL_SECONDS

    def _next_version(self) -> int:
        self.table.store.refresh()
        newest = self.table.store.newest_entry()
        return newest.version + 1 if newest else 0

    def _commit_of(self, number: int) -> bytes:
        now = time.time()
        file = data_file(SHAPE, now, 1, number)
        self.table.client.put(self.table.bucket, f"{self.table.key}/{file.path}", file.data)
        return commit_bytes(append(number, [file], now))


@pytest.mark.django_db
@pytest.mark.parametrize("commits", [80, pytest.param(4_000, marks=pytest.mark.slow)])
def test_the_log_store_keeps_every_accepted_commit_once(stores: Client, key: str, commits: int) -> None:
    table = Logged(stores, BUCKET, key)
    table.create()
    accepted, stalled_until, numbers = Accepted(), [0.0], itertools.count(1)
    repairs = Repairs(Levee(stores, DELTA_LOG, CommitStore.Kind.LOG_STORE, table.uri), table.uri)
    deadline, failed = time.monotonic() + scaled(LONGEST_SECONDS), Event()

    def stopped() -> bool:
        return time.monotonic() > deadline or len(accepted.commits) >= commits or failed.is_set()

    with ThreadPoolExecutor(WRITERS) as pool:
        writers = [
            MortalWriter(table, accepted, numbers, stalled_until, random.Random(seed)) for seed in range(WRITERS)
        ]
        running = [pool.submit(writer.until, stopped) for writer in writers]
        try:
            repairs.until(stopped)
        finally:
            failed.set()
        for future in running:
            future.result()
    writers[0].last_commit()
    repairs.settle()
    newest = len(accepted.commits)
    assert newest > commits
    assert table.published() == list(range(newest + 1))
    published = {version: table.store.read(file_name(version)) for version in accepted.commits}
    assert published == accepted.commits
    assert table.read_by_newest() == Read(newest, newest)
    seen = repairs.levee.look(table.uri)
    state = "attention" if newest > LONG_REPLAY else "healthy"  # this writer makes no checkpoint
    assert (seen.state, seen.published, seen.accepted) == (state, newest, newest), seen
    assert repairs.made["publish-commit"] > 0, repairs.made


@dataclass
class MortalApplication:
    """Spark that appends one row after the other, and at times dies before its commits are backfilled."""

    table: Coordinated
    dice: random.Random
    alone: Lock
    accepted: list[int] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def until(self, stopped: Callable[[], bool]) -> None:
        for number in itertools.count():
            if stopped():
                return
            try:
                self.table.lake.sql(f"INSERT INTO {delta_path(self.table.uri)} SELECT {number}L")
                self.accepted.append(number)
            except Exception as error:  # noqa: BLE001 - any refusal by Spark; the rows tell whether it was one
                self.refused.append(str(error))
            if self.dice.random() < 0.2:
                self.die()

    def die(self) -> None:
        newest = int(self.table.item()["tableVersion"]["N"])
        unbackfilled = [version for version in (newest - 1, newest) if version > 0][-self.dice.randint(1, 2) :]
        with self.alone:
            take_back_backfill(self.table.client, self.table.bucket, self.table.key, unbackfilled)
        self.table.forget()
        time.sleep(self.dice.choice((0.0, 0.5)))


@pytest.mark.spark
@pytest.mark.django_db
@pytest.mark.parametrize("commits", [12, pytest.param(300, marks=pytest.mark.slow)])
def test_the_coordinator_keeps_every_accepted_commit_once(
    lake: SparkLake, stores: Client, key: str, commits: int
) -> None:
    table = Coordinated(lake, BUCKET, key)
    table.create()
    repairs = Repairs(Levee(stores, DELTA_COMMITS, CommitStore.Kind.COMMIT_COORDINATOR, table.uri), table.uri)
    application = MortalApplication(table, random.Random(1), repairs.alone)
    deadline, failed = time.monotonic() + scaled(LONGEST_SECONDS), Event()

    def stopped() -> bool:
        return time.monotonic() > deadline or len(application.accepted) >= commits or failed.is_set()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(application.until, stopped)
        try:
            repairs.until(stopped)
        finally:
            failed.set()
        running.result()
    application.die()
    repairs.settle()
    newest = len(application.accepted)
    assert newest >= commits
    table.forget()
    found = table.lake.sql(f"SELECT id FROM {delta_path(table.uri)} ORDER BY id")  # noqa: S608 - quoted
    assert [row[0] for row in found] == application.accepted, application.refused
    assert table.published() == list(range(newest + 1))
    assert table.item()["tableVersion"] == {"N": str(newest)}
    seen = repairs.levee.look(table.uri)
    assert (seen.state, seen.accepted) == ("healthy", newest), seen
    assert repairs.made["backfill"] > 0, (repairs.made, application.refused)
