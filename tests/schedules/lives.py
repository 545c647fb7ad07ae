"""Random lives of one table: writers, readers and repairers between whose requests others act, die or lose a file."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from changes.plan import ChangePlan
from coordinator.protocols.diagnosis import diagnose
from coordinator.repairs.planning import plan_repairs
from coordinator.repairs.possible import with_possible_repairs
from tests.builders.changes import execute_plan
from tests.schedules import coordinated_scenes, log_store_scenes
from tests.schedules.clients import open_through, read_table_anew, straight_work
from tests.schedules.clock import Clock, stopped_clock
from tests.schedules.coordinated_scenes import ID
from tests.schedules.coordinator import CoordinatedWriter, registration
from tests.schedules.gate import Gate, Killed
from tests.schedules.lake import Item
from tests.schedules.ledger import data_of
from tests.schedules.log_store import expire
from tests.schedules.place import BUCKET, COORDINATOR, LOG, LOG_STORE, STAGED, published
from tests.schedules.world import Actor, Program, World

MOST_REPAIRS = 60
Event = tuple[Any, ...]


class Life:
    """One table from its first commits on; `happen` lets one thing happen to it, `end` brings it to its end.

    Nothing that happens takes the last copy of a commit away: all of it is there at the end.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.world = World(clock)
        self.gate = Gate(self.world, clock)
        self.lake = open_through(self.gate)
        self.world.run(*self.first_commits())

    @property
    def actors(self) -> list[Actor]:
        return [one for one in self.world.actors.values() if one.next]

    def first_commits(self) -> Iterator[Program]:
        """What wrote the table so far."""
        raise NotImplementedError

    def writer(self) -> Program:
        raise NotImplementedError

    def reader(self) -> Program:
        """What a reader or a writer does first."""
        raise NotImplementedError

    def lose_a_file(self, which: int) -> None:
        """A published file goes of which a copy is left that DynamoDB leads to."""
        raise NotImplementedError

    def happen(self, event: Event) -> None:
        name, *details = event
        getattr(self, name)(*details)
        self.check()

    # What happens

    def commit(self) -> None:
        self.world.run(self.writer())

    def start(self, name: str) -> None:
        program = self.writer() if name == "writer" else self.reader()
        self.world.start(f"{name} {len(self.world.actors)}", program)

    def step(self, which: int, requests: int) -> None:
        if actors := self.actors:
            for _ in range(requests):
                actors[which % len(actors)].step()

    def kill(self, which: int) -> None:
        if actors := self.actors:
            actors[which % len(actors)].next = ""

    def kill_all(self) -> None:
        for actor in self.actors:
            actor.next = ""

    def crash(self, requests: int) -> None:
        """A writer stops for ever before its request of that number."""
        actor = Actor("crashed", self.writer())
        for _ in range(requests):
            actor.step()

    def repair(self, which: int, position: int, meanwhile: list[Event]) -> None:
        """One of the plans that lose nothing is carried out; before its request of that number other things happen.

        Where nothing happens meanwhile, the repairer dies there.
        """
        plans = [plan for plan in self.plans() if not plan.can_lose]
        if not plans:
            return

        def act() -> None:
            if not meanwhile:
                raise Killed
            for event in meanwhile:
                self.happen(event)

        self.gate.acts = {len(self.gate.operations) + position: act}
        with suppress(Killed):
            execute_plan(plans[which % len(plans)], self.lake)
        self.gate.acts = {}

    # What Levee makes of it

    def plans(self) -> list[ChangePlan]:
        """What Levee plans from a fresh reading: exactly what it offers of it."""
        read = read_table_anew(self.lake)
        verdict = with_possible_repairs(read.facts, diagnose(read.facts), read.lock_domains, read.coordinator)
        offered = {(one.code, one.version, repair) for one in verdict.findings for repair in one.repairs}
        plans = [one for one in plan_repairs(read) if isinstance(one, ChangePlan)]
        assert offered == {(plan.code, plan.version, plan.kind) for plan in plans}
        return plans

    def check(self) -> None:
        """Levee took nothing away, and nobody made up what was never accepted."""
        ledger = self.world.ledger
        assert self.gate.wrongs == []
        assert ledger.invented(self.world.lake) == []
        assert ledger.twice() == []

    def end(self) -> None:
        """Everybody stops, repairs are made until none is left, orphans last: all that was accepted is in the log."""
        self.kill_all()
        self.clock.let_pass(timedelta(hours=25))
        for _ in range(MOST_REPAIRS):
            plans = sorted(self.plans(), key=lambda plan: plan.kind == "remove-orphans")
            if not plans:
                break
            execution = execute_plan(plans[0], self.lake)
            assert execution.is_complete, execution.end
            self.check()
        else:
            raise AssertionError("repairs do not come to an end")
        assert self.world.ledger.is_settled(self.world.lake)


