"""The tables of a bucket as its settings are judged by: what waits in them, what they have lost, how large they are."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import OuterRef, Q, Subquery

from coordinator.models import Bucket, Commit, DeltaTable, Entry, TableFinding
from coordinator.protocols.bucket_tables import LostFile, TableInBucket, WaitingFile
from coordinator.protocols.deadlines import read_moment
from coordinator.protocols.last_copies import LAST_COPIES, LOST_FILES
from coordinator.protocols.log_sizes import read_ranges
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
    """The tables of a bucket, by prefix: three queries, however many they are."""
    tables = DeltaTable.objects.filter(connection=bucket.connection_id, bucket=bucket.name, gone_at=None)
    of_bucket = {"table__connection": bucket.connection_id, "table__bucket": bucket.name, "table__gone_at": None}
    held: defaultdict[int, _FilesOfTable] = defaultdict(_FilesOfTable)
    for finding in TableFinding.objects.filter(_UNDECIDED | _NAMING_FILES, resolved_at=None, **of_bucket):
        _take_finding(held[finding.table_id], finding)
    for entry in Entry.objects.filter(Q(code__in=_WAITING) & ~Q(published=True), **of_bucket):
        _take_entry(held[entry.table_id], entry)
    oldest = Commit.objects.filter(table=OuterRef("pk")).exclude(modified_at=None).order_by("modified_at")
    rows = tables.annotate(oldest_log=Subquery(oldest.values("modified_at")[:1])).order_by("prefix")
    return tuple(
        TableInBucket(
            prefix,
            waiting=tuple(one for _, one in sorted(held[pk].waiting.items())),
            lost=tuple(one for _, one in sorted(held[pk].lost.items())),
            oldest_log_at=oldest_log,
            log_sizes=read_ranges(sizes),
            is_read=error_at is None and observed_at is not None and state != State.NOT_CHECKED and held[pk].is_decided,
        )
        for pk, prefix, oldest_log, sizes, error_at, observed_at, state in rows.values_list(
            "pk", "prefix", "oldest_log", "log_sizes", "error_at", "observed_at", "state"
        )
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
