"""From a wish to its plan: read what it rests on, then plan. The same for a page and for the worker that applies it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from changes.plan import Plan, Refusal
from coordinator.upkeep.lifecycle_plans import plan_lifecycle
from coordinator.upkeep.reading import account_of, read_bucket, read_store
from coordinator.upkeep.store_plans import plan_store
from coordinator.upkeep.sweep_plans import plan_sweep
from coordinator.upkeep.wishes import RemoveTempRule, SetMultipartRule, SetTempRule, Sweep, Wish
from dashboard.connections.models import Connection
from lake.aws.access import Lake


def plan_now(
    connection: Connection,
    lake: Lake,
    wish: Wish,
    now: datetime,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Plan | Refusal:
    """Read and plan; nothing is changed. Raises AwsError where the store or bucket cannot be read at all."""
    if isinstance(wish, Sweep):
        return plan_sweep(wish, connection, lake, now, progress)
    if isinstance(wish, SetTempRule | RemoveTempRule | SetMultipartRule):
        prefix = wish.prefix if isinstance(wish, SetTempRule) else ""
        facts = read_bucket(connection, lake, wish.bucket, prefix)
        return plan_lifecycle(wish, facts, now)
    store = read_store(connection, lake, wish.name, now)
    if store.description is None and not store.account:
        store = replace(store, account=account_of(lake))
    return plan_store(wish, store)
