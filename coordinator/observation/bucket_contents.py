"""The tables of a bucket as its settings are judged by: what waits in them, what they have lost, how large they are."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.db.models import Case, Exists, OuterRef, Q, Subquery, When

from coordinator.models import Bucket, Commit, DeltaTable, Entry, TableFinding
from coordinator.observation.elsewhere import connections_of_same_s3
from coordinator.protocols.bucket_tables import LostFile, TableInBucket, WaitingFile, read_ranges
from coordinator.protocols.deadlines import read_moment
from coordinator.protocols.last_copies import LAST_COPIES, LOST_FILES
from coordinator.protocols.log_store import UNPUBLISHED_CODES
from coordinator.protocols.verdict import Severity, State
from lake.delta.names import commit_name

_WAITING = (*UNPUBLISHED_CODES, "K3", "K6", "K7", "K12")
_UNDECIDED = Q(state=State.NOT_CHECKED) | Q(code="undecided")
"""Findings that leave open whether a commit waits, whatever else is wrong with the table."""
_NAMING_FILES = Q(evidence__has_any_keys=[LAST_COPIES, LOST_FILES])


@dataclass(slots=True)
class _FilesOfTable:
    """What is known of one table: its files that hold a commit by name, its lost files by version."""

    waiting: dict[tuple[int, str], WaitingFile] = field(default_factory=dict)
    lost: dict[int, LostFile] = field(default_factory=dict)
    is_decided: bool = True


def tables_in(bucket: Bucket) -> tuple[TableInBucket, ...]:
    """The tables of a bucket, by prefix: a few queries, however many they are.

    What other connections know to wait in them, or to be lost, counts too: a rule takes it whoever knows.
    """
    connections = [bucket.connection_id, *connections_of_same_s3(bucket.connection)]
    tables = DeltaTable.objects.filter(connection__in=connections, bucket=bucket.name, gone_at=None)
    of_bucket = {"table__connection__in": connections, "table__bucket": bucket.name, "table__gone_at": None}
    held: defaultdict[int, _FilesOfTable] = defaultdict(_FilesOfTable)
    for finding in TableFinding.objects.filter(_UNDECIDED | _NAMING_FILES, resolved_at=None, **of_bucket):
        _take_finding(held[finding.table_id], finding)
    waiting = Q(code__in=_WAITING) & ~Q(published=True) & ~_published_since(bucket)
    for entry in Entry.objects.filter(waiting, **of_bucket):
        _take_entry(held[entry.table_id], entry)
    oldest = Commit.objects.filter(table=OuterRef("pk")).exclude(modified_at=None).order_by("modified_at")
    is_own = Case(When(connection=bucket.connection_id, then=0), default=1)
    rows = tables.annotate(oldest_log=Subquery(oldest.values("modified_at")[:1])).order_by("prefix", is_own, "pk")
    by_prefix = groupby(rows, key=lambda row: row.prefix)
    return tuple(_table_in(prefix, list(of_place), held) for prefix, of_place in by_prefix)


def _published_since(bucket: Bucket) -> Exists:
    """Of what another connection read to wait: that this one has since found the version published."""
    later = Commit.objects.filter(
        table__connection=bucket.connection_id,
        table__bucket=bucket.name,
        table__prefix=OuterRef("table__prefix"),
        table__observed_at__gt=OuterRef("table__observed_at"),
        version=OuterRef("version"),
    )
    return Exists(later.exclude(table=OuterRef("table")))


def _table_in(prefix: str, rows: Sequence[DeltaTable], held: Mapping[int, _FilesOfTable]) -> TableInBucket:
    """One table by the row of this connection, or of another one that alone has one; its files by all of them."""
    first, files = rows[0], _FilesOfTable()
    for row in rows:
        known = held.get(row.pk, _FilesOfTable())
        for key, one in known.waiting.items():
            files.waiting.setdefault(key, one)
            if one.is_certain:
                files.waiting[key] = one
        for lost in known.lost.values():
            _lose(files, lost)
    was_read = not first.error_at and first.observed_at is not None and first.state != State.NOT_CHECKED
    return TableInBucket(
        prefix,
        waiting=tuple(one for _, one in sorted(files.waiting.items())),
        lost=tuple(one for _, one in sorted(files.lost.items())),
        oldest_log_at=getattr(first, "oldest_log", None),
        log_sizes=read_ranges(first.log_sizes),
        is_read=was_read and (first.pk not in held or held[first.pk].is_decided),
    )


def _take_finding(held: _FilesOfTable, finding: TableFinding) -> None:
    """What an open finding leaves as last copies, and what it says is lost since it was opened, or longer."""
    if finding.state == State.NOT_CHECKED or finding.code == "undecided":
        held.is_decided = False
    for one in finding.evidence.get(LAST_COPIES, ()):
        copy = _copy(finding, one)
        known = held.waiting.get((copy.version, copy.file))
        if known is None or (copy.is_certain and not known.is_certain):
            held.waiting[copy.version, copy.file] = copy
    for one in finding.evidence.get(LOST_FILES, ()):
        _lose(held, LostFile(one["version"], tuple(one["files"]), finding.opened_at))


def _copy(finding: TableFinding, one: Mapping[str, Any]) -> WaitingFile:
    is_certain = finding.severity == Severity.CRITICAL
    written_at = read_moment(one["written_at"])
    return WaitingFile(one["version"], one["file"], written_at, one["size"], is_last_copy=True, is_certain=is_certain)


def _take_entry(held: _FilesOfTable, entry: Entry) -> None:
    """The file of a commit that is accepted and not published: it waits in it, or is lost with it."""
    if entry.file_present is False:
        if entry.version not in held.lost:
            held.lost[entry.version] = LostFile(entry.version, _files(entry), entry.observed_at)
        return
    waiting = WaitingFile(entry.version, entry.file, entry.written_at, entry.file_size)
    held.waiting[entry.version, entry.file] = waiting


def _lose(held: _FilesOfTable, lost: LostFile) -> None:
    """Add what is lost of a version; the first finding that said so counts."""
    known = held.lost.get(lost.version)
    if known is not None:
        files = tuple(dict.fromkeys((*known.files, *lost.files)))
        lost = LostFile(lost.version, files, min(known.gone_by, lost.gone_by))
    held.lost[lost.version] = lost


def _files(entry: Entry) -> tuple[str, ...]:
    """Names under which an old version of the commit may be kept."""
    published = (commit_name(entry.version),) if entry.complete else ()
    return (entry.file, *published) if entry.file else published
