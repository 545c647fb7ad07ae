"""The kinds of jobs of saved copies: `list-rescue`, `plan-rescue` and `restore-rescue`, carried by the queue aws."""

from functools import partial

from django.utils import timezone

from changes.calls import Sending
from changes.carrying_out import carry_out, check_danger, lake_to_change
from changes.documents import planned_result
from changes.gate import BEFORE_ANY_CHANGE, connection_of
from changes.plan import ChangePlan, Refusal
from coordinator.contract import CopyDocument, RefusedListing
from coordinator.models import DeltaTable
from coordinator.observation.reading import Reading
from coordinator.observation.saving import save_readings
from coordinator.own_records import records_for
from coordinator.protocols.wording import counted
from coordinator.repairs.carrying_out import AuditSnapshots, TableSnapshot, read_again
from coordinator.rescue.by_hand import ByHand
from coordinator.rescue.confirmed import (
    LIST_KIND,
    PLAN_KIND,
    RESTORE_KIND,
    ListRescueParams,
    ListRescueResult,
    PlanRescueParams,
    PlanRescueResult,
    RestoreRescueParams,
)
from coordinator.rescue.copies import SavedCopy, place_of_copy, read_name
from coordinator.rescue.listing import list_copies
from coordinator.rescue.planning import unreadable
from coordinator.rescue.proving import conclude, overtaken_before
from coordinator.rescue.reading import plan_copy
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobContext, JobOvertaken
from dashboard.jobs.registry import job_kind
from lake.aws.access import Lake, open_lake
from lake.aws.errors import AwsError


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
        now = _carry_out(context, params, connection, lake, plan)
    return f"{plan.title}: done, and proven by reading it back. {now}".strip()


def _plan_now(connection: Connection, lake: Lake, params: PlanRescueParams) -> ChangePlan | Refusal:
    try:
        copy = _copy_of(params)
    except ValueError as reason:
        return unreadable(params["uri"], str(reason))

    def keep(reading: Reading) -> None:
        save_readings(connection, [reading])

    return plan_copy(connection, lake, copy, keep)


def _copy_of(params: PlanRescueParams) -> SavedCopy:
    """The copy that the job is about. Raises ValueError where its id names none of the table's."""
    place, key = place_of_copy(params["copy"])
    if place.s3a != params["uri"]:
        raise ValueError("It is a copy of another table.")
    return read_name(place, key)


def _confirmed(params: RestoreRescueParams, made: ChangePlan | Refusal) -> ChangePlan:
    if isinstance(made, ChangePlan) and made.digest == params["digest"]:
        return made
    reason = (
        f"it is refused now: {made.reason}"
        if isinstance(made, Refusal)
        else "what the plan rests on has changed since it was shown: plan it again."
    )
    raise JobOvertaken(f"{BEFORE_ANY_CHANGE}: {reason}", overtaken_before(reason))


def _carry_out(
    context: JobContext, params: PlanRescueParams, connection: Connection, lake: Lake, plan: ChangePlan
) -> str:
    """Make the calls, read the table again, and return what it is now, as one sentence."""
    snapshots = AuditSnapshots(plan, TableSnapshot(copy=params["copy"]))
    sending = Sending(lake, check_cancelled=context.check_cancelled, records=records_for(context, connection))
    execution = carry_out(context, plan, snapshots, sending)
    plan_again = partial(_plan_now, connection, lake, params)
    return read_again(context, snapshots, lambda: conclude(connection, lake, plan, plan_again, execution))
