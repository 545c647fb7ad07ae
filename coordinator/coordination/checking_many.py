"""Checking one act on many tables before it is offered: what each table's checks say, changing nothing."""

from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from changes.plan import Refusal
from coordinator.coordination.bulk import ManyParams
from coordinator.coordination.carrying_out import plan_now
from coordinator.coordination.checks import Operation
from coordinator.coordination.reading import CoordinationRequest
from coordinator.models import DeltaTable
from coordinator.protocols.wording import counted
from coordinator.repairs.bulk import TableOutcome, TableState, table_by_table
from dashboard.connections.access import EndpointNotAllowed, lake_access
from dashboard.jobs.context import JobContext, JobResult
from dashboard.jobs.models import Job, JobState
from lake.aws.access import open_lake
from lake.aws.errors import AwsError

CHECK_MANY_KIND = "check-many-coordination"
_ENDED_WITH_OUTCOMES = (JobState.SUCCEEDED, JobState.FAILED)


class CheckManyParams(ManyParams):
    operation: str


class CheckManyResult(JobResult, total=False):
    """`read_at` is when the first of the tables was read."""

    read_at: str


def check_tables(context: JobContext, params: CheckManyParams) -> str:
    """Make every check of one act on each table; the page that offers it on those that passed is said at the end."""
    context.result(CheckManyResult(read_at=timezone.now().isoformat()))
    said = table_by_table(context, params, "Check", lambda number: _check_one(context, params, number))
    if any(outcome["state"] == TableState.PASSED for outcome in context.results["outcomes"]):
        address = reverse("coordination-many", args=[params["operation"]])
        context.result({"leads_to": f"{address}?checked={context.job.pk}"})
    return said


def finished_checks(operation: Operation, number: UUID) -> "QuerySet[Job]":
    """The job of this number, if it checked this act on many tables and has ended."""
    jobs = Job.objects.filter(kind=CHECK_MANY_KIND, params__operation=operation.value, state__in=_ENDED_WITH_OUTCOMES)
    return jobs.filter(pk=number).select_related("connection")


def _check_one(context: JobContext, params: CheckManyParams, number: int) -> TableOutcome:
    table = DeltaTable.objects.select_related("connection").filter(pk=number).first()
    if table is None:
        return TableOutcome("", "", f"table {number}", TableState.FAILED, "Levee no longer knows this table.")
    change = CoordinationRequest(Operation(params["operation"]), table.uri, store=params["store"])
    try:
        with open_lake(lake_access(table.connection)) as lake:
            _, checked, made = plan_now(table.connection, lake, change, lambda _: None, context.job.pk)
    except (AwsError, EndpointNotAllowed) as error:
        return TableOutcome("table", str(table.pk), table.uri, TableState.FAILED, str(error))
    refusal = made.reason if isinstance(made, Refusal) else ""
    if refusal or not checked.may_run:
        return TableOutcome("table", str(table.pk), table.uri, TableState.REFUSED, refusal or checked.refusal())
    weigh = " ".join(f"{warning.name}: {warning.sentence}" for warning in checked.warnings)
    sentence = f"{counted(len(checked.checks), 'check')} made, none failed. {weigh}".strip()
    return TableOutcome("table", str(table.pk), table.uri, TableState.PASSED, sentence)
