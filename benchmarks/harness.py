"""Runs contestants in alternating rounds in one process tree and prints a compact table.

Only ratios within one run mean anything: the machine is shared and another day is another machine.
"""

import gc
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

Work = Callable[[], object]
Laps = Mapping[str, Sequence[float]]
"""Wall seconds of each round by contestant, in the order in which they were named."""
ROUNDS = 5


def asked(name: str, usual: int) -> int:
    """The number that the variable LEVEE_BENCH_<name> sets, else the usual one."""
    return int(os.environ.get(f"LEVEE_BENCH_{name}", usual))


def compete(contestants: Mapping[str, Work], *, untimed: int = 0) -> Laps:
    """Run every contestant in every round, A B then B A; the first `untimed` rounds warm up and do not count.

    LEVEE_BENCH_ROUNDS sets another number of rounds. Raises AssertionError where their results differ.
    """
    laps: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(untimed + asked("ROUNDS", ROUNDS)):
        results = {}
        for name in list(contestants)[:: -1 if number % 2 else 1]:
            gc.collect()
            began = time.perf_counter()
            results[name] = contestants[name]()
            laps[name].append(time.perf_counter() - began)
        assert len(set(map(repr, results.values()))) == 1, f"the results differ: {results}"
    return {name: done[untimed:] for name, done in laps.items()}


def cpu_seconds(pid: int | None = None) -> float:
    """User and system seconds of a process, this one by default, and of all that it started, also what has ended."""
    fields: dict[int, list[str]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            fields[int(path.parent.name)] = path.read_text().rpartition(")")[2].split()
    own, started = 0, [pid or os.getpid()]
    while started:
        parent = started.pop()
        own += sum(map(int, fields[parent][11:15]))
        started += [pid for pid, one in fields.items() if int(one[1]) == parent]
    return own / os.sysconf("SC_CLK_TCK")


def tell(title: str, laps: Laps) -> None:
    """A line for each contestant."""
    print(f"\n{title}, {len(next(iter(laps.values())))} rounds (load {os.getloadavg()[0]:.1f})")
    print(f"{'':36} {'median s':>9} {'min':>8} {'max':>8}")
    for name, walls in laps.items():
        print(f"{name:36} {statistics.median(walls):9.3f} {min(walls):8.3f} {max(walls):8.3f}")


def ratio_line(laps: Laps, product: str, peer: str, *, at_most: float) -> None:
    """The product's median time in units of the peer's, and by pairs of one round."""
    each = sorted(one / other for one, other in zip(laps[product], laps[peer], strict=True))
    ratio = statistics.median(laps[product]) / statistics.median(laps[peer])
    verdict = "reached" if ratio <= at_most else "MISSED"
    print(
        f"{product} takes {ratio:.2f}x the time of {peer} (pairs {each[0]:.2f} to {each[-1]:.2f}), "
        f"target at most {at_most:.2f}x {verdict}"
    )
