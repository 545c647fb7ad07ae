"""What an operator may do with saved copies, and what its jobs take and tell. Pages and commands both call these."""

from collections.abc import Sequence
from functools import partial
from typing import TypedDict

from changes.asking import WantedChange, ask_for, young_plan
from changes.documents import PlannedResult, planned_by
from changes.gate import Confirmation
from coordinator.contract import CopyDocument, RefusedListing
from coordinator.models import DeltaTable
from dashboard.accounts.actor import Actor
from dashboard.connections.models import Connection
from dashboard.jobs.actions import JobBusy, Target, ask
from dashboard.jobs.context import JobResult
from dashboard.jobs.models import Job
from dashboard.storable import clean_text
from lake.delta.uri import TableUri

LIST_KIND = "list-rescue"
PLAN_KIND = "plan-rescue"
RESTORE_KIND = "restore-rescue"


class ListRescueParams(TypedDict):
    """The tables by their primary keys."""

    tables: list[int]


class ListRescueResult(JobResult, total=False):
    read_at: str
    copies: list[CopyDocument]
    not_listed: list[RefusedListing]
    left_out: int
    more: bool


class PlanRescueParams(TypedDict):
    """The table, and the copy by its id."""

    uri: str
    copy: str


class PlanRescueResult(PlannedResult, total=False):
    """`command` puts an item back, "" where there is none."""

    command: str


class RestoreRescueParams(PlanRescueParams, Confirmation):
    name: str


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
    actor: Actor, planned: Job, digest: str, *, confirm: str = "", reason: str = "", here: bool = False
) -> Job:
    """Put the copy back that this job planned, with this digest; the same plan confirmed twice is one job.

    `confirm` is the table's name as typed, for a plan that lets readers or writers see another state. Raises
    NotAllowed, ChangeRefused, and JobBusy while another copy of the table is being put back. A refusal is in the audit
    log.
    """
    name = TableUri.parse(planned.params["uri"]).name
    wanted = WantedChange(planned, RESTORE_KIND, "table.repair", name, "table.repair-losing", {"name": name})
    shown = partial(young_plan, planned, planned_by(planned), digest)
    return ask_for(actor, wanted, shown, digest, confirm=confirm, reason=reason, here=here)


def _target(table: DeltaTable) -> Target:
    return Target("table", str(table.pk), table.uri)
