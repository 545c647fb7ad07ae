"""What an operator may do with the lake. Pages, commands and the schedule all call these."""

from collections.abc import Sequence
from typing import Any

from coordinator.models import DeltaTable
from coordinator.repairs.confirmed import ShownPlan, confirmed_plan
from coordinator.repairs.fresh import Subject
from coordinator.repairs.gate import RepairRefused, require_name, require_writable
from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import require
from dashboard.audit.log import record
from dashboard.connections.models import Connection
from dashboard.jobs.actions import JobBusy, Target, run_in_foreground, submit
from dashboard.jobs.models import Job
from lake.delta.uri import TableUri


def observe_lake(actor: Actor, connection: Connection, *, in_full: bool = False) -> Job:
    """Queue a look at a whole connection; the one under way is returned instead of a second. Raises NotAllowed."""
    return submit(
        actor, "observe", _lake_title(connection), connection=connection, params={"in_full": in_full} if in_full else {}
    )


def observe_lake_now(actor: Actor, connection: Connection, *, in_full: bool = False) -> Job:
    """Look at a whole connection in this process and return the finished job. Raises NotAllowed, JobBusy."""
    return run_in_foreground(
        actor, "observe", _lake_title(connection), connection=connection, params={"in_full": in_full} if in_full else {}
    )


def observe_table(actor: Actor, table: DeltaTable) -> Job:
    """Queue a look at one table. Raises NotAllowed."""
    uri = TableUri("s3a", table.bucket, table.prefix)
    return submit(
        actor,
        "observe-table",
        _table_title(uri),
        connection=table.connection,
        target=Target("table", str(table.pk), table.uri),
        params={"uri": uri.s3a},
    )


def observe_table_now(actor: Actor, connection: Connection, uri: TableUri) -> Job:
    """Look at one table, known or not, in this process and return the finished job. Raises NotAllowed, JobBusy."""
    table = DeltaTable.objects.filter(connection=connection, bucket=uri.bucket, prefix=uri.key).first()
    return run_in_foreground(
        actor,
        "observe-table",
        _table_title(uri),
        connection=connection,
        target=Target("table", str(table.pk) if table else "", uri.s3a),
        params={"uri": uri.s3a},
    )


def plan_repairs(actor: Actor, table: DeltaTable, path_scheme: str = "") -> Job:
    """Queue a fresh reading of one table that plans all of its repairs; changes nothing. Raises NotAllowed.

    `path_scheme` is the scheme that a registration made again shall have, where nothing shows it; "" for none chosen.
    """
    return submit(actor, "plan-repair", f"Plan repairs of {table.name}", **_planning(table, path_scheme))


def plan_repairs_now(actor: Actor, table: DeltaTable, path_scheme: str = "") -> Job:
    """Plan in this process and return the finished job. Raises NotAllowed, JobBusy."""
    return run_in_foreground(actor, "plan-repair", f"Plan repairs of {table.name}", **_planning(table, path_scheme))


def repair(
    actor: Actor,
    table: DeltaTable,
    repair: str,
    code: str,
    version: int | None,
    digest: str,
    *,
    confirm: str = "",
    reason: str = "",
) -> Job:
    """Queue the repair whose plan has this digest; the same plan confirmed twice is one job.

    `confirm` is the table's name as typed, for a plan that can lose something. Raises NotAllowed, RepairRefused, and
    JobBusy while another repair of the table is under way. A refusal is in the audit log.
    """
    shown = _permitted(actor, table, Subject(repair, code, version), digest, confirm)
    job = submit(
        actor,
        "repair",
        shown.document["title"],
        **_work(table),
        params=_repair_params(actor, table, shown, confirm),
        idempotency_key=shown.repair_key,
        reason=reason,
    )
    if job.params.get("digest") != digest:
        raise JobBusy(job)
    return job