class LogStoreLife(Life):
    """A table of S3DynamoDBLogStore."""

    def first_commits(self) -> Iterator[Program]:
        yield from (self.writer() for _ in range(2))

    def writer(self) -> Program:
        return log_store_scenes.spark(self.world)

    def reader(self) -> Program:
        return log_store_scenes.reader(self.world)

    def a_day_passes(self) -> None:
        """Nobody's commit takes so long; TTL takes finished entries, but for those of files that are lost."""
        self.kill_all()
        self.clock.let_pass(timedelta(hours=25))
        lost = [item for item in self._entries() if not self.world.lake.has(BUCKET, LOG + item["fileName"]["S"])]
        self.world.run(expire(self.world))
        for item in lost:
            self.world.lake.put_item(LOG_STORE, item)

    def lose_a_file(self, which: int) -> None:
        spare = [item for item in self._entries() if self._is_spare(item)]
        if spare:
            self.world.lake.delete(BUCKET, LOG + spare[which % len(spare)]["fileName"]["S"])

    def _entries(self) -> list[Item]:
        return self.world.lake.items(LOG_STORE)

    def _is_spare(self, item: Item) -> bool:
        temp = data_of(self.world.lake, LOG + item["tempPath"]["S"])
        return temp is not None and temp == data_of(self.world.lake, LOG + item["fileName"]["S"])


class CoordinatedLife(Life):
    """A table that was upgraded, and has accepted commits through its coordinator since."""

    def first_commits(self) -> Iterator[Program]:
        coordinated_scenes.past(self.world)
        self.older = self._item()
        yield from (self.writer(),)

    def writer(self) -> Program:
        return coordinated_scenes.commit(self.world)

    def reader(self) -> Program:
        return CoordinatedWriter(self.world, ID).backfill()

    def a_day_passes(self) -> None:
        """Nobody's commit takes so long; staged files grow old."""
        self.kill_all()
        self.clock.let_pass(timedelta(hours=25))

    def lose_a_file(self, which: int) -> None:
        item = self._item()
        if item is None:
            return
        listed = [int(one["M"]["version"]["N"]) for one in item["commits"]["L"]]
        staged = {data_of(self.world.lake, key) for key in self.world.lake.keys(BUCKET, STAGED)}
        known = sorted({*listed, int(item["tableVersion"]["N"])})
        spare = [one for one in known if data_of(self.world.lake, published(one)) in staged]
        if spare:
            self.kill_all()
            self.world.lake.delete(BUCKET, published(spare[which % len(spare)]))

    def restore_an_older_item(self) -> None:
        """The registration is put back from a backup."""
        self._replace_item(self.older)

    def restore_the_first_item(self) -> None:
        """The registration is put back as it was made, before it had accepted any commit."""
        self._replace_item(registration(ID, 1))

    def lose_the_item(self) -> None:
        self._replace_item(None)

    def _replace_item(self, other: Item | None) -> None:
        """While nothing waits in it: a commit that only the item leads to would be lost."""
        if not self._is_clear():
            return
        self.kill_all()
        self.world.lake.delete_item(COORDINATOR, {"tableId": {"S": ID}})
        if other is not None:
            self.world.lake.put_item(COORDINATOR, other)

    def _is_clear(self) -> bool:
        item, newest = self._item(), max(one.version for one in self.world.ledger.accepted)
        clear = item is not None and not item["commits"]["L"] and item["tableVersion"] == {"N": str(newest)}
        return clear and self.world.lake.has(BUCKET, published(newest))

    def _item(self) -> Any:
        return self.world.lake.get_item(COORDINATOR, {"tableId": {"S": ID}})


@contextmanager
def life(make: Callable[[Clock], Life]) -> Iterator[Life]:
    with straight_work(), stopped_clock() as clock:
        yield make(clock)


WHICHEVER = st.integers(0, 7)
CRASHED_WRITER = st.tuples(st.just("crash"), st.integers(4, 10))
"""Most of these leave an accepted commit that is not published, or not completed."""
MISHAPS = (st.just(("a_day_passes",)), st.tuples(st.just("lose_a_file"), WHICHEVER))
LIVES: dict[Callable[[Clock], Life], tuple[st.SearchStrategy[Event], ...]] = {
    LogStoreLife: MISHAPS,
    CoordinatedLife: (
        *MISHAPS,
        st.just(("restore_an_older_item",)),
        st.just(("restore_the_first_item",)),
        st.just(("lose_the_item",)),
    ),
}
"""Each kind of life with what may befall it."""


def events(*mishaps: st.SearchStrategy[Event]) -> st.SearchStrategy[list[Event]]:
    """What happens, in order: whole commits, starts and steps of those at work, deaths, repairs and mishaps."""
    meanwhile = st.lists(st.one_of(st.just(("commit",)), CRASHED_WRITER, *mishaps), max_size=3)
    usual = (
        st.just(("commit",)),
        st.tuples(st.just("start"), st.sampled_from(["writer", "writer", "reader"])),
        st.tuples(st.just("step"), WHICHEVER, st.integers(1, 12)),
        st.tuples(st.just("step"), WHICHEVER, st.integers(1, 12)),
        st.tuples(st.just("kill"), WHICHEVER),
        CRASHED_WRITER,
        st.tuples(st.just("repair"), WHICHEVER, st.integers(0, 40), meanwhile),
        st.tuples(st.just("repair"), WHICHEVER, st.integers(0, 12), meanwhile),
    )
    return st.lists(st.one_of(*usual, *mishaps), min_size=8, max_size=40)
