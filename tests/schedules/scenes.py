"""Where schedules begin: a past that Levee has seen, writers that stand somewhere in their commits, and their turns."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from tests.schedules.clock import NOW, Clock
from tests.schedules.lake import MemoryLake
from tests.schedules.ledger import Breach
from tests.schedules.place import BUCKET, LOG_STORE
from tests.schedules.world import Program, World

TO_THE_END = 99


@dataclass(frozen=True, slots=True)
class Turn:
    """One actor makes requests until `effects` of them changed something."""

    actor: str
    effects: int = TO_THE_END

    def __str__(self) -> str:
        return f"{self.actor} to the end" if self.effects == TO_THE_END else f"{self.actor} {self.effects}"


Turns = tuple[Turn, ...]
Play = Callable[[World], object]


@dataclass(frozen=True)
class Scene:
    """`past` is what Levee looked at last; `play` brings the actors to where they stand when it acts.

    `turns` are what may happen at one moment of the act: each is tried at every moment. `log_stores` are those that the
    connection declares.
    """

    name: str
    past: Play
    play: Play
    turns: tuple[Turns, ...]
    log_stores: tuple[str, ...] = (LOG_STORE,)

    def __str__(self) -> str:
        return self.name

    def begin(self, clock: Clock) -> World:
        """The past alone, with the clock a minute before the act."""
        world = World(clock)
        hours_ago(world, 1)
        self.past(world)
        clock.go(NOW - timedelta(minutes=1))
        return world

    def stage(self, clock: Clock) -> World:
        """The past and the writers, with the clock at the act."""
        world = self.begin(clock)
        self.play(world)
        clock.go(NOW)
        return world


def hours_ago(world: World, hours: float) -> None:
    """Go on that many hours before the act."""
    world.clock.go(NOW - timedelta(hours=hours))


def alone(actor: str, left: int) -> tuple[Turns, ...]:
    """The next one, two, three changes of an actor that has `left` of them, and all the rest."""
    return (*tuple((Turn(actor, effects),) for effects in range(1, min(left, 4))), (Turn(actor),))


def beside(turns: Iterable[Turns], *others: Turns) -> tuple[Turns, ...]:
    """The turns, and what others do in their place, after and before the first of them."""
    kept = tuple(turns)
    more = [made for other in others for made in (other, kept[0] + other, other + kept[0])]
    return tuple(dict.fromkeys((*kept, *more)))


def standing(*actors: tuple[str, Callable[[World], Program], int], looked: bool = False) -> Play:
    """Each actor has made that many changes; where it `looked`, what it saw before the next may be stale."""

    def play(world: World) -> None:
        for name, program, changes in actors:
            actor = world.start(name, program(world))
            actor.advance(changes)
            if looked:
                actor.look()

    return play


def after(*plays: Play) -> Play:
    """One play upon the other."""

    def play(world: World) -> None:
        for one in plays:
            one(world)

    return play


def died(program: Callable[[World], Program], changes: int, hours: float = 26) -> Play:
    """Somebody stopped for ever after that many changes, that many hours ago."""

    def play(world: World) -> None:
        hours_ago(world, hours)
        world.start(f"dead {len(world.actors)}", program(world)).advance(changes)
        world.actors.popitem()
        hours_ago(world, 1)

    return play


def lose(*keys: str) -> Play:
    """Objects are deleted by hand, or by a lifecycle rule."""

    def play(world: World) -> None:
        for key in keys:
            world.lake.delete(BUCKET, key)
            world.ledger.losses.append(f"{key} was deleted")

    return play


def breach(what: str, change: Play, stands: Callable[[MemoryLake], bool]) -> Play:
    """Somebody changes what only the protocol may change; `stands` tells whether the lake still shows it."""

    def play(world: World) -> None:
        change(world)
        world.ledger.breaches.append(Breach(what, stands))

    return play


def places(changes: Sequence[str]) -> Sequence[tuple[int, str]]:
    """Each number of changes that a writer can have made, and where it stands then."""
    names = ("before its first change", *(f"after {change}" for change in changes))
    return tuple(enumerate(names))
