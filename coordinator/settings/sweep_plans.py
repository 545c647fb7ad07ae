"""The plan of a sweep is its dry run: each table is listed and judged, and nothing is deleted."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial

from django.db.models import QuerySet

from changes.plan import NOTHING_TO_DO, ChangePlan, Equivalents
from coordinator.models import CommitStore, DeltaTable
from coordinator.observation.elsewhere import held_elsewhere, rows_elsewhere, seen_anywhere
from coordinator.protocols.judgement import QUIET_SECONDS
from coordinator.protocols.wording import counted, duration, joined, thousands
from coordinator.settings.requests import NotPlanned, Sweep
from coordinator.settings.sweep import FINISHED, SweepTable, Tally, sweep_table
from dashboard.connections.models import Connection
from lake.aws.access import Lake
from lake.delta.uri import TableUri

MOST_TABLES = 500
"""Tables that one sweep cleans; the next takes the rest."""


def plan_sweep(
    change: Sweep,
    connection: Connection,
    lake: Lake,
    now: datetime,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> ChangePlan:
    """Judge every old temp file of the tables; `progress` hears how many of them are done, and may raise.

    Raises NotPlanned, AwsError.
    """
    if now - change.moment < timedelta(seconds=QUIET_SECONDS):
        raise NotPlanned(
            "too-young",
            f"Sweep only files older than {duration(QUIET_SECONDS)}: a commit may take that long.",
        )
    stores = [store.name for store in CommitStore.objects.filter(connection=connection, kind="log_store")]
    if not stores:
        raise NotPlanned(
            "no-log-store",
            "No log store of this connection is known, so nothing tells which temp files an entry still needs.",
        )
    tables = list(_tables(change, connection))
    if not tables:
        raise NotPlanned("no-table", f"Levee knows no Delta table at s3://{change.bucket}/{change.prefix}.")
    shared = _of_several_locks(tables)
    calls = [sweep_call(change, table, stores) for table in tables if table.pk not in shared]
    if not calls:
        raise NotPlanned("several-locks", _left_out(len(shared)))
    return _plan(change, calls, lake, progress, [_left_out(len(shared))] if shared else [])


def sweep_call(change: Sweep, table: DeltaTable, stores: Sequence[str]) -> SweepTable:
    """The call for one table: an entry may stand under any spelling of its path, in any log store."""
    uri = TableUri("s3a", table.bucket, table.prefix)
    guards = table.domains
    paths = {*uri.table_paths(), *(domain.path for domain in guards)}
    domains = tuple((store, path) for store in sorted(stores) for path in sorted(paths))
    folder = f"{table.prefix}/_delta_log/" if table.prefix else "_delta_log/"
    says = f"Delete the finished temp files of {table.name} last written before {change.moment:%d %b %Y %H:%M} UTC."
    recall = partial(seen_anywhere, table)
    is_guarded = len(guards) == 1 and guards[0].store in stores
    return SweepTable(change.bucket, folder, change.before, domains, says, is_guarded=is_guarded, recall=recall)


def _tables(change: Sweep, connection: Connection) -> QuerySet[DeltaTable]:
    known = DeltaTable.objects.filter(connection=connection, bucket=change.bucket, gone_at=None).order_by("prefix")
    return known.filter(prefix=change.prefix) if change.prefix else known


def _of_several_locks(tables: Sequence[DeltaTable]) -> set[int]:
    """Tables whose entries lie, or ever lay, in several lock domains: a temp file may be all that is left of a commit
    that one of them accepted.
    """
    connection = tables[0].connection
    # Another connection ever saw entries of it in a store that this one does not reach.
    locked = (place for place, rows in rows_elsewhere(connection).items() if any(row.locks for row in rows))
    elsewhere = {*held_elsewhere(connection), *locked}
    return {table.pk for table in tables if len(table.domains) > 1 or (table.bucket, table.prefix) in elsewhere}


def _left_out(tables: int) -> str:
    return (
        f"{counted(tables, 'table')} left out: entries lie, or lay, in several log stores or under several spellings, "
        "so a temp file may be all that is left of an accepted commit."
    )


def _plan(
    change: Sweep,
    calls: Sequence[SweepTable],
    lake: Lake,
    progress: Callable[[int, int], None],
    left_out: Sequence[str],
) -> ChangePlan:
    whole = Tally()
    with_files = []
    for number, call in enumerate(calls, start=1):
        before = whole.verdicts[FINISHED]
        sweep_table(call, lake, delete=False, tally=whole, check_cancelled=lambda: None)
        progress(number, len(calls))
        if whole.verdicts[FINISHED] > before:
            with_files.append(call)
    if not with_files:
        kept = [*_kept(whole), *left_out]
        reason = (
            f"{counted(len(calls), 'table')} looked at: no finished temp file is that old. {' '.join(kept)}".strip()
        )
        raise NotPlanned(NOTHING_TO_DO, reason)
    return ChangePlan(
        kind=change.ACT,
        subject=change.bucket,
        title=f"Sweep finished temp files of {counted(len(with_files[:MOST_TABLES]), 'table')} in {change.bucket}",
        calls=tuple(with_files[:MOST_TABLES]),
        conditions=(
            "Each file is judged again just before: the published file of its version holds the same bytes, or its "
            "entry names another file, or the version's checksum is of another transaction.",
        ),
        consequences=(*_consequences(whole, len(with_files)), *left_out),
        equivalents=Equivalents(
            not_offered="each file is judged once more just before its deletion, which no command does."
        ),
    )


def _consequences(tally: Tally, tables: int) -> list[str]:
    told = [
        f"{counted(tally.verdicts[FINISHED], 'finished temp file')}, {tally.finished_bytes:,} B, found in this dry "
        f"run; among them {joined(tally.shown)}.",
        *_kept(tally),
        "Each is deleted only if it still has the ETag that was read.",
    ]
    if tables > MOST_TABLES:
        told.append(f"{thousands(tables - MOST_TABLES)} more tables have such files and stay for the next sweep.")
    return told


def _kept(tally: Tally) -> list[str]:
    kept = sorted((why, count) for why, count in tally.verdicts.items() if why != FINISHED)
    return [f"{counted(count, 'file')} kept, for {why}." for why, count in kept]
