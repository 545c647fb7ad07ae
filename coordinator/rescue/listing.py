"""What lies in the rescue folder of a table, as S3 says it now."""

from collections.abc import Iterator
from itertools import islice
from typing import TypedDict

from coordinator.contract import CopyDocument
from coordinator.observation.storable import clean_text
from coordinator.rescue.copies import (
    NotUsable,
    SavedCopy,
    copy_id,
    is_marker,
    is_note,
    read_item,
    read_name,
    rescue_prefix,
)
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.aws.list_page import ObjectSummary
from lake.delta.uri import TableUri

MOST_LOOKED_AT = 20_000
"""Objects of one rescue folder that are listed: twenty requests."""
MOST_COPIES = 500
"""Copies of one table that are shown, the newest ones."""
MOST_UNREADABLE = 50
"""Objects of one table that are no copies and are shown all the same."""
MOST_ITEM_BYTES = 4 * 2**20
"""DynamoDB takes items of 400 KB; indented JSON of the smallest values is ten times as long."""


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
    try:
        return lake.s3.get(bucket, key).data
    except AwsError as error:
        if error.code == "NoSuchKey":
            raise NotUsable("It went while it was about to be read.") from error
        raise


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
