"""Reading what putting one copy back rests on: the table first, then the copy, then the place that it goes to."""

from dataclasses import replace

from django.utils import timezone

from changes.plan import ChangePlan, Refusal
from coordinator.observation.passes import survey_for_one_table, target_of
from coordinator.observation.surveys import Survey
from coordinator.repairs.facts import FileCheck, RepairFacts, check_file
from coordinator.repairs.object_calls import MOST_BYTES
from coordinator.repairs.reading import Keep, account_of, read_file, read_for_repair
from coordinator.repairs.rescue import NOWHERE_KNOWN, CopiedFrom, table_note
from coordinator.repairs.table_under_repair import TableUnderRepair
from coordinator.rescue.copies import NotUsable, SavedCopy, read_item, read_note
from coordinator.rescue.listing import item_bytes
from coordinator.rescue.planning import UNREADABLE, Restoring, by_hand, plan_file
from dashboard.connections.models import Connection
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.aws.list_page import ObjectSummary
from lake.delta.names import commit_name
from lake.delta.wire import in_order


def plan_copy(connection: Connection, lake: Lake, copy: SavedCopy, keep: Keep) -> ChangePlan | Refusal:
    """Read the table, the copy and its goal strongly consistently, and plan; `keep` is given the reading.

    Raises AwsError.
    """
    survey = survey_for_one_table(connection, lake)
    facts = read_for_repair(lake, survey, target_of(connection, copy.place), timezone.now(), keep)
    facts = replace(facts, account=account_of(connection.role_arn))
    try:
        summary = lake.s3.head(copy.place.bucket, copy.key)
        if summary is None:
            raise NotUsable("The copy is not there any more.")
        if copy.kind.is_item:
            endpoint = connection.dynamodb_endpoint_url or connection.endpoint_url
            return _plan_item(lake, survey, facts, copy, summary, endpoint)
        return _plan_file(lake, facts, copy, summary)
    except NotUsable as reason:
        return Restoring(TableUnderRepair(facts), copy, NOWHERE_KNOWN).refuse(str(reason), UNREADABLE)


def _plan_file(lake: Lake, facts: RepairFacts, copy: SavedCopy, summary: ObjectSummary) -> ChangePlan | Refusal:
    bucket = copy.place.bucket
    if summary.size > MOST_BYTES:
        raise NotUsable(f"The copy has {summary.size:,} B; one PUT takes no more than {MOST_BYTES:,}.")
    body = lake.s3.get(bucket, copy.key)
    file, there = check_file(copy.name, body.data, body.etag), _bytes_at(lake, bucket, copy.goal)
    files = {**facts.files, **_neighbours(lake, facts, copy), copy.name: file}
    given = Restoring(TableUnderRepair(replace(facts, files=files)), copy, _noted(lake, copy))
    return plan_file(given, file, is_equal=None if there is None else there == body.data)


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


def _bytes_at(lake: Lake, bucket: str, key: str) -> bytes | None:
    try:
        return lake.s3.get(bucket, key).data
    except AwsError as error:
        if error.code == "NoSuchKey":
            return None
        raise
