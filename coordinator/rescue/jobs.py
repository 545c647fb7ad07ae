"""The kinds of jobs of saved copies: `list-rescue`, `plan-rescue` and `restore-rescue`, carried by the queue aws."""

from collections.abc import Callable
from functools import partial

from django.utils import timezone

from changes.calls import Result, Sending
from changes.carrying_out import carry_out, check_danger, lake_to_change, overtaken_at, stopped_in_words, why_moved
from changes.documents import OvertakenDocument, planned_result
from changes.execution import Execution
from changes.gate import BEFORE_ANY_CHANGE, connection_of
from changes.plan import ChangePlan, Refusal
from coordinator.contract import CopyDocument, RefusedListing
from coordinator.models import DeltaTable
from coordinator.observation.passes import observe_one_table
from coordinator.protocols.wording import counted
from coordinator.repairs.carrying_out import AuditSnapshots, Trouble, keep_in, read_again
from coordinator.rescue.actions import (
    LIST_KIND,
    PLAN_KIND,
    RESTORE_KIND,
    ListRescueParams,
    ListRescueResult,
    PlanRescueParams,
    PlanRescueResult,
    RestoreRescueParams,
)
from coordinator.rescue.copies import place_of_copy, read_name
from coordinator.rescue.planning import ByHand, unreadable
from coordinator.rescue.reading import list_copies, plan_copy
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobContext, JobFailed, JobOvertaken
from dashboard.jobs.registry import job_kind
from lake.aws.access import Lake, open_lake
from lake.aws.errors import AwsError
from lake.delta.uri import TableUri

PlanAgain = Callable[[], ChangePlan | Refusal]


@job_kind(LIST_KIND, queue="aws", verb="table.plan-repair", changes_lake=False)
def list_rescue(context: JobContext, params: ListRescueParams) -> str:
    """List what is saved aside of tables; the result is a `ListRescueResult`, as far as it was read."""
    connection = connection_of(context)
    tables = DeltaTable.objects.filter(connection=connection, pk__in=params["tables"]).order_by("uri")
    copies: list[CopyDocument] = []
    refused: list[RefusedListing] = []
    left_out, more = 0, False
    context.result(ListRescueResult(read_at=timezone.now().isoformat(), copies=copies, not_listed=refused))
    with open_lake(lake_access(connection)) as lake, context.step("List the rescue folders"):
        for number, table in enumerate(tables, start=1):
            context.check_cancelled()
            try:
                listed = list_copies(lake, table.place)
            except AwsError as error:
                refused.append({"table": table.uri, "reason": str(error)})
            else:
                copies += listed["copies"]
                left_out, more = left_out + listed["left_out"], more or listed["more"]
            context.progress(number, len(tables))
    context.result(ListRescueResult(left_out=left_out, more=more, requests=lake.requests.total))
    listed_words = f"{counted(len(copies), 'object')} found in rescue folders."
    return f"{listed_words} {counted(len(refused), 'table')} could not be listed." if refused else listed_words


@job_kind(PLAN_KIND, queue="aws", verb="table.plan-repair", changes_lake=False)
def plan_rescue(context: JobContext, params: PlanRescueParams) -> str:
    """Read one table and one copy and plan to put it back; the result is a `PlanRescueResult`."""
    connection = connection_of(context)
    with open_lake(lake_access(connection)) as lake, context.step("Read the table and the copy"):
        read_at = timezone.now()
        made = _plan_now(connection, lake, params)
    command = made.command if isinstance(made, ByHand) else ""
    context.result(PlanRescueResult(**planned_result(made, read_at, lake.requests.total), command=command))
    return made.reason if isinstance(made, Refusal) else f"Planned: {made.title}."


@job_kind(RESTORE_KIND, queue="aws", verb="table.repair")
def restore_rescue(context: JobContext, params: RestoreRescueParams) -> str:
    """Carry out one confirmed plan."""
    connection = connection_of(context)
    with lake_to_change(context) as lake:
        with context.step("Read the table and the copy, and plan anew"):
            plan = _confirmed(params, _plan_now(connection, lake, params))
            check_danger(context, params, plan, params["name"], "table.repair-losing")
        snapshots = AuditSnapshots(plan, {"copy": params["copy"]})
        execution = carry_out(context, plan, snapshots, Sending(lake, check_cancelled=context.check_cancelled))
        plan_again = partial(_plan_now, connection, lake, params)
        now = read_again(context, snapshots, partial(_prove, connection, lake, execution, snapshots, plan_again))
    return f"{plan.title}: done, and proven by reading it back. {now}".strip()


def _plan_now(connection: Connection, lake: Lake, params: PlanRescueParams) -> ChangePlan | Refusal:
    try:
        place, key = place_of_copy(params["copy"])
        if place.s3a != params["uri"]:
            return unreadable(params["uri"], "It is a copy of another table.")
        copy = read_name(place, key)
    except ValueError as reason:
        return unreadable(params["uri"], str(reason))
    return plan_copy(connection, lake, copy, keep_in(connection))


def _confirmed(params: RestoreRescueParams, made: ChangePlan | Refusal) -> ChangePlan:
    if isinstance(made, ChangePlan) and made.digest == params["digest"]:
        return made
    reason = why_moved(made)
    facts: OvertakenDocument = {"call": 0, "of": 0, "reason": reason, "written": []}
    raise JobOvertaken(f"{BEFORE_ANY_CHANGE}: {reason}", facts)


def _prove(
    connection: Connection, lake: Lake, execution: Execution, snapshots: AuditSnapshots, plan_again: PlanAgain
) -> Trouble:
    """Read and store the table again. What was put back was read back by its call, or that call has not ended well."""
    trouble = _trouble(execution, snapshots.plan, plan_again)
    reading = observe_one_table(connection, lake, TableUri.parse(snapshots.plan.subject))
    if reading.verdict is not None:
        snapshots.note_table(reading.verdict)
    if reading.error is not None and trouble is None:
        sentence = f"It was put back and read back; the table could not be read again: {reading.error}"
        return JobFailed(reading.error.code, sentence)
    return trouble


def _trouble(execution: Execution, plan: ChangePlan, plan_again: PlanAgain) -> Trouble:
    """What a call came to that ended it; where the same plan would not be made again, somebody else was faster."""
    if execution.end is None:
        return None
    told = stopped_in_words(execution)
    if execution.end.result is Result.STOPPED:
        try:
            again = plan_again()
        except AwsError:
            again = plan
        if isinstance(again, Refusal) or again.digest != plan.digest:
            return JobOvertaken(told, overtaken_at(execution))
    return JobFailed(execution.end.code or "Stopped", told)
