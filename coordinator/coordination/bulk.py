"""One act on many tables, or its checks: one outcome for each table, and a stop only between two."""

from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from changes.gate import check_writable
from changes.many import TableState, Told, record_of
from changes.plan import Refusal
from coordinator.coordination.carrying_out import ActUnderWay, CutShort, plan_now
from coordinator.coordination.checks import CoordinationRequest, Operation
from coordinator.coordination.confirmed import CHECK_MANY_KIND
from coordinator.models import DeltaTable
from coordinator.protocols.wording import counted
from coordinator.repairs.bulk import TablesParams, table_by_table, target_of
from dashboard.audit.log import AuditOutcome
from dashboard.connections.access import EndpointNotAllowed, lake_access
from dashboard.connections.writable import ReadOnlyMode, require_writable
from dashboard.jobs.context import JobCancelled, JobContext, JobFailed, JobResult
from dashboard.jobs.execution import audit_action
from dashboard.jobs.models import Job, JobState
from dashboard.jobs.parts import PartContext
from lake.aws.access import open_lake
from lake.aws.errors import AwsError

_REFUSED = ("Refused", "Moved")
"""Codes of what checks said before anything was changed: expected outcomes, which stop nothing."""
_AUDITED: dict[TableState, AuditOutcome] = {TableState.DONE: "done", TableState.REFUSED: "refused"}
_ENDED_WITH_OUTCOMES = (JobState.SUCCEEDED, JobState.FAILED)


class ManyParams(TablesParams):
    store: str


class CheckManyParams(ManyParams):
    operation: str


class CheckManyResult(JobResult, total=False):
    """`read_at` is when the first of the tables was read."""

    read_at: str


def act_on_tables(context: JobContext, params: ManyParams, operation: Operation) -> str:
    """Enable or drop on each table named in the job; raises JobFailed at the end if one failed."""
    check_writable(context.job.connection)

    def act(table: DeltaTable) -> Told:
        return _act(context, table, CoordinationRequest(operation, table.uri, store=params["store"]))

    return table_by_table(context, params, f"{operation.value.capitalize()} on", act)


def check_tables(context: JobContext, params: CheckManyParams) -> str:
    """Make every check of one act on each table; the page that offers it on those that passed is said at the end."""
    operation = Operation(params["operation"])

    def check(table: DeltaTable) -> Told:
        return _check(context, table, CoordinationRequest(operation, table.uri, store=params["store"]))

    context.result(CheckManyResult(read_at=timezone.now().isoformat()))
    said = table_by_table(context, params, "Check", check)
    if any(outcome["state"] == TableState.PASSED for outcome in context.results["outcomes"]):
        address = reverse("coordination-many", args=[operation.value])
        context.result({"leads_to": f"{address}?checked={context.job.pk}"})
    return said


def finished_checks(operation: Operation, number: UUID) -> "QuerySet[Job]":
    """The job of this number, if it checked this act on many tables and has ended."""
    jobs = Job.objects.filter(kind=CHECK_MANY_KIND, params__operation=operation.value, state__in=_ENDED_WITH_OUTCOMES)
    return jobs.filter(pk=number).select_related("connection")


def _check(context: JobContext, table: DeltaTable, change: CoordinationRequest) -> Told:
    with open_lake(lake_access(table.connection)) as lake:
        planned = plan_now(table.connection, lake, change, lambda _: None, context.job.pk)
    checked = planned.checked
    if isinstance(planned.made, Refusal):
        return TableState.REFUSED, planned.made.reason
    weigh = " ".join(f"{warning.name}: {warning.sentence}" for warning in checked.warnings)
    return TableState.PASSED, f"{counted(len(checked.checks), 'check')} made, none failed. {weigh}".strip()


def _act(context: JobContext, table: DeltaTable, change: CoordinationRequest) -> Told:
    """Do it, and write it to the audit log of the table, however it ends."""
    part = PartContext(context, table.uri)
    state, sentence = TableState.FAILED, "Interrupted."
    try:
        require_writable(table.connection)
        with open_lake(lake_access(table.connection)) as lake:
            act = ActUnderWay(table.connection, lake, change, context.job.pk, part, part.result)
            sentence = act.carry_out()
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
        action, ended = audit_action(context.job.kind), _AUDITED.get(state, "failed")
        record_of(context, target_of(table), action, part.results, ended, sentence)
    return state, sentence
