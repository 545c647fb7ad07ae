"""The same repairs on many tables, one after the other: one outcome for each, and a stop only between two tables."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypedDict

from changes.calls import Sending
from changes.carrying_out import note_call
from changes.execution import execute
from changes.many import TableOutcome, TableState, Told, one_after_the_other, outcome_of, record_of
from changes.plan import ChangePlan
from coordinator.models import DeltaTable
from coordinator.own_records import records_for
from coordinator.repairs.carrying_out import PlanUnderWay
from coordinator.repairs.fresh import FreshPlans, Subject, plan_anew
from dashboard.accounts.actor import Actor
from dashboard.audit.log import AuditOutcome
from dashboard.connections.access import EndpointNotAllowed, lake_access
from dashboard.connections.models import Connection
from dashboard.connections.writable import ReadOnlyMode, require_writable
from dashboard.jobs.actions import JobBusy, Target, ask
from dashboard.jobs.context import JobContext, JobFailed, JobOvertaken
from dashboard.jobs.models import Job
from lake.aws.access import Lake, open_lake
from lake.aws.errors import AwsError
from lake.delta.uri import TableUri

MOST_PLANS = 100
"""Plans carried out on one table in one job; each is made from a reading of its own."""


class TablesParams(TypedDict):
    """Of a job on many tables, by their primary keys."""

    tables: list[int]
    stop_at_first_failure: bool


class RepairManyParams(TablesParams):
    repairs: list[str]


def only_connection(tables: Sequence[DeltaTable]) -> Connection:
    """Raises ValueError for tables of several connections, or for none."""
    connections = {table.connection_id: table.connection for table in tables}
    if len(connections) != 1:
        raise ValueError("One job works on tables of exactly one connection.")
    return next(iter(connections.values()))


def ask_of_many(
    actor: Actor,
    kind: str,
    title: str,
    tables: Sequence[DeltaTable],
    label: str,
    params: Mapping[str, object],
    *,
    once: str = "",
    reason: str = "",
    here: bool = False,
) -> Job:
    """One job of a kind on these tables; two calls with the same `once` are one.

    Raises what asking for a job does, JobBusy where the one under way is of other tables or another act.
    """
    told = {**params, "tables": sorted(table.pk for table in tables)}
    job = ask(
        actor,
        kind,
        title,
        here=here,
        connection=only_connection(tables),
        target=Target("tables", "", label),
        params=told,
        idempotency_key=f"{kind}:{once}"[:128] if once else None,
        reason=reason,
    )
    if job.params != told:
        raise JobBusy(job)
    return job


def repair_tables(context: JobContext, params: RepairManyParams) -> str:
    """Repair each table named in the job; raises JobFailed at the end if one failed, JobCancelled between two."""
    return table_by_table(context, params, "Repair", lambda table: _repaired(context, table, params["repairs"]))


def table_by_table(context: JobContext, params: TablesParams, act: str, one: Callable[[DeltaTable], Told]) -> str:
    """Give `one` each table named in the job; raises what `one_after_the_other` does."""
    row, stop = partial(_outcome, one), params["stop_at_first_failure"]
    return one_after_the_other(context, params["tables"], act, row, stop_at_first=stop)


def _outcome(one: Callable[[DeltaTable], Told], number: int) -> TableOutcome:
    table = DeltaTable.objects.select_related("connection").filter(pk=number).first()
    if table is None:
        told = TableState.FAILED, "Levee no longer knows this table."
        return outcome_of(Target("", "", f"table {number}"), told)
    try:
        told = one(table)
    except (AwsError, EndpointNotAllowed, JobFailed, ReadOnlyMode) as error:
        told = TableState.FAILED, str(error)
    return outcome_of(target_of(table), told)


def target_of(table: DeltaTable) -> Target:
    return Target("table", str(table.pk), table.uri)


def _repaired(context: JobContext, table: DeltaTable, repairs: Sequence[str]) -> Told:
    """Carry out plan after plan, lowest version first, each made anew, until none is left that was not tried."""
    tried: set[Subject] = set()
    done: list[str] = []
    overtaken: list[str] = []
    with open_lake(lake_access(table.connection)) as lake:
        for _ in range(MOST_PLANS):
            require_writable(table.connection)
            fresh = plan_anew(table.connection, lake, TableUri.parse(table.uri))
            plan = next((one for one in _wanted(fresh, repairs) if Subject.of(one) not in tried), None)
            if plan is None:
                return _closing(fresh, repairs, done, overtaken)
            tried.add(Subject.of(plan))
            try:
                _carry_out(context, table, plan, fresh, lake)
                done.append(plan.title)
            except JobOvertaken as told:
                overtaken.append(f"{plan.title}: {told}")
    return TableState.FAILED, f"{_list(done)} More than {MOST_PLANS} plans: run it again for the rest."


def _wanted(fresh: FreshPlans, repairs: Sequence[str]) -> list[ChangePlan]:
    wanted = [plan for plan in fresh.plans if plan.kind in repairs and not plan.can_lose]
    return sorted(wanted, key=lambda plan: -1 if plan.version is None else plan.version)


def _closing(fresh: FreshPlans, repairs: Sequence[str], done: list[str], overtaken: list[str]) -> Told:
    reasons = [one.reason for one in fresh.refusals if one.kind in repairs]
    losing = [plan for plan in fresh.plans if plan.kind in repairs and plan.can_lose]
    reasons += [f"{one.title} can lose a commit: confirm it on the table's page." for one in losing]
    told = [part for part in (_list(done), *overtaken, *reasons) if part]
    if overtaken:
        return TableState.OVERTAKEN, " ".join(told)
    if reasons:
        return TableState.REFUSED, " ".join(told)
    return (TableState.DONE, _list(done)) if done else (TableState.NOTHING, fresh.verdict.summary)


def _carry_out(context: JobContext, table: DeltaTable, plan: ChangePlan, fresh: FreshPlans, lake: Lake) -> None:
    """Carry out one plan and write it to the audit log of its table; raises what a single repair raises."""
    context.log(f"{table.uri}: {plan.title}", step="table")
    under_way = PlanUnderWay(table.connection, lake, plan, fresh)
    snapshots = under_way.snapshots
    sending = Sending(lake, records=records_for(context, table.connection))
    outcome: AuditOutcome = "failed"
    detail = "Interrupted."
    try:
        execution = execute(plan.calls, sending, partial(note_call, context, snapshots))
        trouble = under_way.prove(execution)
        detail = str(trouble or plan.title)
        if not isinstance(trouble, JobFailed):
            outcome = "overtaken" if trouble else "done"
    finally:
        record_of(context, target_of(table), "table.repair", snapshots.result(), outcome, detail)
    if trouble is not None:
        raise trouble


def _list(done: list[str]) -> str:
    return f"{'; '.join(done)}." if done else ""
