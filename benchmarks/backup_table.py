"""What the benchmarks of backups print: medians with their extremes, memory, and one line for each target."""

from collections.abc import Mapping
from os import getloadavg

from benchmarks.harness import Contest


def tell(title: str, contest: Contest, peaks: Mapping[str, float]) -> None:
    """A line for each contestant, with the most resident MB of its processes where `peaks` knows it."""
    print(f"\n{title} (load {getloadavg()[0]:.1f})")
    print(f"{'':36} {'median s':>9} {'min':>8} {'max':>8} {'RSS MB':>8}")
    for name, laps in contest.laps.items():
        walls = [lap.wall for lap in laps]
        memory = f"{peaks[name]:8.0f}" if name in peaks else ""
        print(f"{name:36} {contest.wall(name):9.2f} {min(walls):8.2f} {max(walls):8.2f} {memory}")


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


def memory_line(product: str, megabytes: float, at_most: float) -> None:
    verdict = "reached" if megabytes <= at_most else "MISSED"
    print(f"{product} holds {megabytes:,.0f} MB at most, target at most {at_most:,.0f} MB {verdict}")
