"""A proven table as the JSON and the lines that `levee prove` prints."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from backups.contract import BlockedDocument, PointJson
from backups.models import Plan, PointState
from lake.backup.objects import BucketPrefix
from lake.delta.restorable import REASONS, Blocked, TableAtVersion
from lake.delta.state import EPOCH
from lake.points.copies import log_of
from lake.points.proven import ProvenTable

MOST_SHOWN = 10
UNANCHORED = "Without --plan there is no source to compare with: a log of two tables need not contradict itself."
WITH_PLAN = "Tables of the source that the backup has nothing of are not looked for."


def point_document(table: ProvenTable, place: BucketPrefix, plan: Plan | None, now: datetime) -> PointJson:
    """What of the table can be restored, and what not. `now` is no earlier than its log was read."""
    proof, newest = table.proof, table.proof.newest
    accepted, accepted_at = (None, None) if table.not_known else (table.accepted, table.accepted_at)
    # By when its log was read, however long what was read has been waiting to be stored.
    state = _state(table, (table.read_at or now) - timedelta(hours=plan.objective_hours) if plan else None)
    return PointJson(
        id=None,
        plan=plan.name if plan else None,
        run=None,
        destination=place.uri,
        table=place.below(table.root).uri.rstrip("/"),
        incarnation=newest.table_id if newest else "",
        earlier=False,
        state=state,
        sentence=_sentence(table, state),
        anchored=table.is_anchored,
        version=newest.version if newest else None,
        committed_at=_moment(newest.committed_at if newest else None),
        holds_until=table.holds_until if newest or state == PointState.TOO_NEW else None,
        accepted_version=accepted,
        accepted_at=_moment(accepted_at),
        rpo_seconds=None if accepted is None or newest is None else _behind(table, newest),
        ranges=list(proof.ranges),
        unpublished=[
            {"version": version, "key": f"{log_of(table.root)}{name}"}
            for version, name in table.unpublished.items()
            if newest and version <= newest.version
        ],
        blocked=[_blocked(one) for one in proof.blocked],
        blocked_total=proof.blocked_total,
        files=newest.files if newest else 0,
        bytes=newest.bytes if newest else 0,
        proven_at=now,
        last_checked_at=None,
        last_drill_at=None,
        in_commit_timestamps=newest.has_own_time if newest else None,
        proof=table.kept or None,
        not_kept=table.not_kept,
        problems=[
            *([f"Not topped up from the source. {table.not_topped_up}"] if table.not_topped_up else []),
            *(f"{problem.place}: {problem.reason}" for problem in proof.problems),
        ],
    )


def _blocked(one: Blocked) -> BlockedDocument:
    return {"first_version": one.first, "version": one.last, "key": one.key, "reason": REASONS[one.reason]}


def _moment(milliseconds: int | None) -> datetime | None:
    try:
        return None if milliseconds is None else EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:  # a writer's own number, beyond the year 9999
        return None


def _behind(table: ProvenTable, newest: TableAtVersion) -> int | None:
    """Seconds from the commit of the newest version that can be restored to that of the newest one, by their
    writers' clocks; None where these do not say."""
    if newest.version == table.accepted:
        return 0
    if newest.committed_at is None or table.accepted_at is None or table.accepted_at < newest.committed_at:
        return None
    return (table.accepted_at - newest.committed_at) // 1_000


def _state(table: ProvenTable, promised: datetime | None) -> PointState:
    """By what S3 says of its objects, since a writer's clock may be wrong: every commit up to `promised` has to be in
    the backup, or without that every one."""
    newest, until, since = table.proof.newest, table.holds_until, table.lacking_since
    if table.accepted is None and table.waiting is None:
        return PointState.UNPROVABLE
    if (table.has_newest and not table.waiting) if promised is None else (until is not None and until > promised):
        return PointState.PROVEN if newest else PointState.TOO_NEW
    is_behind = promised is None or (since is not None and since <= promised)
    return PointState.BEHIND if newest and not table.has_newest and is_behind else PointState.UNPROVABLE


def _sentence(table: ProvenTable, state: PointState) -> str:
    """What its state means, in a sentence or two."""
    newest, accepted, problems = table.proof.newest, table.accepted, table.proof.problems
    where = "the source's log" if table.is_anchored else "its log in the backup"
    why = f" {problems[0].reason}" if problems else ""
    if state == PointState.TOO_NEW:
        return "The table is younger than the objective of the plan; nothing of it can be restored yet."
    if accepted is None:
        said = f"No version of {where} is known: there is none to compare with.{why}"
    elif newest is None:
        said = f"No version can be restored; {where} is at version {accepted:,}.{why}"
    elif newest.version == accepted:
        said = f"Version {accepted:,}, the newest of {where}, can be restored."
        said += "" if table.is_anchored else " That log was compared with no source's."
    else:
        said = f"Version {newest.version:,} can be restored; {where} is at version {accepted:,}."
        if state == PointState.BEHIND and table.is_anchored and table.lacking_since:
            said += f" What follows is lacking since {table.lacking_since:%Y-%m-%d %H:%M} UTC."
    if restorable := [version for version in table.unpublished if newest and version <= newest.version]:
        which = f"Version {restorable[0]:,} is" if len(restorable) == 1 else f"Versions from {restorable[0]:,} on are"
        said += f" {which} accepted and not published yet."
    if table.waiting:
        young = " It is younger than the objective of the plan." if state == PointState.PROVEN else ""
        said += f" Whether {table.waiting.name} was accepted is not known: {table.not_known}{young}"
    elif table.not_known:
        said += f" More was accepted, or may have been: {table.not_known}"
    return said


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
