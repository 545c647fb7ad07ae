"""What an operator may do with a table's coordination. Pages and commands both call these."""

import hashlib
from collections.abc import Sequence

from changes.gate import permitted, read_at
from coordinator.coordination.checks import Operation
from coordinator.coordination.confirmed import CHECK_KIND, confirmed_checks
from coordinator.coordination.gate import ConfirmationNeeded, require_confirmed
from coordinator.coordination.jobs import KINDS, MANY, VERBS, change_of, params_of
from coordinator.coordination.reading import CoordinationRequest
from coordinator.models import DeltaTable
from dashboard.accounts.actor import Actor
from dashboard.connections.models import Connection
from dashboard.jobs.actions import JobBusy, Target, ask
from dashboard.jobs.models import Job
from lake.delta.uri import TableUri

TITLES = {
    Operation.ENABLE: "Enable coordinated commits on {}",
    Operation.DROP: "Drop coordinated commits on {}",
    Operation.CREATE: "Create the coordinated table {}",
    Operation.LEFTOVERS: "Remove what a drop left behind on {}",
}


def check(actor: Actor, connection: Connection, change: CoordinationRequest, *, here: bool = False) -> Job:
    """Read the table anew and make every check of one act; changes nothing. Raises NotAllowed, JobBusy."""
    target, params = _target(connection, change), params_of(change)
    job = ask(actor, CHECK_KIND, _checking(change), here=here, connection=connection, target=target, params=params)
    if change_of(job.params) != change:
        raise JobBusy(job)  # the check under way is of another act, store or schema: this one has to wait
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
        raise ConfirmationNeeded("The connection of this table has been removed: nothing can be done.")
    target = _target(connection, change)
    with permitted(actor, VERBS[change.operation], target, connection):
        found = confirmed_checks(checked, change, digest)
        require_confirmed(change.operation, TableUri.parse(change.uri).name, typed=confirm, stated=stated)
    at = read_at(checked)
    params = params_of(
        change,
        shown=found["checks"],
        checked_by=str(checked.pk),
        checked_at=at.isoformat() if at else "",
        stated=stated,
        confirm=confirm.strip(),
        confirmed_by=actor.name,
        probe=probe,
    )
    job = ask(
        actor,
        KINDS[change.operation],
        _title(change),
        here=here,
        connection=connection,
        target=target,
        params=params,
        idempotency_key=act_key(checked),
        reason=reason,
    )
    if job.params.get("checked_by") != str(checked.pk):
        raise JobBusy(job)
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

    `confirm` is `many_name(tables)` as typed, for a drop. Raises NotAllowed, ChangeRefused, JobBusy, and ValueError for
    tables of several connections or for none.
    """
    connections = {table.connection_id: table.connection for table in tables}
    if len(connections) != 1:
        raise ValueError("One job works on tables of exactly one connection.")
    connection = next(iter(connections.values()))
    target = Target("tables", "", many_name(tables))
    with permitted(actor, VERBS[operation], target, connection):
        require_confirmed(operation, many_name(tables), typed=confirm, stated=stated)
    ids = sorted(table.pk for table in tables)
    job = ask(
        actor,
        MANY[operation],
        TITLES[operation].format(many_name(tables)),
        here=here,
        connection=connection,
        target=target,
        params={"tables": ids, "store": store, "stop_at_first_failure": stop_at_first_failure},
        idempotency_key=f"{MANY[operation]}:{once}"[:128] if once else None,
        reason=reason,
    )
    if (job.params["tables"], job.params["store"]) != (ids, store):
        raise JobBusy(job)
    return job


def many_name(tables: Sequence[DeltaTable]) -> str:
    """What is typed to confirm a drop of many: how many they are."""
    return f"{len(tables)} table{'s' if len(tables) != 1 else ''}"


def act_key(checked: Job) -> str:
    """Names the one act that these checks may lead to: a second click finds the first job."""
    return f"coordination:{checked.pk}"


def _target(connection: Connection, change: CoordinationRequest) -> Target:
    """Where a job belongs: a known table by its row, a new one by its address."""
    uri = TableUri.parse(change.uri)
    table = DeltaTable.objects.filter(connection=connection, bucket=uri.bucket, prefix=uri.key).first()
    return Target("table", str(table.pk), change.uri) if table else Target("place", _short(change.uri), change.uri)


def _short(uri: str) -> str:
    """A place that has no row yet, short enough for a column."""
    return hashlib.sha256(uri.encode()).hexdigest()[:32]


def _checking(change: CoordinationRequest) -> str:
    return f"Check: {_title(change)[0].lower()}{_title(change)[1:]}"


def _title(change: CoordinationRequest) -> str:
    return TITLES[change.operation].format(TableUri.parse(change.uri).name)
