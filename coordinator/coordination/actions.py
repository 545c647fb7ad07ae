"""What an operator may do with a table's coordination. Pages and commands both call these."""

import hashlib
from collections.abc import Sequence

from changes.asking import WantedChange, ask_for
from changes.documents import PlanDocument
from changes.gate import NotConfirmed, permitted, require_name
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
from coordinator.repairs.bulk import ask_of_many, only_connection
from dashboard.accounts.actor import Actor
from dashboard.connections.models import Connection
from dashboard.jobs.actions import JobBusy, Target, ask
from dashboard.jobs.models import Job
from lake.delta.uri import TableUri

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
    """Raises JobBusy where the job under way is of another act or another store: this one has to wait."""
    target, params = _target(connection, change), params_of(change)
    job = ask(actor, kind, title, here=here, connection=connection, target=target, params=params)
    if job.params != params:
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
    change = change_of(checked.params)
    if checked.connection is None:
        raise NotConfirmed("The connection of this table has been removed: nothing can be done.")
    kind, verb = KINDS[change.operation], VERBS[change.operation]
    name, params = TableUri.parse(change.uri).name, {"stated": stated, "probe": probe}
    wanted = WantedChange(checked, kind, verb, name, params=params)

    def shown() -> PlanDocument:
        plan = confirmed_plan(checked, digest)
        require_stated(change.operation, stated=stated)
        return plan

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
    label = many_name(tables)
    with permitted(actor, MANY_VERBS[operation], Target("tables", "", label), only_connection(tables)):
        require_stated(operation, stated=stated)
        require_name(confirm, label, can_lose=False)
    params = {"store": store, "stop_at_first_failure": stop_at_first_failure}
    title = TITLES[operation].format(label)
    return ask_of_many(actor, MANY[operation], title, tables, label, params, once=once, reason=reason, here=here)


def check_many(actor: Actor, tables: Sequence[DeltaTable], operation: Operation, *, store: str = "") -> Job:
    """Have every check of one act made on many tables of one connection; changes nothing.

    Raises NotAllowed, JobBusy, and ValueError for tables of several connections or for none.
    """
    title = f"Check: {_lower(TITLES[operation].format(many_name(tables)))}"
    params = {"store": store, "stop_at_first_failure": False, "operation": operation.value}
    return ask_of_many(actor, CHECK_MANY_KIND, title, tables, many_name(tables), params)


def many_name(tables: Sequence[DeltaTable]) -> str:
    """What is typed to confirm an act on many: how many they are."""
    return f"{len(tables)} table{'s' if len(tables) != 1 else ''}"


def _target(connection: Connection, change: CoordinationRequest) -> Target:
    """Where a job belongs: a known table by its row, a new one by its address."""
    uri = TableUri.parse(change.uri)
    table = DeltaTable.objects.filter(connection=connection, bucket=uri.bucket, prefix=uri.key).first()
    # A place that has no row yet: short enough for a column.
    place = hashlib.sha256(change.uri.encode()).hexdigest()[:32]
    return Target("table", str(table.pk), change.uri) if table else Target("place", place, change.uri)


def _lower(title: str) -> str:
    return f"{title[0].lower()}{title[1:]}"
