"""Many tables are proven by Spark, few by who asks for it."""

from collections.abc import Callable, Generator, Sequence

from backups.runs.ports import Pipeline, ProofWanted
from lake.points.proven import ProvenTable

SPREAD_FROM = 200
"""Of fewer tables Spark would take longer to begin than they take."""
SPREAD_AT_ONCE = 1_000
"""Tables in one job of Spark: what was proven is stored after each."""


def are_many(roots: Sequence[str]) -> bool:
    return len(roots) >= SPREAD_FROM


def proven_tables(
    roots: Sequence[str],
    here: Callable[[Sequence[str]], Generator[ProvenTable, None, None]],
    pipeline: Pipeline,
    wanted: ProofWanted,
) -> Generator[ProvenTable, None, None]:
    """The tables of these roots, by `here` where they are few, and where the pipeline has left them."""
    left = list(roots)
    if are_many(roots):
        left = []
        for first in range(0, len(roots), SPREAD_AT_ONCE):
            proven = pipeline.prove(wanted, roots[first : first + SPREAD_AT_ONCE])
            yield from proven.tables
            left += proven.left
    yield from here(left)
