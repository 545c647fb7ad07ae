"""The kinds of jobs of saved copies: `list-rescue`, `plan-rescue` and `restore-rescue`, carried by the queue aws."""

from typing import Any

from django.utils import timezone

from changes.calls import Sending
from changes.carrying_out import carry_out, check_danger, lake_to_change
from changes.documents import plan_document, refusal_document
from changes.gate import BEFORE_ANY_CHANGE, connection_of
from changes.plan import ChangePlan, Refusal
from coordinator.models import DeltaTable
from coordinator.observation.reading import Reading
from coordinator.observation.saving import save_readings
from coordinator.own_records import records_for
from coordinator.protocols.wording import counted
from coordinator.repairs.carrying_out import AuditSnapshots, Conclusion, read_again
from coordinator.rescue.confirmed import LIST_KIND, PLAN_KIND, RESTORE_KIND
from coordinator.rescue.copies import SavedCopy, place_of_copy, read_name
from coordinator.rescue.listing import CopyDocument, list_copies
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
def list_rescue(context: JobContext) -> str:
    """List what is saved aside of tables; params: tables (primary keys).

    The result holds `read_at`, `copies`, `left_out`, `more` and `not_listed`, the tables that S3 refused.
    """
    connection = connection_of(context)
    tables = DeltaTable.objects.filter(connection=connection, pk__in=context.params["tables"]).order_by("uri")
    copies: list[CopyDocument] = []
    refused: list[dict[str, str]] = []
    left_out, more = 0, False
    context.result(read_at=timezone.now().isoformat(), copies=copies, not_listed=refused)
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
    context.result(left_out=left_out, more=more, requests=lake.requests.total)
    listed_words = f"{counted(len(copies), 'object')} found in rescue folders."
    return f"{listed_words} {counted(len(refused), 'table')} could not be listed." if refused else listed_words


@job_kind(PLAN_KIND, queue="aws", verb="table.plan-repair", changes_lake=False)
def plan_rescue(context: JobContext) -> str:
    """Read one table and one copy and plan to put it back; params: uri, copy (its id).

    The result holds `read_at`, `plan` or `refusal`.
    """
    connection = connection_of(context)
    with open_lake(lake_access(connection)) as lake, context.step("Read the table and the copy"):
        read_at = timezone.now()
        made = _plan_now(connection, lake, context.params)
    context.result(
        read_at=read_at.isoformat(),
        requests=lake.requests.total,
        plan=None if isinstance(made, Refusal) else plan_document(made),
        refusal=refusal_document(made) if isinstance(made, Refusal) else None,
    )
    return made.reason if isinstance(made, Refusal) else f"Planned: {made.title}."


@job_kind(RESTORE_KIND, queue="aws", verb="table.repair")
def restore_rescue(context: JobContext) -> str:
    """Carry out one confirmed plan.

    params: uri, name, copy, digest, planned_by (the job that made the plan), confirm (what was typed), source.
    """
    connection = connection_of(context)
    with lake_to_change(context) as lake:
        with context.step("Read the table and the copy, and plan anew"):
            plan = _confirmed(context, _plan_now(connection, lake, context.params))
            check_danger(context, plan, context.params["name"], "table.repair-losing")
        now = _carry_out(context, connection, lake, plan)
    return f"{plan.title}: done, and proven by reading it back. {now}".strip()


def _plan_now(connection: Connection, lake: Lake, params: dict[str, Any]) -> ChangePlan | Refusal:
    try:
        copy = _copy_of(params)
    except ValueError as reason:
        return unreadable(params["uri"], str(reason))

    def keep(reading: Reading) -> None:
        save_readings(connection, [reading])

    return plan_copy(connection, lake, copy, keep)


def _copy_of(params: dict[str, Any]) -> SavedCopy:
    """The copy that the job is about. Raises ValueError where its id names none of the table's."""
    place, key = place_of_copy(params["copy"])
    if place.s3a != params["uri"]:
        raise ValueError("It is a copy of another table.")
    return read_name(place, key)


def _confirmed(context: JobContext, made: ChangePlan | Refusal) -> ChangePlan:
    if isinstance(made, ChangePlan) and made.digest == context.params["digest"]:
        return made
    reason = (
        f"it is refused now: {made.reason}"
        if isinstance(made, Refusal)
        else "what the plan rests on has changed since it was shown: plan it again."
    )
    raise JobOvertaken(f"{BEFORE_ANY_CHANGE}: {reason}", overtaken_before(reason))


def _carry_out(context: JobContext, connection: Connection, lake: Lake, plan: ChangePlan) -> str:
    """Make the calls, read the table again, and return what it is now, as one sentence."""
    snapshots = AuditSnapshots.begun(plan, copy=context.params["copy"])
    sending = Sending(lake, check_cancelled=context.check_cancelled, records=records_for(context, connection))
    execution = carry_out(context, plan, snapshots, sending)

    def concluded() -> Conclusion:
        return conclude(connection, lake, plan, execution, lambda: _plan_now(connection, lake, context.params))

    return read_again(context, snapshots, concluded)
