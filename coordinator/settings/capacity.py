"""How many capacity units a commit store needs for the commits that were seen, and whether it has them.

Units: a strongly consistent read of up to 4 KB is 1 read unit, an eventually consistent one half of it; a write of up
to 1 KB is 1 write unit (DynamoDB's documentation). An entry of a log store has about 300 bytes, a registration less
than 1 KB while few commits wait in it.

Requests, as read in `BaseExternalLogStore` and in the coordinator's client of Delta 4.4.0. Log store: a commit reads
the entry before it and puts its own twice, and each listing of the log asks for the newest entry; a writer lists once
before its commit and once after. Coordinator: a commit updates the registration, reads it to backfill and clears the
list; each refresh of a table reads it once, and a writer refreshes before and after. All its reads are eventually
consistent.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from coordinator.protocols.stores import LOG_STORE
from coordinator.protocols.wording import counted, joined, thousands

WINDOW = timedelta(days=1)
HEADROOM = 1.5
"""Commits come in bursts shorter than the minute they are counted in."""


Cost = tuple[str, float, float]
"""One kind of request, with its read and write units."""

LOG_STORE_COSTS: tuple[Cost, ...] = (
    ("Newest entry, before the commit and after it: 2 consistent queries", 2, 0),
    ("Entry of the version before: 1 consistent read", 1, 0),
    ("Entry, incomplete and then complete: 2 puts", 0, 2),
    ("Each refresh by a reader: 1 consistent query", 1, 0),
)
COORDINATOR_COSTS: tuple[Cost, ...] = (
    ("Registration, before the commit and after it: 2 reads", 1, 0),
    ("Commit: 1 update", 0, 1),
    ("Backfill: 1 read, 1 update", 0.5, 1),
    ("Each refresh by a reader: 1 read", 0.5, 0),
)
"""Of each commit; the last of them is of a reader."""


@dataclass(frozen=True, slots=True)
class CapacityAdvice:
    """Needed units per second beside provisioned ones; None where no commit was seen."""

    needed_read: int | None
    needed_write: int | None
    commits_per_second_peak: float
    commits_last_day: int
    tables_seen: int
    rows: tuple[Cost, ...]
    provisioned_read: int
    provisioned_write: int
    on_demand: bool
    throttled_read: int | None
    throttled_write: int | None
    short_of: str
    sentence: str
    assumptions: tuple[str, ...]


def advise(kind: str, commits: int, busiest_minute: int, tables: int, facts: Mapping[str, Any]) -> CapacityAdvice:
    """Needed units for the busiest minute of the last day, with half as much again for bursts within it.

    `facts` are the store's settings as last read, and its load of the last day, where CloudWatch was read.
    """
    costs = LOG_STORE_COSTS if kind == LOG_STORE else COORDINATOR_COSTS
    rate = busiest_minute / 60
    load = facts.get("load") or {}
    advice = CapacityAdvice(
        needed_read=_units(rate * sum(reads for _, reads, _ in costs[:-1])) if commits else None,
        needed_write=_units(rate * sum(writes for _, _, writes in costs[:-1])) if commits else None,
        commits_per_second_peak=rate,
        commits_last_day=commits,
        tables_seen=tables,
        rows=costs,
        provisioned_read=facts.get("read_capacity") or 0,
        provisioned_write=facts.get("write_capacity") or 0,
        on_demand=facts.get("billing") == "on_demand",
        throttled_read=load.get("read_throttles"),
        throttled_write=load.get("write_throttles"),
        short_of="",
        sentence="",
        assumptions=_assumptions(kind, load.get("peak_reads")),
    )
    advice = replace(advice, short_of=_short_of(advice))
    return replace(advice, sentence=_sentence(advice, busiest_minute))


def _units(per_second: float) -> int:
    return max(1, math.ceil(per_second * HEADROOM))


def _short_of(advice: CapacityAdvice) -> str:
    if advice.on_demand:
        return ""
    short = []
    if (advice.needed_read or 0) > advice.provisioned_read or advice.throttled_read:
        short.append("reads")
    if (advice.needed_write or 0) > advice.provisioned_write or advice.throttled_write:
        short.append("writes")
    return joined(short)


def _sentence(advice: CapacityAdvice, busiest_minute: int) -> str:
    throttles = _throttles(advice)
    if advice.needed_read is None or advice.needed_write is None:
        return f"No commit of the last day was seen, so nothing is said of what it needs.{throttles}"
    tables = counted(advice.tables_seen, "Delta table")
    need = (
        f"{counted(advice.commits_last_day, 'commit')} of {tables} in the last day, {thousands(busiest_minute)} in "
        f"the busiest minute, need {thousands(advice.needed_read)} read and {thousands(advice.needed_write)} write "
        "units a second"
    )
    if advice.on_demand:
        return f"{need}; on demand gives them.{throttles}"
    has = f"; provisioned are {thousands(advice.provisioned_read)} and {thousands(advice.provisioned_write)}"
    if advice.short_of:
        return f"{need}{has}: too few {advice.short_of}. Provision more, or change to on demand.{throttles}"
    return f"{need}{has}, which is enough.{throttles}"


def _throttles(advice: CapacityAdvice) -> str:
    reads, writes = advice.throttled_read, advice.throttled_write
    if reads is None or writes is None:
        return " Whether requests were throttled is not known: CloudWatch was not read."
    if not reads and not writes:
        return " No request was throttled."
    return f" {counted(reads, 'read')} and {counted(writes, 'write')} were throttled in the last day."


def _assumptions(kind: str, peak_reads: float | None) -> tuple[str, ...]:
    per_refresh = "1 read unit" if kind == LOG_STORE else "half a read unit"
    seen = f"CloudWatch saw up to {peak_reads:,.1f} read units a second, readers included." if peak_reads else ""
    return (
        f"Readers leave no trace in a log: each refresh of a table takes {per_refresh} besides.",
        "A commit that lost its race takes about as much as one that won, and is not counted.",
        f"The busiest minute is taken {HEADROOM:g} times, for bursts within it.",
        *([seen] if seen else []),
    )
