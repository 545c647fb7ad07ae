"""A lake, its ledger, and those who write to it: each a program that stands still before its next request."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from itertools import count

from tests.schedules.clock import Clock
from tests.schedules.lake import MemoryLake, Table
from tests.schedules.ledger import Ledger
from tests.schedules.place import BUCKET, COORDINATOR, LOG_STORE, OTHER_LOG_STORE

Program = Iterator[str]
"""Yields the name of each request before it is made; those that only look begin with LOOK."""
Statement = Generator[str, None, bool]
"""The same; at its end it says whether its commits are in."""
LOOK = "look"


def empty_lake() -> MemoryLake:
    log_stores = {name: Table(("tablePath", "fileName")) for name in (LOG_STORE, OTHER_LOG_STORE)}
    return MemoryLake({BUCKET: {}}, {**log_stores, COORDINATOR: Table(("tableId",))})


@dataclass
class Actor:
    """One that acts by a program; `next` is the request that it is about to make, "" at its end."""

    name: str
    program: Program
    next: str = "start"
    done: list[str] = field(default_factory=list)

    def step(self) -> str:
        """Make the next request; returns its name, "" where nothing was left."""
        made = self.next
        if made:
            self.next = next(self.program, "")
            self.done.append(made)
        return made

    def advance(self, effects: int) -> list[str]:
        """Make requests until that many of them changed something, or to the end; returns the names of those."""
        made: list[str] = []
        while self.next and len(made) < effects:
            name = self.step()
            if name != "start" and not name.startswith(LOOK):
                made.append(name)
        return made

    def look(self) -> None:
        """Make the looks before the next change: what they showed may be stale when it is made."""
        while self.next == "start" or self.next.startswith(LOOK):
            self.step()

    def finish(self) -> None:
        while self.next:
            self.step()


@dataclass
class World:
    """`numbers` makes names and timestamps that nobody else has, the same in each run."""

    clock: Clock
    lake: MemoryLake = field(default_factory=empty_lake)
    ledger: Ledger = field(default_factory=Ledger)
    actors: dict[str, Actor] = field(default_factory=dict)
    numbers: "count[int]" = field(default_factory=lambda: count(1))

    def start(self, name: str, program: Program) -> Actor:
        self.actors[name] = Actor(name, program)
        return self.actors[name]

    def run(self, *programs: Program) -> None:
        """Let each come to its end, one after the other."""
        for program in programs:
            for _ in program:
                pass

    def unique(self) -> str:
        return f"{next(self.numbers):08x}-5a1d-4c3e-8f00-0123456789ab"
