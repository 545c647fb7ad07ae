"""The jobs of saved copies on the queue aws: `list-rescue`, `plan-rescue`, `restore-rescue`; and how these read.

What lies in the rescue folder of a table is listed; what putting one copy back rests on is read for it alone.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TypedDict

from django.utils import timezone

from changes.calls import Result, Sending
from changes.carrying_out import carry_out, check_danger, lake_to_change, overtaken_at, stopped_in_words, why_moved
from changes.documents import OvertakenDocument, planned_result
from changes.execution import Execution
from changes.gate import BEFORE_ANY_CHANGE, connection_of
from changes.plan import ChangePlan, Refusal
from coordinator.contract import CopyDocument, RefusedListing
from coordinator.models import DeltaTable
from coordinator.observation.passes import observe_one_table, survey_for_one_table, target_of
from coordinator.observation.surveys import Survey
from coordinator.protocols.wording import counted
from coordinator.repairs.carrying_out import READ_AGAIN, AuditSnapshots, Trouble, keep_in, read_again
from coordinator.repairs.facts import FileCheck, RepairFacts, check_file
from coordinator.repairs.object_calls import MOST_BYTES, body_of
from coordinator.repairs.reading import account_of, read_file, read_for_repair
from coordinator.repairs.rescue import NOWHERE_KNOWN, CopiedFrom, table_note
from coordinator.repairs.table_under_repair import TableUnderRepair
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
from coordinator.rescue.copies import (
    NotUsable,
    SavedCopy,
    copy_id,
    is_marker,
    is_note,
    place_of_copy,
    read_item,
    read_name,
    read_note,
    rescue_prefix,
)
from coordinator.rescue.planning import UNREADABLE, Restoring, by_hand, plan_file, unreadable
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobContext, JobFailed, JobOvertaken
from dashboard.jobs.registry import job_kind
from dashboard.storable import clean_text
from lake.aws.access import Lake, open_lake
from lake.aws.errors import AwsError
from lake.aws.list_page import ObjectSummary
from lake.delta.names import commit_name
from lake.delta.uri import TableUri
from lake.delta.wire import in_order

MOST_LOOKED_AT = 20_000
"""Objects of one rescue folder that are listed: twenty requests."""
MOST_SHOWN = 500
"""Objects of one table that are shown: the newest copies, then what is none."""
MOST_ITEM_BYTES = 4 * 2**20
"""DynamoDB takes items of 400 KB; indented JSON of the smallest values is ten times as long."""
ABSENT = "The copy is not there any more."

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
    command = made.command if isinstance(made, Refusal) else ""
    context.result(PlanRescueResult(**planned_result(made, read_at, lake.requests.total), command=command))
    return made.reason if isinstance(made, Refusal) else f"Planned: {made.title}."


@job_kind(RESTORE_KIND, queue="aws", verb="table.repair")
def restore_rescue(context: JobContext, params: RestoreRescueParams) -> str:
    """Carry out one confirmed plan."""
    connection = connection_of(context)
    with lake_to_change(context) as lake:
        with context.step("Read the table and the copy, and plan anew") as step:
            plan = _confirmed(params, _plan_now(connection, lake, params))
            check_danger(context, params, plan, params["name"], "table.repair-losing")
            step.then = (*(call.says for call in plan.calls), READ_AGAIN)
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
    return _plan_copy(connection, lake, copy)


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


# Reading what is saved


class Listing(TypedDict):
    """`left_out` are objects that were seen and are not shown; `more` says that not all were looked at."""

    copies: list[CopyDocument]
    left_out: int
    more: bool


def list_copies(lake: Lake, place: TableUri) -> Listing:
    """The newest copies of a table, and what lies beside them that is none. Raises AwsError."""
    found = list(islice(_objects(lake, place), MOST_LOOKED_AT + 1))
    more = len(found) > MOST_LOOKED_AT
    copies, others = [], []
    for summary in found[:MOST_LOOKED_AT]:
        try:
            copies.append((read_name(place, summary.key), summary))
        except NotUsable as reason:
            others.append(_unreadable(place, summary, str(reason)))
    copies.sort(key=lambda one: (one[0].saved_at, one[0].key), reverse=True)
    shown = [_document(lake, copy, summary) for copy, summary in copies[:MOST_SHOWN]]
    shown += others[: MOST_SHOWN - len(shown)]
    return {"copies": shown, "left_out": len(found) - more - len(shown), "more": more}


def _objects(lake: Lake, place: TableUri) -> Iterator[ObjectSummary]:
    for page in lake.s3.list(place.bucket, rescue_prefix(place)):
        yield from (one for one in page.objects if not is_marker(one.key) and not is_note(one.key))


def item_bytes(lake: Lake, bucket: str, key: str, size: int) -> bytes:
    """The bytes of an item's copy, or of a note. Raises NotUsable where it cannot be one, AwsError."""
    if size > MOST_ITEM_BYTES:
        raise NotUsable(f"It has {size:,} B, more than any item has.")
    body = body_of(lake, bucket, key)
    if body is None:
        raise NotUsable("It went while it was about to be read.")
    return body.data


