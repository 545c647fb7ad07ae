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
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from coordinator.protocols.stores import LOG_STORE
from coordinator.protocols.wording import counted, joined, thousands

WINDOW = timedelta(days=1)
HEADROOM = 1.5
"""Commits come in bursts shorter than the minute they are counted in."""


@dataclass(frozen=True, slots=True)
class RequestCost:
    """One kind of request: units for each commit, or for each refresh by a reader where `of_reader`."""

    what: str
    reads: float
    writes: float
    of_reader: bool = False


LOG_STORE_COSTS = (
    RequestCost("Newest entry, before the commit and after it: 2 consistent queries", 2, 0),
    RequestCost("Entry of the version before: 1 consistent read", 1, 0),
    RequestCost("Entry, incomplete and then complete: 2 puts", 0, 2),
    RequestCost("Each refresh by a reader: 1 consistent query", 1, 0, of_reader=True),
)
COORDINATOR_COSTS = (
    RequestCost("Registration, before the commit and after it: 2 reads", 1, 0),
    RequestCost("Commit: 1 update", 0, 1),
    RequestCost("Backfill: 1 read, 1 update", 0.5, 1),
    RequestCost("Each refresh by a reader: 1 read", 0.5, 0, of_reader=True),
)


@dataclass(frozen=True, slots=True)
class CommitRate:
    """Commits as seen: how many in the last day, and how many in the busiest minute of it."""

    commits: int
    busiest_minute: int
    tables: int


@dataclass(frozen=True, slots=True)
class Provision:
    """What the table has, in units per second (0 and 0 on demand), and its throttles of the last day if known."""

    on_demand: bool
    read: int = 0
    write: int = 0
    throttled_reads: int | None = None
    throttled_writes: int | None = None
    peak_reads: float | None = None


@dataclass(frozen=True, slots=True)
class CapacityAdvice:
    """Needed units per second beside provisioned ones; None where no commit was seen."""

    needed_read: int | None
    needed_write: int | None
    commits_per_second_peak: float
    commits_last_day: int
    tables_seen: int
    rows: tuple[tuple[str, float, float], ...]
    provisioned_read: int
    provisioned_write: int
    on_demand: bool
    throttled_read: int | None
    throttled_write: int | None
    short_of: str
    sentence: str
    assumptions: tuple[str, ...]


def count_commits(moments: Sequence[datetime], tables: int, now: datetime) -> CommitRate:
    """Count commits of the last day; `moments` are of any age and in any order."""
    recent = [moment for moment in moments if now - WINDOW <= moment <= now]
    minutes: dict[int, int] = {}
    for moment in recent:
        minute = int(moment.timestamp() // 60)
        minutes[minute] = minutes.get(minute, 0) + 1
    return CommitRate(len(recent), max(minutes.values(), default=0), tables)


def advise(kind: str, observed: CommitRate, provision: Provision) -> CapacityAdvice:
    """Needed units for the busiest minute seen, with half as much again for bursts within it."""
    costs = LOG_STORE_COSTS if kind == LOG_STORE else COORDINATOR_COSTS
    rate = observed.busiest_minute / 60
    reads = _units(rate * sum(one.reads for one in costs if not one.of_reader))
    writes = _units(rate * sum(one.writes for one in costs if not one.of_reader))
    seen = observed.commits > 0
    short = _short_of(provision, reads if seen else 0, writes if seen else 0)
    return CapacityAdvice(
        needed_read=reads if seen else None,
        needed_write=writes if seen else None,
        commits_per_second_peak=rate,
        commits_last_day=observed.commits,
        tables_seen=observed.tables,
        rows=tuple((one.what, one.reads, one.writes) for one in costs),
        provisioned_read=provision.read,
        provisioned_write=provision.write,
        on_demand=provision.on_demand,
        throttled_read=provision.throttled_reads,
        throttled_write=provision.throttled_writes,
        short_of=short,
        sentence=_sentence(observed, provision, reads, writes, short),
        assumptions=_assumptions(kind, provision),
    )


def _units(per_second: float) -> int:
    return max(1, math.ceil(per_second * HEADROOM))


def _short_of(provision: Provision, reads: int, writes: int) -> str:
    if provision.on_demand:
        return ""
    short = []
    if reads > provision.read or provision.throttled_reads:
        short.append("reads")
    if writes > provision.write or provision.throttled_writes:
        short.append("writes")
    return joined(short)


def _sentence(observed: CommitRate, provision: Provision, reads: int, writes: int, short: str) -> str:
    throttles = _throttles(provision)
    if observed.commits == 0:
        return f"No commit of the last day was seen, so nothing is said of what it needs.{throttles}"
    tables = counted(observed.tables, "Delta table")
    need = (
        f"{counted(observed.commits, 'commit')} of {tables} in the last day, {thousands(observed.busiest_minute)} in "
        f"the busiest minute, need {thousands(reads)} read and {thousands(writes)} write units a second"
    )
    if provision.on_demand:
        return f"{need}; on demand gives them.{throttles}"
    has = f"; provisioned are {thousands(provision.read)} and {thousands(provision.write)}"
    if short:
        return f"{need}{has}: too few {short}. Provision more, or change to on demand.{throttles}"
    return f"{need}{has}, which is enough.{throttles}"


def _throttles(provision: Provision) -> str:
    reads, writes = provision.throttled_reads, provision.throttled_writes
    if reads is None or writes is None:
        return " Whether requests were throttled is not known: CloudWatch was not read."
    if not reads and not writes:
        return " No request was throttled."
    return f" {counted(reads, 'read')} and {counted(writes, 'write')} were throttled in the last day."


def _assumptions(kind: str, provision: Provision) -> tuple[str, ...]:
    per_refresh = "1 read unit" if kind == LOG_STORE else "half a read unit"
    return (
        f"Readers leave no trace in a log: each refresh of a table takes {per_refresh} besides.",
        "A commit that lost its race takes about as much as one that won, and is not counted.",
        f"The busiest minute is taken {HEADROOM:g} times, for bursts within it.",
        *(
            [f"CloudWatch saw up to {provision.peak_reads:,.1f} read units a second, readers included."]
            if provision.peak_reads
            else []
        ),
    )