def repair_now(
    actor: Actor,
    table: DeltaTable,
    repair: str,
    code: str,
    version: int | None,
    digest: str,
    *,
    confirm: str = "",
    reason: str = "",
) -> Job:
    """Repair in this process and return the finished job. Raises what `repair` raises."""
    shown = _permitted(actor, table, Subject(repair, code, version), digest, confirm)
    return run_in_foreground(
        actor,
        "repair",
        shown.document["title"],
        **_work(table),
        params=_repair_params(actor, table, shown, confirm),
        idempotency_key=shown.repair_key,
        reason=reason,
    )


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

    What can lose a commit is left out. Two calls with the same `once` are one job. Raises NotAllowed, RepairRefused,
    JobBusy, and ValueError for tables of several connections or for none.
    """
    connections = {table.connection_id: table.connection for table in tables}
    if len(connections) != 1:
        raise ValueError("Repairs of many tables need tables of exactly one connection.")
    label = tables[0].uri if len(tables) == 1 else f"{len(tables):,} tables"
    connection = next(iter(connections.values()))
    require(actor, "table.repair", target=label, connection=connection)
    _require_writable(actor, connection, Target("tables", "", label))
    ids = sorted(table.pk for table in tables)
    params = {"tables": ids, "repairs": sorted(repairs), "stop_at_first_failure": stop_at_first_failure}
    job = submit(
        actor,
        "repair-many",
        title,
        connection=connection,
        target=Target("tables", "", label),
        params=params,
        idempotency_key=f"repair-many:{once}"[:128] if once else None,
        reason=reason,
    )
    if (job.params["tables"], job.params["repairs"]) != (ids, params["repairs"]):
        raise JobBusy(job)
    return job


def _permitted(actor: Actor, table: DeltaTable, subject: Subject, digest: str, confirm: str) -> ShownPlan:
    """The plan that is confirmed, if this actor may carry it out in this deployment."""
    require(actor, "table.repair", target=table.uri, connection=table.connection)
    target = _target(table)
    _require_writable(actor, table.connection, target)
    try:
        shown = confirmed_plan(table, subject, digest)
        if shown.document["can_lose"]:
            require(actor, "table.repair-losing", target=table.uri, connection=table.connection)
            require_name(confirm, table.name)
    except RepairRefused as refusal:
        _record_refusal(actor, target, refusal)
        raise
    return shown


def _require_writable(actor: Actor, connection: Connection, target: Target) -> None:
    try:
        require_writable(connection)
    except RepairRefused as refusal:
        _record_refusal(actor, target, refusal)
        raise


def _record_refusal(actor: Actor, target: Target, refusal: RepairRefused) -> None:
    record(
        actor,
        "table.repair",
        target_type=target.type,
        target_id=target.id,
        target_label=target.label,
        outcome="refused",
        detail=str(refusal),
    )


def _repair_params(actor: Actor, table: DeltaTable, shown: ShownPlan, confirm: str) -> dict[str, Any]:
    plan = shown.document
    return {
        "uri": table.uri,
        "name": table.name,
        "repair": plan["kind"],
        **{key: plan[key] for key in ("code", "version", "digest")},
        "path_scheme": shown.job.params.get("path_scheme", ""),
        "planned_by": str(shown.job.pk),
        "confirm": confirm.strip(),
        "confirmed_by": actor.name,
        "source": actor.source,
    }


def _planning(table: DeltaTable, path_scheme: str) -> dict[str, Any]:
    return {**_work(table), "params": {"uri": table.uri, "path_scheme": path_scheme}}


def _work(table: DeltaTable) -> dict[str, Any]:
    """Where a job on one table belongs."""
    return {"connection": table.connection, "target": _target(table)}


def _target(table: DeltaTable) -> Target:
    return Target("table", str(table.pk), table.uri)


def _lake_title(connection: Connection) -> str:
    return f"Observe {connection.name}"


def _table_title(uri: TableUri) -> str:
    return f"Observe {uri.name}"
