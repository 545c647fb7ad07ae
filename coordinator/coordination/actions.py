"""What an operator may do with a table's coordination. Pages and commands both call these."""

import hashlib
from collections.abc import Sequence
from typing import Unpack

from changes.asking import ShownPlan, WantedChange, ask_for
from changes.gate import NotConfirmed, permitted, require_name
from coordinator.coordination.bulk import CheckManyParams, ManyParams
from coordinator.coordination.checks import CoordinationRequest, Operation
from coordinator.coordination.confirmed import (
    CHECK_KIND,
    CHECK_MANY_KIND,
    KINDS,
    MANY,
    MANY_VERBS,
    REHEARSAL_KIND,
    VERBS,
    change_of,
    confirmed_plan,
    params_of,
    require_stated,
)
from coordinator.coordination.preflight import TITLES, title_of
from coordinator.models import DeltaTable
from dashboard.accounts.actor import Actor
from dashboard.connections.models import Connection
from dashboard.jobs.actions import JobBusy, Submission, Target, ask
from dashboard.jobs.models import Job
from lake.delta.uri import TableUri

ACT_KEY = "coordination"
REHEARSED = (Operation.ENABLE, Operation.DROP)


def check(actor: Actor, connection: Connection, change: CoordinationRequest, *, here: bool = False) -> Job:
    """Read the table anew and make every check of one act; changes nothing. Raises NotAllowed, JobBusy."""
    return _ask_about(actor, connection, change, CHECK_KIND, f"Check: {_lower(title_of(change))}", here=here)


def rehearse(actor: Actor, connection: Connection, change: CoordinationRequest, *, here: bool = False) -> Job:
    """Try an enable or a drop on a copy of the table's log, which is removed again.

    Raises NotAllowed, ChangeRefused, JobBusy, and ValueError for another act.
    """
    if change.operation not in REHEARSED:
        raise ValueError(f"{change.operation.value} cannot be rehearsed.")
    return _ask_about(actor, connection, change, REHEARSAL_KIND, f"Rehearse: {_lower(title_of(change))}", here=here)


def _ask_about(
    actor: Actor, connection: Connection, change: CoordinationRequest, kind: str, title: str, *, here: bool
) -> Job:
    target = _target(connection, change)
    return _only(actor, kind, title, here=here, connection=connection, target=target, params=params_of(change))


def _only(actor: Actor, kind: str, title: str, *, here: bool = False, **work: Unpack[Submission]) -> Job:
    """Raises JobBusy where the job under way is of another act, other tables or another store: this one has to wait."""
    job = ask(actor, kind, title, here=here, **work)
    if job.params != work["params"]:
        raise JobBusy(job)
    return job


def act(
    actor: Actor,
    checked: Job,
    digest: str,
    *,
    confirm: str = "",
    stated: bool = False,
    probe: bool = False,
    reason: str = "",
    here: bool = False,
) -> Job:
    """Do the act whose checks have this digest; the same checks confirmed twice are one job.

    `confirm` is the table's name as typed, `stated` the statement about the writers. Raises NotAllowed, ChangeRefused,
    and JobBusy while another such act on the table is under way. A refusal is in the audit log.
    """
    change, connection = change_of(checked.params), checked.connection
    if connection is None:
        raise NotConfirmed("The connection of this table has been removed: nothing can be done.")
    wanted = WantedChange(
        KINDS[change.operation],
        VERBS[change.operation],
        connection,
        _target(connection, change),
        TableUri.parse(change.uri).name,
        "",
        ACT_KEY,
        {**params_of(change), "stated": stated, "probe": probe},
    )

    def shown() -> ShownPlan:
        plan = confirmed_plan(checked, digest)
        require_stated(change.operation, stated=stated)
        return ShownPlan(checked, plan)

    job = ask_for(actor, wanted, shown, digest, confirm=confirm, reason=reason, here=here)
    if job.params.get("planned_by") != str(checked.pk):
        raise JobBusy(job)  # equal checks may have been confirmed with another choice, such as the probe
    return job


def act_on_many(
    actor: Actor,
    tables: Sequence[DeltaTable],
    operation: Operation,
    *,
    store: str = "",
    confirm: str = "",
    stated: bool = False,
    stop_at_first_failure: bool = False,
    once: str = "",
    reason: str = "",
    here: bool = False,
) -> Job:
    """Queue one act on many tables of one connection, or with `here` do it in this process: one outcome per table.

    `confirm` is `many_name(tables)` as typed. Raises NotAllowed, ChangeRefused, JobBusy, and ValueError for
    tables of several connections or for none.
    """
    connection, target = _only_connection(tables), Target("tables", "", many_name(tables))
    with permitted(actor, MANY_VERBS[operation], target, connection):
        require_stated(operation, stated=stated)
        require_name(confirm, many_name(tables), can_lose=False)
    ids = sorted(table.pk for table in tables)
    return _only(
        actor,
        MANY[operation],
        TITLES[operation].format(many_name(tables)),
        here=here,
        connection=connection,
        target=target,
        params=ManyParams(tables=ids, store=store, stop_at_first_failure=stop_at_first_failure),
        idempotency_key=f"{MANY[operation]}:{once}"[:128] if once else None,
        reason=reason,
    )


def check_many(actor: Actor, tables: Sequence[DeltaTable], operation: Operation, *, store: str = "") -> Job:
    """Have every check of one act made on many tables of one connection; changes nothing.

    Raises NotAllowed, JobBusy, and ValueError for tables of several connections or for none.
    """
    connection, ids = _only_connection(tables), sorted(table.pk for table in tables)
    params = CheckManyParams(tables=ids, store=store, stop_at_first_failure=False, operation=operation.value)
    title = f"Check: {_lower(TITLES[operation].format(many_name(tables)))}"
    target = Target("tables", "", many_name(tables))
    return _only(actor, CHECK_MANY_KIND, title, connection=connection, target=target, params=params)


def _only_connection(tables: Sequence[DeltaTable]) -> Connection:
    connections = {table.connection_id: table.connection for table in tables}
    if len(connections) != 1:
        raise ValueError("One job works on tables of exactly one connection.")
    return next(iter(connections.values()))


def many_name(tables: Sequence[DeltaTable]) -> str:
    """What is typed to confirm an act on many: how many they are."""
    return f"{len(tables)} table{'s' if len(tables) != 1 else ''}"


def _target(connection: Connection, change: CoordinationRequest) -> Target:
    """Where a job belongs: a known table by its row, a new one by its address."""
    uri = TableUri.parse(change.uri)
    table = DeltaTable.objects.filter(connection=connection, bucket=uri.bucket, prefix=uri.key).first()
    return Target("table", str(table.pk), change.uri) if table else Target("place", _short(change.uri), change.uri)


def _short(uri: str) -> str:
    """A place that has no row yet, short enough for a column."""
    return hashlib.sha256(uri.encode()).hexdigest()[:32]


def _lower(title: str) -> str:
    return f"{title[0].lower()}{title[1:]}"
