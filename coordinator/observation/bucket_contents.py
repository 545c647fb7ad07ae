"""The tables of a bucket as its settings are judged by: what waits in them, what they have lost, how large they are."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import OuterRef, Q, Subquery

from coordinator.models import Bucket, Commit, DeltaTable, Entry, TableFinding
from coordinator.protocols.bucket_tables import LostFile, TableInBucket, WaitingFile
from coordinator.protocols.log_sizes import read_ranges
from coordinator.protocols.log_store import UNPUBLISHED_CODES
from coordinator.protocols.verdict import State
from lake.delta.names import commit_name

_WAITING = (*UNPUBLISHED_CODES, "K3", "K6", "K7", "K12")
_LOST = ("C7", "C10", "C11", "K7")
_PUBLISHED = ("C4", "C5", "C9", "K4")
_DIFFERS = ("bytes-differ", "C4", "K4")
"""Codes of findings that say that a published file is not the accepted one, where they are unsafe."""

Place = tuple[int, int | None]
"""A table's id and a version."""


@dataclass(frozen=True, slots=True)
class _Found:
    """What open findings say of versions: since when a file is gone, and where the published one holds other bytes."""

    gone_since: dict[Place, datetime] = field(default_factory=dict)
    differs: set[Place] = field(default_factory=set)


def tables_in(bucket: Bucket) -> tuple[TableInBucket, ...]:
    """The tables of a bucket, by prefix: three queries, however many they are."""
    tables = DeltaTable.objects.filter(connection=bucket.connection_id, bucket=bucket.name, gone_at=None)
    of_bucket = {"table__connection": bucket.connection_id, "table__bucket": bucket.name, "table__gone_at": None}
    found = _found(TableFinding.objects.filter(resolved_at=None, code__in={*_LOST, *_DIFFERS}, **of_bucket))
    entries = Entry.objects.filter(_wanted(found), **of_bucket).order_by("version")
    waiting, lost = _sorted(entries, found)
    oldest = Commit.objects.filter(table=OuterRef("pk")).exclude(modified_at=None).order_by("modified_at")
    rows = tables.annotate(oldest_log=Subquery(oldest.values("modified_at")[:1])).order_by("prefix")
    return tuple(
        TableInBucket(
            prefix,
            waiting=tuple(waiting.get(pk, ())),
            lost=tuple(lost.get(pk, ())),
            oldest_log_at=oldest_log,
            log_sizes=read_ranges(sizes),
            is_read=error_at is None and observed_at is not None and state != State.NOT_CHECKED,
        )
        for pk, prefix, oldest_log, sizes, error_at, observed_at, state in rows.values_list(
            "pk", "prefix", "oldest_log", "log_sizes", "error_at", "observed_at", "state"
        )
    )


def _found(findings: Iterable[TableFinding]) -> _Found:
    found = _Found()
    for finding in findings:
        place = (finding.table_id, finding.version)
        if finding.code in _LOST:
            found.gone_since[place] = min(finding.opened_at, found.gone_since.get(place, finding.opened_at))
        elif finding.state == State.UNSAFE:
            found.differs.add(place)
    return found


def _wanted(found: _Found) -> Q:
    """Entries whose file may be the only copy of a commit."""
    waiting = Q(code__in=_WAITING) & ~Q(published=True)
    return waiting | Q(code__in=_PUBLISHED, table_id__in={table for table, _ in found.differs})


def _sorted(
    entries: Iterable[Entry], found: _Found
) -> tuple[Mapping[int, list[WaitingFile]], Mapping[int, list[LostFile]]]:
    waiting: defaultdict[int, list[WaitingFile]] = defaultdict(list)
    lost: defaultdict[int, list[LostFile]] = defaultdict(list)
    for entry in entries:
        place = (entry.table_id, entry.version)
        if entry.code in _PUBLISHED and place not in found.differs:
            continue
        if entry.file_present is False:
            gone_by = found.gone_since.get(place, entry.observed_at)
            lost[entry.table_id].append(LostFile(entry.version, _files(entry), gone_by))
        else:
            held = WaitingFile(entry.version, entry.file, entry.written_at, entry.file_size)
            waiting[entry.table_id].append(held)
    return waiting, lost


def _files(entry: Entry) -> tuple[str, ...]:
    """Names under which an old version of the commit may be kept."""
    published = (commit_name(entry.version),) if entry.complete else ()
    return (entry.file, *published) if entry.file else published
