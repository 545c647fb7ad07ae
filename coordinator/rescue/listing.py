"""What lies in the rescue folder of a table, as S3 says it now."""

from collections.abc import Iterator
from typing import TypedDict

from coordinator.contract import CopyDocument
from coordinator.observation.storable import clean_text
from coordinator.repairs.rescue import MOST_ITEM_BYTES
from coordinator.rescue.copies import (
    SavedCopy,
    SavedItem,
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


class Listing(TypedDict):
    """`left_out` are objects that were seen and are not shown; `more` says that not all were looked at."""

    copies: list[CopyDocument]
    left_out: int
    more: bool


def list_copies(lake: Lake, place: TableUri) -> Listing:
    """The newest copies of a table, and what lies beside them that is none. Raises AwsError."""
    found, more = _objects(lake, place)
    copies, others = [], []
    for summary in found:
        try:
            copies.append((read_name(place, summary.key), summary))
        except ValueError as reason:
            others.append(_unreadable(place, summary, str(reason)))
    copies.sort(key=lambda one: (one[0].saved_at, one[0].key), reverse=True)
    shown = [_document(lake, copy, summary) for copy, summary in copies[:MOST_COPIES]]
    shown += others[:MOST_UNREADABLE]
    return {"copies": shown, "left_out": len(found) - len(shown), "more": more}


def _objects(lake: Lake, place: TableUri) -> tuple[list[ObjectSummary], bool]:
    found: list[ObjectSummary] = []
    for summary in _summaries(lake, place):
        if len(found) == MOST_LOOKED_AT:
            return found, True
        if not is_marker(summary.key) and not is_note(summary.key):
            found.append(summary)
    return found, False


def _summaries(lake: Lake, place: TableUri) -> Iterator[ObjectSummary]:
    for page in lake.s3.list(place.bucket, rescue_prefix(place)):
        yield from page.objects


def _document(lake: Lake, copy: SavedCopy, summary: ObjectSummary) -> CopyDocument:
    if not copy.kind.is_item:
        return _readable(copy, summary, copy.version, f"s3a://{copy.place.bucket}/{copy.goal}")
    try:
        kept = read_item(copy, kept_bytes(lake, copy, summary.size))
    except ValueError as reason:
        return _unreadable(copy.place, summary, str(reason))
    return _readable(copy, summary, kept.version, _goes_to(kept))


def kept_bytes(lake: Lake, copy: SavedCopy, size: int) -> bytes:
    """The bytes of an item's copy. Raises ValueError where it cannot be one, AwsError."""
    if size > MOST_ITEM_BYTES:
        raise ValueError(f"It has {size:,} B, more than any item has.")
    try:
        return lake.s3.get(copy.place.bucket, copy.key).data
    except AwsError as error:
        if error.code == "NoSuchKey":
            raise ValueError("It went while it was about to be read.") from error
        raise


def _goes_to(kept: SavedItem) -> str:
    where = kept.table or "the DynamoDB table that holds the table's other items"
    return f"{kept.name}, in {where}"


def _readable(copy: SavedCopy, summary: ObjectSummary, version: int | None, goes_to: str) -> CopyDocument:
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
