"""Reading saved copies: all that lie in the rescue folder of a table, and what putting one of them back rests on."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TypedDict

from django.utils import timezone

from changes.plan import ChangePlan, Refusal
from coordinator.contract import CopyDocument
from coordinator.observation.passes import survey_for_one_table, target_of
from coordinator.observation.storable import clean_text
from coordinator.observation.surveys import Survey
from coordinator.repairs.facts import FileCheck, RepairFacts, check_file
from coordinator.repairs.object_calls import MOST_BYTES, body_of
from coordinator.repairs.reading import Keep, account_of, read_file, read_for_repair
from coordinator.repairs.rescue import NOWHERE_KNOWN, CopiedFrom, table_note
from coordinator.repairs.table_under_repair import TableUnderRepair
from coordinator.rescue.copies import (
    NotUsable,
    SavedCopy,
    copy_id,
    is_marker,
    is_note,
    read_item,
    read_name,
    read_note,
    rescue_prefix,
)
from coordinator.rescue.planning import UNREADABLE, Restoring, by_hand, plan_file
from dashboard.connections.models import Connection
from lake.aws.access import Lake
from lake.aws.list_page import ObjectSummary
from lake.delta.names import commit_name
from lake.delta.uri import TableUri
from lake.delta.wire import in_order

MOST_LOOKED_AT = 20_000
"""Objects of one rescue folder that are listed: twenty requests."""
MOST_COPIES = 500
"""Copies of one table that are shown, the newest ones."""
MOST_UNREADABLE = 50
"""Objects of one table that are no copies and are shown all the same."""
MOST_ITEM_BYTES = 4 * 2**20
"""DynamoDB takes items of 400 KB; indented JSON of the smallest values is ten times as long."""
ABSENT = "The copy is not there any more."


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
    shown = [_document(lake, copy, summary) for copy, summary in copies[:MOST_COPIES]]
    shown += others[:MOST_UNREADABLE]
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
        "id": copy.id,
        "table": copy.place.s3a,
        "kind": copy.kind.value,
        "saved_at": copy.saved_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "repair": copy.repair,
        "version": version,
        "bytes": summary.size,
        "goes_to": clean_text(goes_to),
        "unreadable": "",
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


# One copy


def plan_copy(connection: Connection, lake: Lake, copy: SavedCopy, keep: Keep) -> ChangePlan | Refusal:
    """Read the table, then the copy, then its goal, strongly consistently, and plan; `keep` is given the reading.

    Raises AwsError.
    """
    survey = survey_for_one_table(connection, lake)
    facts = read_for_repair(lake, survey, target_of(connection, copy.place), timezone.now(), keep)
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