def _document(lake: Lake, copy: SavedCopy, summary: ObjectSummary) -> CopyDocument:
    version, goes_to = copy.version, f"s3a://{copy.place.bucket}/{copy.goal}"
    if copy.kind.is_item:
        try:
            saved = read_item(copy, item_bytes(lake, copy.place.bucket, copy.key, summary.size))
        except NotUsable as reason:
            return _unreadable(copy.place, summary, str(reason))
        version, goes_to = saved.version, saved.goes_to
    return {
        **_unreadable(copy.place, summary, ""),
        "kind": copy.kind.value,
        "saved_at": copy.saved_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "repair": copy.repair,
        "version": version,
        "goes_to": clean_text(goes_to),
    }


def _unreadable(place: TableUri, summary: ObjectSummary, reason: str) -> CopyDocument:
    return {
        "id": clean_text(copy_id(place.bucket, summary.key)),
        "table": place.s3a,
        "kind": None,
        "saved_at": None,
        "repair": "",
        "version": None,
        "bytes": summary.size,
        "goes_to": "",
        "unreadable": clean_text(reason),
    }


# Reading one copy


def _plan_copy(connection: Connection, lake: Lake, copy: SavedCopy) -> ChangePlan | Refusal:
    """Read the table, store it, then the copy, then its goal, strongly consistently, and plan. Raises AwsError."""
    survey = survey_for_one_table(connection, lake)
    facts = read_for_repair(lake, survey, target_of(connection, copy.place), timezone.now(), keep_in(connection))
    facts = replace(facts, account=account_of(connection.role_arn))
    try:
        summary = lake.s3.head(copy.place.bucket, copy.key)
        if summary is None:
            raise NotUsable(ABSENT)
        if copy.kind.is_item:
            endpoint = connection.dynamodb_endpoint_url or connection.endpoint_url
            return _plan_item(lake, survey, facts, copy, summary, endpoint)
        return _plan_file(lake, facts, copy, summary)
    except NotUsable as reason:
        return Restoring(TableUnderRepair(facts), copy, NOWHERE_KNOWN).refuse(str(reason), UNREADABLE)


def _plan_file(lake: Lake, facts: RepairFacts, copy: SavedCopy, summary: ObjectSummary) -> ChangePlan | Refusal:
    bucket = copy.place.bucket
    if summary.size > MOST_BYTES:
        raise NotUsable(f"The copy has {summary.size:,} B; Levee copies no more than {MOST_BYTES:,}.")
    body, there = body_of(lake, bucket, copy.key), body_of(lake, bucket, copy.goal)
    if body is None:
        raise NotUsable(ABSENT)
    file = check_file(copy.name, body.data, body.etag)
    files = {**facts.files, **_neighbours(lake, facts, copy), copy.name: file}
    given = Restoring(TableUnderRepair(replace(facts, files=files)), copy, _noted(lake, copy))
    return plan_file(given, file, is_equal=there.data == body.data if there else None)


def _noted(lake: Lake, copy: SavedCopy) -> CopiedFrom:
    """What the note beside a file says; nothing where there is none. Raises NotUsable where it is none of Levee's."""
    key = table_note(copy.key)
    summary = lake.s3.head(copy.place.bucket, key)
    if summary is None:
        return NOWHERE_KNOWN
    try:
        return read_note(item_bytes(lake, copy.place.bucket, key, summary.size))
    except NotUsable as reason:
        raise NotUsable(f"{key} cannot be used: {reason}") from reason


def _plan_item(
    lake: Lake, survey: Survey, facts: RepairFacts, copy: SavedCopy, summary: ObjectSummary, endpoint: str
) -> Refusal:
    saved = read_item(copy, item_bytes(lake, copy.place.bucket, copy.key, summary.size))
    ours = survey.log_stores if saved.entry is not None else survey.coordinators
    if all(one.name != saved.store for one in ours):
        raise NotUsable(f"{saved.store} is no such store of this connection.")
    found = lake.dynamodb.get_item(saved.store, {name: dict(saved.item[name]) for name in saved.key_names})
    given = Restoring(TableUnderRepair(facts), copy, saved.copied_from)
    return by_hand(given, saved, None if found is None else in_order(found), endpoint)


def _neighbours(lake: Lake, facts: RepairFacts, copy: SavedCopy) -> dict[str, FileCheck | None]:
    """The published files of the copy's version and of those below and above it."""
    published = TableUnderRepair(facts).view.published
    around = () if copy.version is None else (copy.version - 1, copy.version, copy.version + 1)
    names = [commit_name(one) for one in around if one in published]
    return {name: read_file(lake, copy.place, name) for name in names}
