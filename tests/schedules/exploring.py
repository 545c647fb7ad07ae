"""Schedules: an act of Levee's, and what others do before each of its requests and after the last one."""

import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from coordinator.coordination import carrying_out
from lake.aws import access
from tests.choosing import seed
from tests.schedules.clock import Clock
from tests.schedules.console import Console, taken_back
from tests.schedules.gate import Gate, Killed, opened
from tests.schedules.scenes import Scene, Turn, Turns
from tests.schedules.spark import ModelSpark
from tests.schedules.world import World

FEW, ALL = 5, sys.maxsize
"""How many schedules of each scene and act are played: by `make test`, which draws them, and by `make test-all`."""
MOST_SHOWN = 12
END: Turns = (Turn("the end of Levee's process"),)
"""Nobody acts, and the process that was sending requests ends."""
UNANSWERED: Turns = (Turn("the loss of its answer"),)
"""Nobody acts; the request is carried out, and its answer does not come."""
INTERRUPTIONS = (END, UNANSWERED)


@dataclass(frozen=True, slots=True)
class Schedule:
    """`turns` happen before the act's request of that number, counted from 0; after the last one where it has none."""

    scene: Scene
    act: str
    position: int
    turns: Turns

    def __str__(self) -> str:
        turns = self.turns[0].actor if self.turns in (END, UNANSWERED) else ", ".join(map(str, self.turns))
        return f"{self.scene.name}: {self.act}, before request {self.position}: {turns}"


@dataclass
class Stage:
    """What one schedule is played on."""

    world: World
    gate: Gate
    clock: Clock
    console: Console
    wrongs: list[str] = field(default_factory=list)

    def take(self, turns: Turns) -> None:
        for turn in turns:
            self.world.actors[turn.actor].advance(turn.effects)

    def expect(self, holds: bool, sentence: str) -> None:
        if not holds:
            self.wrongs.append(sentence)


Act = Callable[[Stage], object]
Judge = Callable[[Stage], object]


class Theatre:
    """Plays schedules one after the other, each from the same beginning.

    It plays `most` of each scene and act, or the one that is called `only`; to the turns of others `interruptions` of
    Levee itself are added.
    """

    def __init__(
        self, clock: Clock, monkeypatch: pytest.MonkeyPatch, most: int, interruptions: tuple[Turns, ...]
    ) -> None:
        self._clock = clock
        self._patch = monkeypatch
        self._most = most
        self._interruptions = interruptions
        self.only = ""
        self.played = 0

    @contextmanager
    def scene(self, scene: Scene, *, known: bool = True) -> Iterator["Stage"]:
        """The scene set; where the table is `known`, Levee has looked at its past. All is taken back at the end."""
        with taken_back():
            self._open(scene.begin(self._clock))
            self._console = Console(scene.log_stores)
            if known:
                self._console.look()
            yield self._stage(scene)

    def explore(self, scene: Scene, name: str, act: Act, judge: Judge) -> Iterator[str]:
        """Play the schedules of an act in the scene that is set; yields a sentence for each that ended wrong.

        `act` is done with the turns in its midst, `judge` looks at what came of it.
        """
        for schedule in self._chosen([*self._schedules(scene, name, act)]):
            self.played += 1
            wrongs = self._play(schedule, act, judge)
            yield from (f"{schedule} ({wrongs.where}): {wrong}" for wrong in wrongs.sentences)

    def _chosen(self, schedules: Sequence[Schedule]) -> Sequence[Schedule]:
        if self.only:
            return [schedule for schedule in schedules if str(schedule) == self.only]
        return schedules if len(schedules) <= self._most else drawn(schedules, self._most)

    def _schedules(self, scene: Scene, name: str, act: Act) -> Iterator[Schedule]:
        """Each turn at each request; the act is done once undisturbed to count them."""
        with taken_back():
            stage = self._stage(scene)
            act(stage)
            requests = len(stage.gate.operations)
        for position in range(requests + 1):
            for turns in (*scene.turns, *self._interruptions):
                yield Schedule(scene, name, position, turns)

    def _play(self, schedule: Schedule, act: Act, judge: Judge) -> "Wrongs":
        with taken_back():
            stage = self._stage(schedule.scene)
            taken: list[str] = []

            def take() -> None:
                taken.append("taken")
                if schedule.turns == END:
                    raise Killed
                if schedule.turns == UNANSWERED:
                    stage.gate.unanswered = schedule.position
                else:
                    stage.take(schedule.turns)

            stage.gate.acts[schedule.position] = take
            with suppress(Killed):
                act(stage)
            asked = list(stage.gate.operations)
            stage.gate.acts.clear()
            stage.gate.unanswered = None
            if not taken:
                with suppress(Killed):
                    take()
            judge(stage)
            where = asked[schedule.position] if schedule.position < len(asked) else "the end"
            return Wrongs(where, [*stage.gate.wrongs, *stage.wrongs])

    def _stage(self, scene: Scene) -> Stage:
        world = scene.stage(self._clock)
        return Stage(world, self._open(world), self._clock, self._console)

    def _open(self, world: World) -> Gate:
        gate = Gate(world, self._clock)
        self._patch.setattr(access, "Transport", opened(gate))
        self._patch.setattr(carrying_out, "spark", ModelSpark(gate))
        return gate


@dataclass(frozen=True, slots=True)
class Wrongs:
    """What went wrong in one schedule, and the request before which others acted."""

    where: str
    sentences: Sequence[str]


def drawn(schedules: Sequence[Schedule], most: int) -> Sequence[Schedule]:
    """As many of them as asked for: the same ones wherever the seed is the same."""
    return random.Random(f"{seed()} {schedules[0]}").sample(schedules, most)


def told(found: Iterable[str]) -> str:
    """What is wrong, the first of them word for word; "" for nothing."""
    wrongs = list(found)
    shown = "\n".join(wrongs[:MOST_SHOWN])
    return f"{len(wrongs)} wrong:\n{shown}" if wrongs else ""


def later(clock: Clock, minutes: int = 1) -> None:
    clock.let_pass(timedelta(minutes=minutes))
