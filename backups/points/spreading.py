"""Many tables are proven by Spark, few by who asks for it."""

import time
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import closing

from backups.runs.ports import Pipeline, ProofWanted
from lake.points.proven import ProvenTable

SPREAD_FROM = 200
"""Of fewer tables Spark would take longer to begin than they take."""
SPREAD_AT_ONCE = 400
"""Tables in one job of Spark."""
AT_ONCE, AT_LEAST_EVERY = 200, 5.0
"""Tables that are handed on together, and after how many seconds fewer are."""


def are_many(roots: Sequence[str]) -> bool:
    return len(roots) >= SPREAD_FROM


def proven_tables(
    roots: Sequence[str],
    here: Callable[[Sequence[str]], Generator[ProvenTable, None, None]],
    pipeline: Pipeline | None,
    wanted: ProofWanted,
    ahead: Collection[str] = (),
) -> Generator[Sequence[ProvenTable], None, None]:
    """The tables of these roots, some at a time: by `here` if they are few or there is no pipeline, or it left them;
    in any case those that are `ahead` of their logs, as commit stores are asked by `here` alone."""
    left = list(roots)
    if pipeline and are_many(roots):
        left, spread = [root for root in roots if root in ahead], [root for root in roots if root not in ahead]
        for first in range(0, len(spread), SPREAD_AT_ONCE):
            proven = pipeline.prove(wanted, spread[first : first + SPREAD_AT_ONCE])
            yield proven.tables
            left += proven.left
    if left:
        with closing(here(left)) as tables:
            yield from _batches(tables)


def _batches(tables: Iterable[ProvenTable]) -> Generator[Sequence[ProvenTable], None, None]:
    batch, since = list[ProvenTable](), time.monotonic()
    for table in tables:
        batch.append(table)
        if len(batch) == AT_ONCE or time.monotonic() - since > AT_LEAST_EVERY:
            yield batch
            batch, since = [], time.monotonic()
    if batch:
        yield batch
