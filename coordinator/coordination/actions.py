"""What an operator may do with a table's coordination. Pages and commands both call these."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from coordinator.coordination.checks import Operation
from coordinator.coordination.confirmed import CHECK_KIND, confirmed_checks, read_at
from coordinator.coordination.gate import ConfirmationNeeded, require_confirmed, require_writable
from coordinator.coordination.jobs import KINDS, MANY, VERBS, params_of, wish_of
from coordinator.coordination.reading import Wish
from coordinator.models import DeltaTable
from coordinator.repairs.gate import RepairRefused
from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import require
from dashboard.audit.log import record
from dashboard.connections.models import Connection
from dashboard.jobs.actions import JobBusy, Target, run_in_foreground, submit
from dashboard.jobs.models import Job
from lake.delta.uri import TableUri

TITLES = {
    Operation.ENABLE: "Enable coordinated commits on {}",
    Operation.DROP: "Drop coordinated commits on {}",
    Operation.CREATE: "Create the coordinated table {}",
    Operation.LEFTOVERS: "Remove what a drop left behind on {}",
}


def check(actor: Actor, connection: Connection, wish: Wish) -> Job:
    """Queue a fresh reading that makes every check of one act; changes nothing. Raises NotAllowed."""
    return _same_wish(
        wish, submit(actor, CHECK_KIND, _checking(wish), **_work(connection, wish), params=params_of(wish))
    )


def check_now(actor: Actor, connection: Connection, wish: Wish) -> Job:
    """Check in this process and return the finished job. Raises NotAllowed, JobBusy."""
    work = _work(connection, wish)
    return run_in_foreground(actor, CHECK_KIND, _checking(wish), **work, params=params_of(wish))


def act(
    actor: Actor,
    checked: Job,
    digest: str,
    *,
    confirm: str = "",
    stated: bool = False,
    probe: bool = False,
    reason: str = "",
) -> Job:
    """Queue the act whose checks have this digest; the same checks confirmed twice are one job.

    `confirm` is the table's name as typed, `stated` the statement about the writers. Raises NotAllowed, RepairRefused,
    and JobBusy while another such act on the table is under way. A refusal is in the audit log.
    """
    job = submit(actor, **_permitted(actor, checked, digest, confirm, stated, probe), reason=reason)
    if job.params.get("checked_by") != str(checked.pk):
        raise JobBusy(job)
    return job


def act_now(
    actor: Actor,
    checked: Job,
    digest: str,
    *,
    confirm: str = "",
    stated: bool = False,
    probe: bool = False,
    reason: str = "",
) -> Job:
    """Act in this process and return the finished job. Raises what `act` raises."""
    return run_in_foreground(actor, **_permitted(actor, checked, digest, confirm, stated, probe), reason=reason)


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

    `confirm` is `many_name(tables)` as typed, for a drop. Raises NotAllowed, RepairRefused, JobBusy, and ValueError for
    tables of several connections or for none.
    """
    connections = {table.connection_id: table.connection for table in tables}
    if len(connections) != 1:
        raise ValueError("One job works on tables of exactly one connection.")
    connection = next(iter(connections.values()))
    target = Target("tables", "", many_name(tables))
    require(actor, VERBS[operation], target.label, connection)

    def gate() -> None:
        require_writable(connection)
        require_confirmed(operation, many_name(tables), typed=confirm, stated=stated)

    _refusing(actor, operation, target, gate)
    ids = sorted(table.pk for table in tables)
    make = run_in_foreground if here else submit
    job = make(
        actor,
        MANY[operation],
        TITLES[operation].format(many_name(tables)),
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


def _permitted(actor: Actor, checked: Job, digest: str, confirm: str, stated: bool, probe: bool) -> dict[str, Any]:
    """The job that these checks lead to, if this actor may have it done in this deployment."""
    wish = wish_of(checked.params)
    connection = checked.connection
    require(actor, VERBS[wish.operation], wish.uri, connection)
    if connection is None:
        raise ConfirmationNeeded("The connection of this table has been removed: nothing can be done.")
    found: dict[str, Any] = {}

    def gate() -> None:
        require_writable(connection)
        found.update(confirmed_checks(checked, wish, digest))
        require_confirmed(wish.operation, TableUri.parse(wish.uri).name, typed=confirm, stated=stated)

    _refusing(actor, wish.operation, _work(connection, wish)["target"], gate)
    at = read_at(checked)
    params = params_of(
        wish,
        shown=found["checks"],
        checked_by=str(checked.pk),
        checked_at=at.isoformat() if at else "",
        stated=stated,
        confirm=confirm.strip(),
        confirmed_by=actor.name,
        probe=probe,
    )
    return {
        "kind": KINDS[wish.operation],
        "title": _title(wish),
        **_work(connection, wish),
        "params": params,
        "idempotency_key": act_key(checked),
    }


def _refusing(actor: Actor, operation: Operation, target: Target, gate: Callable[[], None]) -> None:
    try:
        gate()
    except RepairRefused as refusal:
        record(
            actor,
            VERBS[operation],
            target_type=target.type,
            target_id=target.id,
            target_label=target.label,
            outcome="refused",
            detail=str(refusal),
        )
        raise


def _work(connection: Connection, wish: Wish) -> dict[str, Any]:
    """Where a job belongs: a known table by its row, a new one by its address."""
    uri = TableUri.parse(wish.uri)
    table = DeltaTable.objects.filter(connection=connection, bucket=uri.bucket, prefix=uri.key).first()
    target = Target("table", str(table.pk), wish.uri) if table else Target("place", _short(wish.uri), wish.uri)
    return {"connection": connection, "target": target}


def _short(uri: str) -> str:
    """A place that has no row yet, short enough for a column."""
    return hashlib.sha256(uri.encode()).hexdigest()[:32]


def _same_wish(wish: Wish, job: Job) -> Job:
    """The check under way may be of another act, store or schema: then this one has to wait."""
    if wish_of(job.params) != wish:
        raise JobBusy(job)
    return job


def _checking(wish: Wish) -> str:
    return f"Check: {_title(wish)[0].lower()}{_title(wish)[1:]}"


def _title(wish: Wish) -> str:
    return TITLES[wish.operation].format(TableUri.parse(wish.uri).name)
