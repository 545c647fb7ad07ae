"""The same repairs on many tables, one after the other: one outcome for each, and a stop only between two tables."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from typing import TypedDict

from changes.calls import Sending
from changes.carrying_out import note_call
from changes.execution import execute
from changes.plan import ChangePlan
from coordinator.models import DeltaTable
from coordinator.own_records import records_for
from coordinator.repairs.carrying_out import PlanUnderWay
from coordinator.repairs.fresh import FreshPlans, Subject, plan_anew
from dashboard.accounts.actor import Actor
from dashboard.audit.log import AuditOutcome, record
from dashboard.connections.access import EndpointNotAllowed, lake_access
from dashboard.connections.writable import ReadOnlyMode, require_writable
from dashboard.jobs.context import JobContext, JobFailed, JobOvertaken
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


class TableState(StrEnum):
    """What became of one table."""

    DONE = "done"
    PASSED = "passed"
    NOTHING = "nothing_to_do"
    OVERTAKEN = "overtaken"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class TableOutcome:
    """One row of the job's page."""

    target_type: str
    target_id: str
    label: str
    state: TableState
    sentence: str


def repair_tables(context: JobContext, params: RepairManyParams) -> str:
    """Repair each table named in the job; raises JobFailed at the end if one failed, JobCancelled between two."""
    repairs = tuple(params["repairs"])
    return table_by_table(context, params, "Repair", lambda number: _one_table(context, number, repairs))


def table_by_table(
    context: JobContext, params: TablesParams, act: str, one_table: Callable[[int], TableOutcome]
) -> str:
    """Give `one_table` each table named in the job, and keep its outcomes as they come.

    Raises JobFailed at the end if one failed, JobCancelled between two; stops at the first failure if the job says so.
    """
    tables = params["tables"]
    outcomes: list[TableOutcome] = []
    rows: list[dict[str, object]] = []
    context.result({"outcomes": rows})
    with context.step(f"{act} {len(tables):,} table{'s' if len(tables) != 1 else ''}") as step:
        for number in tables:
            context.check_cancelled()
            outcome = one_table(number)
            outcomes.append(outcome)
            rows.append(asdict(outcome))
            level = "WARN" if outcome.state is TableState.FAILED else "INFO"
            context.log(f"{outcome.label}: {outcome.sentence}", level=level, step="table")
            context.progress(len(outcomes), len(tables))
            if outcome.state is TableState.FAILED and params["stop_at_first_failure"]:
                break
        step.detail = counts_in_words(outcomes, len(tables))
    if any(outcome.state is TableState.FAILED for outcome in outcomes):
        raise JobFailed("SomeFailed", counts_in_words(outcomes, len(tables)))
    return counts_in_words(outcomes, len(tables))


def counts_in_words(outcomes: Sequence[TableOutcome], total: int) -> str:
    """`3 tables: 1 done, 1 nothing to do, 1 refused.`"""
    words = {state: state.value.replace("_", " ") for state in TableState}
    counted = {state: sum(one.state is state for one in outcomes) for state in TableState}
    parts = [f"{number:,} {words[state]}" for state, number in counted.items() if number]
    left = total - len(outcomes)
    if left:
        parts.append(f"{left:,} not reached")
    return f"{total:,} table{'s' if total != 1 else ''}: {', '.join(parts) or 'none reached'}."


def _one_table(context: JobContext, number: int, repairs: tuple[str, ...]) -> TableOutcome:
    table = DeltaTable.objects.select_related("connection").filter(pk=number).first()
    if table is None:
        return TableOutcome("", "", f"table {number}", TableState.FAILED, "Levee no longer knows this table.")
    try:
        state, sentence = _repaired(context, table, repairs)
    except (AwsError, EndpointNotAllowed, JobFailed, ReadOnlyMode) as error:
        state, sentence = TableState.FAILED, str(error)
    return TableOutcome("table", str(table.pk), table.uri, state, sentence)


def _repaired(context: JobContext, table: DeltaTable, repairs: tuple[str, ...]) -> tuple[TableState, str]:
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


def _wanted(fresh: FreshPlans, repairs: tuple[str, ...]) -> list[ChangePlan]:
    wanted = [plan for plan in fresh.plans if plan.kind in repairs and not plan.can_lose]
    return sorted(wanted, key=lambda plan: -1 if plan.version is None else plan.version)


def _closing(
    fresh: FreshPlans, repairs: tuple[str, ...], done: list[str], overtaken: list[str]
) -> tuple[TableState, str]:
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
        record(
            Actor.worker(context.job.requested_by_name, context.job.requested_by),
            "table.repair",
            target_type="table",
            target_id=str(table.pk),
            target_label=table.uri,
            before=snapshots.before,
            after=snapshots.after,
            outcome=outcome,
            detail=detail,
            job=context.job,
            aws_request_ids=snapshots.request_ids,
        )
    if trouble is not None:
        raise trouble


def _list(done: list[str]) -> str:
    return f"{'; '.join(done)}." if done else ""
