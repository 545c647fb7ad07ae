"""Reading what putting one copy back rests on: the table first, then the copy, then the place that it goes to."""

import hashlib
from collections.abc import Callable
from dataclasses import replace

from django.utils import timezone

from changes.plan import ChangePlan, Refusal
from coordinator.observation.passes import survey_for_one_table, target_of
from coordinator.observation.reading import Reading
from coordinator.observation.surveys import Survey
from coordinator.repairs.facts import FileCheck, RepairFacts, check_file
from coordinator.repairs.object_calls import MOST_BYTES
from coordinator.repairs.reading import account_of, forget, read_file, read_for_repair
from coordinator.repairs.rescue import MOST_ITEM_BYTES, NOWHERE_KNOWN, CopiedFrom, read_note, table_note
from coordinator.repairs.table_under_repair import TableUnderRepair
from coordinator.rescue.copies import SavedCopy, SavedItem, read_item
from coordinator.rescue.facts import RestoreFacts, SavedFile
from coordinator.rescue.listing import kept_bytes
from coordinator.rescue.planning import plan_restore
from dashboard.connections.models import Connection
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.delta.names import commit_name
from lake.delta.wire import in_order

ABSENT = "The copy is not there any more."


def plan_copy(
    connection: Connection, lake: Lake, copy: SavedCopy, keep: Callable[[Reading], object] = forget
) -> ChangePlan | Refusal:
    """Read the table, the copy and its goal strongly consistently, and plan; `keep` is given the reading.

    Raises AwsError.
    """
    survey = survey_for_one_table(connection, lake)
    facts = read_for_repair(lake, survey, target_of(connection, copy.place), timezone.now(), keep)
    facts = replace(facts, account=account_of(connection.role_arn))
    given = (_read_item if copy.kind.is_item else _read_file)(lake, survey, facts, copy)
    return plan_restore(replace(given, endpoint=connection.dynamodb_endpoint_url or connection.endpoint_url))


def _read_file(lake: Lake, survey: Survey, facts: RepairFacts, copy: SavedCopy) -> RestoreFacts:
    summary = lake.s3.head(copy.place.bucket, copy.key)
    if summary is None:
        return RestoreFacts(TableUnderRepair(facts), copy, ABSENT)
    if summary.size > MOST_BYTES:
        return RestoreFacts(TableUnderRepair(facts), copy, file=SavedFile(summary.size, ""))
    data = _get(lake, copy.place.bucket, copy.key)
    if data is None:
        return RestoreFacts(TableUnderRepair(facts), copy, ABSENT)
    try:
        noted = _note(lake, copy)
    except ValueError as reason:
        return RestoreFacts(TableUnderRepair(facts), copy, f"{table_note(copy.key)} cannot be used: {reason}")
    there = _get(lake, copy.place.bucket, copy.goal)
    checks = {copy.name: check_file(copy.name, data, summary.etag)} | _neighbours(lake, facts, copy, copy.version)
    return RestoreFacts(
        TableUnderRepair(replace(facts, files={**facts.files, **checks})),
        copy,
        file=SavedFile(len(data), hashlib.sha256(data).hexdigest()),
        there=None if there is None else hashlib.sha256(there).hexdigest(),
        noted=noted,
    )


def _note(lake: Lake, copy: SavedCopy) -> CopiedFrom:
    """What the note beside a file says; nothing where there is none. Raises ValueError where it is none of Levee's."""
    key = table_note(copy.key)
    summary = lake.s3.head(copy.place.bucket, key)
    if summary is None:
        return NOWHERE_KNOWN
    if summary.size > MOST_ITEM_BYTES:
        raise ValueError(f"It has {summary.size:,} B, more than Levee writes.")
    return read_note(_get(lake, copy.place.bucket, key) or b"")


def _read_item(lake: Lake, survey: Survey, facts: RepairFacts, copy: SavedCopy) -> RestoreFacts:
    summary = lake.s3.head(copy.place.bucket, copy.key)
    if summary is None:
        return RestoreFacts(TableUnderRepair(facts), copy, ABSENT)
    try:
        kept = read_item(copy, kept_bytes(lake, copy, summary.size))
    except ValueError as reason:
        return RestoreFacts(TableUnderRepair(facts), copy, str(reason))
    store = kept.table or _store_of(facts, kept)
    ours = survey.log_stores if kept.entry is not None else survey.coordinators
    if all(one.name != store for one in ours):
        where = f"{store} is no such store of this connection" if store else "The copy does not say its DynamoDB table"
        return RestoreFacts(TableUnderRepair(facts), copy, f"{where}.")
    found = lake.dynamodb.get_item(store, {name: dict(kept.item[name]) for name in kept.key_names})
    return RestoreFacts(
        TableUnderRepair(facts), copy, kept=kept, store=store, found=None if found is None else in_order(found)
    )


def _store_of(facts: RepairFacts, kept: SavedItem) -> str:
    """The DynamoDB table of an item whose copy does not say: the one that holds, or held, the others of its lock."""
    if kept.entry is None:
        return facts.coordinator
    stores = {one.store for one in facts.lock_domains if one.path == kept.entry.table_path}
    return stores.pop() if len(stores) == 1 else ""


def _neighbours(lake: Lake, facts: RepairFacts, copy: SavedCopy, version: int | None) -> dict[str, FileCheck | None]:
    """The published files of a version and of those below and above it."""
    published = TableUnderRepair(facts).view.published
    around = () if version is None else (version - 1, version, version + 1)
    names = [commit_name(one) for one in around if one in published]
    return {name: read_file(lake, copy.place, name) for name in names}


def _get(lake: Lake, bucket: str, key: str) -> bytes | None:
    try:
        return lake.s3.get(bucket, key).data
    except AwsError as error:
        if error.code == "NoSuchKey":
            return None
        raise
