"""A proven table as the JSON and the lines that `levee prove` prints."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.utils import timezone

from backups.contract import BlockedDocument, PointJson
from backups.points.proving import ProvenTable
from lake.backup.objects import BucketPrefix
from lake.delta.restorable import REASONS, Blocked
from lake.delta.state import EPOCH

MOST_SHOWN = 10
UNANCHORED = "Without --plan there is no source to compare with: a log of two tables need not contradict itself."
WITH_PLAN = "Tables of the source that the backup has nothing of are not looked for."


def point_document(table: ProvenTable, place: BucketPrefix, plan: str | None) -> PointJson:
    """What of the table can be restored, and what not."""
    proof, newest = table.proof, table.proof.newest
    at = newest.committed_at if newest else None
    accepted, accepted_at = (None, None) if table.unpublished else (table.published, table.published_at)
    lag = None if at is None or accepted_at is None else max(0, accepted_at - at) // 1_000
    is_newest = newest is not None and newest.version == accepted
    return PointJson(
        id=None,
        plan=plan,
        run=None,
        table=place.below(table.root).uri.rstrip("/"),
        incarnation=newest.table_id if newest else "",
        state=_state(table),
        sentence=_sentence(table),
        anchored=table.is_anchored,
        version=newest.version if newest else None,
        committed_at=_moment(at),
        accepted_version=accepted,
        accepted_at=_moment(accepted_at),
        rpo_seconds=0 if is_newest else lag,
        ranges=list(proof.ranges),
        blocked=[_blocked(one) for one in proof.blocked],
        blocked_total=proof.blocked_total,
        files=newest.files if newest else 0,
        bytes=newest.bytes if newest else 0,
        proven_at=timezone.now(),
        last_checked_at=None,
        last_drill_at=None,
        proof=None,
        problems=[f"{problem.place}: {problem.reason}" for problem in proof.problems],
    )


def _blocked(one: Blocked) -> BlockedDocument:
    return {"first_version": one.first, "version": one.last, "key": one.key, "reason": REASONS[one.reason]}


def _moment(milliseconds: int | None) -> datetime | None:
    try:
        return None if milliseconds is None else EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:  # a writer's own number, beyond the year 9999
        return None


def _state(table: ProvenTable) -> str:
    newest = table.proof.newest
    if newest is None or table.published is None:
        return "unprovable"
    if newest.version < table.published:
        return "behind"
    return "unprovable" if table.unpublished else "proven"


def _sentence(table: ProvenTable) -> str:
    """What its state means, in one sentence or two."""
    newest, published = table.proof.newest, table.published
    where = "the source's log" if table.is_anchored else "its log in the backup"
    if published is None:
        return f"Nothing is published in {where}: there is no version to compare with."
    if newest is None:
        return f"No version can be restored; {where} is at version {published:,}."
    if newest.version < published:
        return f"Version {newest.version:,} can be restored; {where} is at version {published:,}."
    if table.unpublished:
        return (
            f"Version {newest.version:,}, the newest published in {where}, can be restored. Whether a later one was "
            f"accepted, for which {table.unpublished} lies there, only DynamoDB tells, which was not asked."
        )
    can_be = f"Version {newest.version:,}, the newest of {where}, can be restored"
    return f"{can_be}." if table.is_anchored else f"{can_be}; that log was compared with no source's."


def lines_of(point: PointJson) -> Iterator[str]:
    """A table for people."""
    yield f"{point['state'].upper():10}  {point['table']}"
    yield f"  {point['sentence']}"
    if point["ranges"]:
        ranges = ", ".join(str(first) if first == last else f"{first} to {last}" for first, last in point["ranges"])
        yield f"  Restorable: {ranges}. Data files at the newest: {point['files']:,}, of {point['bytes']:,} bytes."
    for one in point["blocked"][:MOST_SHOWN]:
        yield f"  Needed by versions {one['first_version']} to {one['version']}: {one['key']}: {one['reason']}."
    if point["blocked_total"] > MOST_SHOWN:
        yield f"  {point['blocked_total'] - MOST_SHOWN:,} more files are lacking."
    yield from (f"  {problem}" for problem in point["problems"])
