"""The same act on many tables, one after the other: one outcome for each, and a stop only between two tables."""

from coordinator.coordination.carrying_out import Act, CutShort, carry_out
from coordinator.coordination.checks import Operation
from coordinator.coordination.progress import LogLines
from coordinator.coordination.reading import CoordinationRequest
from coordinator.models import DeltaTable
from coordinator.repairs.bulk import TableOutcome, TablesParams, TableState, table_by_table
from dashboard.accounts.actor import Actor
from dashboard.audit.log import AuditOutcome, record
from dashboard.connections.access import EndpointNotAllowed, lake_access
from dashboard.connections.writable import ReadOnlyMode, require_writable
from dashboard.jobs.context import JobCancelled, JobContext, JobFailed, JobResult
from dashboard.jobs.execution import audit_action
from lake.aws.access import open_lake
from lake.aws.errors import AwsError

_REFUSED = ("Refused", "Moved")
"""Codes of what checks said before anything was changed: expected outcomes, which stop nothing."""


class ManyParams(TablesParams):
    store: str


def act_on_tables(context: JobContext, params: ManyParams, operation: Operation) -> str:
    """Enable or drop on each table named in the job; raises JobFailed at the end if one failed."""
    act = f"{operation.value.capitalize()} on"
    return table_by_table(context, params, act, lambda number: _one_table(context, params, operation, number))


def _one_table(context: JobContext, params: ManyParams, operation: Operation, number: int) -> TableOutcome:
    table = DeltaTable.objects.select_related("connection").filter(pk=number).first()
    if table is None:
        return TableOutcome("", "", f"table {number}", TableState.FAILED, "Levee no longer knows this table.")
    change = CoordinationRequest(operation, table.uri, store=params["store"])
    results: JobResult = {}
    state, sentence = TableState.FAILED, "Interrupted."
    try:
        require_writable(table.connection)
        with open_lake(lake_access(table.connection)) as lake:
            progress = LogLines(context, table.uri)
            sentence = carry_out(table.connection, lake, Act(change, job=context.job.pk), progress, results.update)
        state = TableState.DONE
    except (AwsError, EndpointNotAllowed, JobFailed, ReadOnlyMode) as error:
        refused = isinstance(error, JobFailed) and error.code in _REFUSED
        state, sentence = TableState.REFUSED if refused else TableState.FAILED, str(error)
    except CutShort as error:
        sentence = error.message
        raise
    except JobCancelled:
        sentence = "Cancelled before Spark began: nothing was changed."
        raise
    finally:
        _record(context, table, results, state, sentence)
    return TableOutcome("table", str(table.pk), table.uri, state, sentence)


def _record(context: JobContext, table: DeltaTable, results: JobResult, state: TableState, sentence: str) -> None:
    outcomes: dict[TableState, AuditOutcome] = {TableState.DONE: "done", TableState.REFUSED: "refused"}
    record(
        Actor.worker(context.job.requested_by_name, context.job.requested_by),
        audit_action(context.job.kind),
        target_type="table",
        target_id=str(table.pk),
        target_label=table.uri,
        before=results.get("before"),
        after=results.get("after"),
        outcome=outcomes.get(state, "failed"),
        detail=sentence,
        job=context.job,
        aws_request_ids=results.get("aws_request_ids", []),
    )
