"""Runs contestants in alternating rounds in one process tree and prints a compact table.

Only ratios within one run mean anything: the machine is shared and another day is another machine.
"""

import gc
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Work = Callable[[], object]
ROUNDS = 5


@dataclass(frozen=True)
class Lap:
    """One contestant's one round in wall seconds, and its result."""

    wall: float
    result: object


@dataclass(frozen=True)
class Contest:
    """All laps by contestant, in the order in which they were named."""

    laps: Mapping[str, Sequence[Lap]]

    def wall(self, name: str) -> float:
        """Median wall seconds."""
        return statistics.median(lap.wall for lap in self.laps[name])


def asked(name: str, usual: int) -> int:
    """The number that the variable LEVEE_BENCH_<name> sets, else the usual one."""
    return int(os.environ.get(f"LEVEE_BENCH_{name}", usual))


def compete(contestants: Mapping[str, Work], *, rounds: int = ROUNDS, untimed: int = 0) -> Contest:
    """Run every contestant in every round, A B then B A; the first `untimed` rounds warm up and do not count.

    Raises AssertionError where their results differ.
    """
    laps: dict[str, list[Lap]] = {name: [] for name in contestants}
    for number in range(untimed + rounds):
        order = sorted(contestants, key=list(contestants).index, reverse=number % 2 == 1)
        for name in order:
            laps[name].append(_run_lap(contestants[name]))
        results = {name: laps[name][-1].result for name in contestants}
        assert len(set(map(repr, results.values()))) == 1, f"the results differ: {results}"
    return Contest({name: done[untimed:] for name, done in laps.items()})


def _run_lap(work: Work) -> Lap:
    """Time one call of `work`, garbage of earlier laps collected first."""
    gc.collect()
    began = time.perf_counter()
    result = work()
    return Lap(time.perf_counter() - began, result)


def tell(title: str, contest: Contest) -> None:
    """A line for each contestant."""
    print(f"\n{title}, {len(next(iter(contest.laps.values())))} rounds (load {os.getloadavg()[0]:.1f})")
    print(f"{'':36} {'median s':>9} {'min':>8} {'max':>8}")
    for name, laps in contest.laps.items():
        walls = [lap.wall for lap in laps]
        print(f"{name:36} {contest.wall(name):9.3f} {min(walls):8.3f} {max(walls):8.3f}")


def ratio_line(contest: Contest, product: str, peer: str, *, at_most: float) -> None:
    """The product's median time in units of the peer's, and by pairs of one round."""
    pairs = zip(contest.laps[product], contest.laps[peer], strict=True)
    each = sorted(one.wall / other.wall for one, other in pairs)
    ratio = contest.wall(product) / contest.wall(peer)
    verdict = "reached" if ratio <= at_most else "MISSED"
    print(
        f"{product} takes {ratio:.2f}x the time of {peer} (pairs {each[0]:.2f} to {each[-1]:.2f}), "
        f"target at most {at_most:.2f}x {verdict}"
    )
