"""From a wish to its plan: read what it rests on, then plan. The same for a page and for the worker that applies it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from coordinator.upkeep.lifecycle_plans import plan_lifecycle
from coordinator.upkeep.plan import Refusal, UpkeepPlan
from coordinator.upkeep.reading import account_of, read_bucket, read_store
from coordinator.upkeep.store_plans import plan_store
from coordinator.upkeep.sweep_plans import plan_sweep
from coordinator.upkeep.wishes import RemoveTempRule, SetMultipartRule, SetTempRule, Sweep, Wish
from dashboard.connections.models import Connection
from lake.aws.access import Lake


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan or its refusal, and the account that must own the bucket, "" where that does not matter."""

    made: UpkeepPlan | Refusal
    owner: str = ""


def plan_now(
    connection: Connection,
    lake: Lake,
    wish: Wish,
    now: datetime,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Planned:
    """Read and plan; nothing is changed. Raises AwsError where the store or bucket cannot be read at all."""
    if isinstance(wish, Sweep):
        return Planned(plan_sweep(wish, connection, lake, now, progress))
    if isinstance(wish, SetTempRule | RemoveTempRule | SetMultipartRule):
        prefix = wish.prefix if isinstance(wish, SetTempRule) else ""
        facts = read_bucket(connection, lake, wish.bucket, prefix)
        return Planned(plan_lifecycle(wish, facts, now), facts.account if facts.owned else "")
    store = read_store(connection, lake, wish.name, now)
    if store.description is None and not store.account:
        store = replace(store, account=account_of(lake))
    return Planned(plan_store(wish, store))
