"""Commit rows: the versions in each log, and what their files say of themselves."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from django.db.models import Q

from coordinator.models import Commit, DeltaTable
from coordinator.observation.reading import Reading
from lake.delta.facts import CommitInfo, LogObject, TableFacts

_YEAR_3000_MS = 32_503_680_000_000
_FILE_FIELDS = ["published", "size", "modified_at", "etag", "has_checkpoint"]
_INFO_FIELDS = ["committed_at", "operation", "engine", "added_files", "removed_files"]


def save_commits(pairs: Sequence[tuple[DeltaTable, Reading]]) -> None:
    """Upsert a row for each published version seen; listing the whole log also removes what changed or went."""
    described: list[Commit] = []
    plain: list[Commit] = []
    for table, reading in pairs:
        if reading.facts is None:
            continue
        if reading.whole_log and reading.target.known is not None:
            _forget(table, reading.facts)
        for commit, is_described in _commits(table, reading.facts):
            (described if is_described else plain).append(commit)
    _upsert(described, [*_FILE_FIELDS, *_INFO_FIELDS])
    _upsert(plain, _FILE_FIELDS)


def moment(milliseconds: int | None) -> datetime | None:
    """Turn epoch milliseconds into a time; None for nothing and for what no clock can have shown."""
    if milliseconds is None or not 0 < milliseconds < _YEAR_3000_MS:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def _forget(table: DeltaTable, facts: TableFacts) -> None:
    listed = facts.listing.commits
    first, last = min(listed, default=0), max(listed, default=-1)
    table.commits.filter(Q(version__gt=last) | Q(version__lt=first)).delete()
    held = table.commits.values_list("version", "etag")
    if vanished := [version for version, etag in held if version not in listed or listed[version].etag[:64] != etag]:
        table.commits.filter(version__in=vanished).delete()


def _upsert(commits: list[Commit], fields: list[str]) -> None:
    Commit.objects.bulk_create(
        commits, update_conflicts=True, update_fields=fields, unique_fields=["table", "version"], batch_size=500
    )


def _commits(table: DeltaTable, facts: TableFacts) -> Iterator[tuple[Commit, bool]]:
    listing = facts.listing
    for version, found in listing.commits.items():
        commit = _commit(table, version, found, has_checkpoint=version in listing.checkpoints)
        info = facts.commit_infos.get(version)
        if info is not None:
            _describe(commit, info)
        yield commit, info is not None


def _commit(table: DeltaTable, version: int, found: LogObject, *, has_checkpoint: bool) -> Commit:
    return Commit(
        table=table,
        version=version,
        published=True,
        size=found.size,
        modified_at=found.modified_at,
        etag=found.etag[:64],
        has_checkpoint=has_checkpoint,
    )


def _describe(commit: Commit, info: CommitInfo) -> None:
    commit.committed_at = moment(info.in_commit_timestamp or info.timestamp)
    commit.operation, commit.engine = info.operation[:64], info.engine[:128]
    commit.added_files, commit.removed_files = info.added_files, info.removed_files
