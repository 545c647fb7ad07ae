"""A Spark that dies time and again while Levee repairs without pause: in the end every accepted commit is there, once.

A soak ends after so many commits; the long one is in the slow layer. What writers of the log store may do meanwhile is
played one by one in `tests/schedules`.
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
from coordinator.repairs.fresh import plan_anew
from lake.delta.uri import TableUri
from sandbox.client import Client
from sandbox.coordinated import take_back_backfill
from sandbox.spark_tables import SparkLake, delta_path
from tests.builders.changes import execute_plan
from tests.conformance.conftest import BUCKET
from tests.conformance.coordinated import Coordinated
from tests.conformance.levee import Levee
from tests.waiting import scaled

LONGEST_SECONDS = 1_800
"""A soak that has not come to its commits by then hangs."""
PAUSE_SECONDS = 0.2
"""Between two of Levee's looks: the servers are shared with the writers, and small."""
SETTLING_SECONDS = scaled(30)


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
    repairs = Repairs(Levee(stores, table.uri), table.uri)
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
