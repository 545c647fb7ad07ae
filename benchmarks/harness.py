"""Runs contestants in alternating rounds in one process tree and prints a compact table.

Only ratios within one run mean anything: the machine is shared and another day is another machine.
"""

import gc
import resource
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Work = Callable[[], object]
ROUNDS = 5


@dataclass(frozen=True)
class Lap:
    """One contestant's one round: wall and CPU seconds of this process, all its threads and ended children included."""

    wall: float
    cpu: float
    result: object


@dataclass(frozen=True)
class Contest:
    """All laps by contestant, in the order in which they were named."""

    laps: Mapping[str, Sequence[Lap]]

    def wall(self, name: str) -> float:
        """Median wall seconds."""
        return statistics.median(lap.wall for lap in self.laps[name])

    def cpu(self, name: str) -> float:
        """Median CPU seconds."""
        return statistics.median(lap.cpu for lap in self.laps[name])

    def ratio(self, product: str, peer: str) -> float:
        """How many times faster the product is than the peer: the peer's median wall over the product's."""
        return self.wall(peer) / self.wall(product)


def compete(contestants: Mapping[str, Work], *, rounds: int = ROUNDS) -> Contest:
    """Run every contestant in every round, A B then B A. Raises AssertionError where their results differ."""
    laps: dict[str, list[Lap]] = {name: [] for name in contestants}
    for number in range(rounds):
        order = sorted(contestants, key=list(contestants).index, reverse=number % 2 == 1)
        for name in order:
            laps[name].append(run_lap(contestants[name]))
        results = {name: laps[name][-1].result for name in contestants}
        assert len(set(map(repr, results.values()))) == 1, f"the results differ: {results}"
    return Contest(laps)


def run_lap(work: Work) -> Lap:
    """Time one call of `work`, garbage of earlier laps collected first."""
    gc.collect()
    wall, cpu = time.perf_counter(), _cpu_seconds()
    result = work()
    return Lap(time.perf_counter() - wall, _cpu_seconds() - cpu, result)


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def print_table(title: str, contest: Contest, *, product: str, target: float) -> None:
    """Medians, extremes, CPU and the ratio of each contestant to the product, and whether the target was reached."""
    print(f"\n{title}")
    print(f"{'':28} {'median s':>9} {'min':>8} {'max':>8} {'CPU s':>8} {'ratio':>7}")
    for name, laps in contest.laps.items():
        walls = [lap.wall for lap in laps]
        ratio = contest.ratio(product, name)
        print(
            f"{name:28} {contest.wall(name):9.3f} {min(walls):8.3f} {max(walls):8.3f} "
            f"{contest.cpu(name):8.3f} {ratio:6.2f}x"
        )
    for name in contest.laps:
        if name != product:
            reached = contest.ratio(product, name)
            verdict = "reached" if reached >= target else "MISSED"
            rounds = len(contest.laps[name])
            print(f"{product} against {name}: {reached:.2f}x in {rounds} rounds, target {target:g}x {verdict}")
