"""What an operator may do with the lake. Pages, commands and the schedule all call these.

With `here` the work is done in this process and the finished job returned; without, it is queued for the workers.
"""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from changes.asking import WantedChange, ask_for, young_plan
from changes.gate import permitted
from coordinator.models import DeltaTable
from coordinator.repairs.bulk import ask_of_many, only_connection
from coordinator.repairs.fresh import PlanRepairParams, Subject, plans_about
from coordinator.tasks import ObserveParams, ObserveTableParams
from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import require
from dashboard.audit.log import record
from dashboard.connections.models import Connection
from dashboard.jobs.actions import Target, ask
from dashboard.jobs.models import Job
from lake.delta.uri import TableUri


def observe_lake(actor: Actor, connection: Connection, *, in_full: bool = False, here: bool = False) -> Job:
    """Look at a whole connection; the look under way is returned instead of a second. Raises NotAllowed, JobBusy."""
    params: ObserveParams = {"in_full": in_full} if in_full else {}
    return ask(actor, "observe", f"Observe {connection.name}", here=here, connection=connection, params=params)


def recount(actor: Actor, *, here: bool = False) -> Job:
    """Compare the counts of tables with the tables; a difference is a failed job. Raises NotAllowed, JobBusy."""
    return ask(actor, "recount", "Count the tables", here=here)


def observe_table(actor: Actor, connection: Connection, uri: TableUri, *, here: bool = False) -> Job:
    """Look at one table, known or not. Raises NotAllowed, JobBusy."""
    table = DeltaTable.objects.filter(connection=connection, bucket=uri.bucket, prefix=uri.key).first()
    return ask(
        actor,
        "observe-table",
        f"Observe {uri.name}",
        here=here,
        connection=connection,
        target=Target("table", str(table.pk) if table else "", table.uri if table else uri.s3a),
        params=ObserveTableParams(uri=uri.s3a),
    )


def plan_repairs(actor: Actor, table: DeltaTable, path_scheme: str = "", *, here: bool = False) -> Job:
    """Read one table anew and plan all of its repairs; changes nothing. Raises NotAllowed, JobBusy.

    `path_scheme` is the scheme that a registration made again shall have, where nothing shows it; "" for none chosen.
    """
    return ask(
        actor,
        "plan-repair",
        f"Plan repairs of {table.name}",
        here=here,
        connection=table.connection,
        target=_target(table),
        params=PlanRepairParams(uri=table.uri, path_scheme=path_scheme),
    )


def repair(
    actor: Actor,
    planned: Job,
    subject: Subject,
    digest: str,
    *,
    confirm: str = "",
    reason: str = "",
    here: bool = False,
) -> Job:
    """Carry out the repair that this job planned, with this digest; the same plan confirmed twice is one job.

    `confirm` is the table's name as typed, for a plan that can lose something. Raises NotAllowed, ChangeRefused, and
    JobBusy while another repair of the table is under way. A refusal is in the audit log.
    """
    name = TableUri.parse(planned.params["uri"]).name
    params = {"name": name, **asdict(subject)}
    wanted = WantedChange(planned, "repair", "table.repair", name, "table.repair-losing", params)
    shown = partial(young_plan, planned, plans_about(planned, subject), digest)
    return ask_for(actor, wanted, shown, digest, confirm=confirm, reason=reason, here=here)


def repair_many(
    actor: Actor,
    tables: Sequence[DeltaTable],
    repairs: Sequence[str],
    title: str,
    *,
    stop_at_first_failure: bool = False,
    once: str = "",
    reason: str = "",
) -> Job:
    """Queue the named repairs on many tables of one connection: one job, one outcome per table.

    What can lose a commit is left out. Two calls with the same `once` are one job. Raises NotAllowed, ChangeRefused,
    JobBusy, and ValueError for tables of several connections or for none.
    """
    label = tables[0].uri if len(tables) == 1 else f"{len(tables):,} tables"
    with permitted(actor, "table.repair", Target("tables", "", label), only_connection(tables)):
        pass  # which plans there are is for the worker to find out
    params = {"repairs": sorted(repairs), "stop_at_first_failure": stop_at_first_failure}
    return ask_of_many(actor, "repair-many", title, tables, label, params, once=once, reason=reason)


def _target(table: DeltaTable) -> Target:
    return Target("table", str(table.pk), table.uri)


def set_read_only(actor: Actor, connection: Connection, read_only: bool) -> bool:
    """Switch whether Levee may change a connection's lake; False where it is so already. Raises NotAllowed,
    and FreshSignInNeeded where it is taken off.

    Jobs ask again before their first call, so what is queued stops there.
    """
    verb = "lake.read-only" if read_only else "lake.declare"
    require(actor, verb, target=connection.name, connection=connection)
    changed = Connection.objects.filter(pk=connection.pk, read_only=not read_only).update(read_only=read_only) > 0
    if changed:
        record(
            actor,
            "connection.read-only",
            target_type="connection",
            target_id=str(connection.pk),
            target_label=connection.name,
            before={"read_only": not read_only},
            after={"read_only": read_only},
        )
        connection.read_only = read_only
    return changed
