"""From a change to its plan: read what it rests on, then plan. The same for a page and the worker that applies it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from changes.plan import ChangePlan, Refusal
from coordinator.settings.lifecycle_plans import plan_lifecycle
from coordinator.settings.reading import account_of, read_bucket, read_store
from coordinator.settings.requests import ChangeRequest, RemoveTempRule, SetMultipartRule, SetTempRule, Sweep
from coordinator.settings.store_plans import plan_store
from coordinator.settings.sweep_plans import plan_sweep
from dashboard.connections.models import Connection
from lake.aws.access import Lake


def plan_now(
    connection: Connection,
    lake: Lake,
    change: ChangeRequest,
    now: datetime,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> ChangePlan | Refusal:
    """Read and plan; nothing is changed. Raises AwsError where the store or bucket cannot be read at all."""
    if isinstance(change, Sweep):
        return plan_sweep(change, connection, lake, now, progress)
    if isinstance(change, SetTempRule | RemoveTempRule | SetMultipartRule):
        prefix = change.prefix if isinstance(change, SetTempRule) else ""
        facts = read_bucket(connection, lake, change.bucket, prefix)
        return plan_lifecycle(change, facts, now)
    store = read_store(connection, lake, change.name, now)
    if store.description is None and not store.account:
        store = replace(store, account=account_of(lake))
    return plan_store(change, store)
