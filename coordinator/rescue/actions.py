"""What an operator may do with saved copies. Pages and commands both call these."""

from collections.abc import Sequence
from functools import partial

from changes.asking import WantedChange, ask_for
from coordinator.models import DeltaTable
from coordinator.observation.storable import clean_text
from coordinator.rescue.confirmed import (
    LIST_KIND,
    PLAN_KIND,
    RESTORE_KIND,
    ListRescueParams,
    PlanRescueParams,
    shown_plan,
)
from dashboard.accounts.actor import Actor
from dashboard.connections.models import Connection
from dashboard.jobs.actions import JobBusy, Target, ask
from dashboard.jobs.models import Job


def list_copies_of(actor: Actor, table: DeltaTable, *, here: bool = False) -> Job:
    """Read what is saved aside of one table; changes nothing. Raises NotAllowed, JobBusy."""
    return ask(
        actor,
        LIST_KIND,
        f"List the saved copies of {table.name}",
        here=here,
        connection=table.connection,
        target=_target(table),
        params=ListRescueParams(tables=[table.pk]),
    )


def list_all_copies(actor: Actor, connection: Connection, tables: Sequence[DeltaTable], *, here: bool = False) -> Job:
    """Read what is saved aside of many tables of one connection. Raises NotAllowed, JobBusy."""
    return ask(
        actor,
        LIST_KIND,
        f"List the saved copies of {connection.name}",
        here=here,
        connection=connection,
        target=Target("connection", str(connection.pk), connection.name),
        params=ListRescueParams(tables=[table.pk for table in tables]),
    )


def plan_copy(actor: Actor, table: DeltaTable, copy: str, *, here: bool = False) -> Job:
    """Plan to put one copy back, by its id; changes nothing. Raises NotAllowed; JobBusy while another is planned."""
    copy = clean_text(copy)
    job = ask(
        actor,
        PLAN_KIND,
        f"Plan to put a saved copy of {table.name} back",
        here=here,
        connection=table.connection,
        target=_target(table),
        params=PlanRescueParams(uri=table.uri, copy=copy),
    )
    if job.params["copy"] != copy:
        raise JobBusy(job)
    return job


def restore_copy(
    actor: Actor,
    table: DeltaTable,
    copy: str,
    digest: str,
    *,
    confirm: str = "",
    reason: str = "",
    here: bool = False,
) -> Job:
    """Put the copy back whose plan has this digest; the same plan confirmed twice is one job.

    `confirm` is the table's name as typed, for a plan that lets readers or writers see another state. Raises
    NotAllowed, ChangeRefused, and JobBusy while another copy of the table is being put back. A refusal is in the audit
    log.
    """
    wanted = WantedChange(
        RESTORE_KIND,
        "table.repair",
        table.connection,
        _target(table),
        table.name,
        "table.repair-losing",
        RESTORE_KIND,
        {"uri": table.uri, "name": table.name, "copy": copy},
    )
    return ask_for(
        actor, wanted, partial(shown_plan, table, copy, digest), digest, confirm=confirm, reason=reason, here=here
    )


def _target(table: DeltaTable) -> Target:
    return Target("table", str(table.pk), table.uri)
