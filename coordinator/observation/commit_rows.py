"""Commit rows: the versions in each log, and what their files say of themselves."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from django.db.models import Max, Min
from django.utils import timezone

from coordinator.models import Commit, DeltaTable
from coordinator.observation.reading import Reading
from coordinator.protocols.single_driver import RECENT
from dashboard.storable import make_storable
from lake.delta.facts import CommitInfo, LogListing, LogObject, TableFacts

_YEAR_3000_MS = 32_503_680_000_000
_FILE_FIELDS = ["published", "size", "modified_at", "etag", "has_checkpoint"]
_INFO_FIELDS = ["committed_at", "operation", "engine", "added_files", "removed_files"]
_BATCH = 500

Told = tuple[DeltaTable, Reading, TableFacts]
"""A table's row with a reading that brought facts of it."""
Held = Mapping[int, tuple[str, bool]]
"""Version to ETag and whether a checkpoint lies beside it, as stored."""


def save_commits(told: Sequence[Told]) -> None:
    """Upsert a row for each published version that is new or another file; a listing of the whole log also removes
    what has changed or gone.
    """
    held = _held([(table, facts.listing) for table, _, facts in told])
    described: list[Commit] = []
    plain: list[Commit] = []
    for table, reading, facts in told:
        rows = held[table.pk]
        _forget(table, facts.listing, rows, whole_log=reading.whole_log)
        for commit, is_described in _commits(table, reading, facts, rows):
            (described if is_described else plain).append(commit)
    _upsert(described, [*_FILE_FIELDS, *_INFO_FIELDS])
    _upsert(plain, _FILE_FIELDS)


def recall_engines(table_id: int) -> dict[str, tuple[int, int]]:
    """What wrote the commits of the last days that count, as their files say: first and last version by engine."""
    recent = Commit.objects.filter(table=table_id, modified_at__gte=timezone.now() - RECENT).exclude(engine="")
    rows = recent.order_by().values("engine").annotate(first=Min("version"), last=Max("version"))
    return {row["engine"]: (row["first"], row["last"]) for row in rows}


def moment(milliseconds: int | None) -> datetime | None:
    """Turn epoch milliseconds into a time; None for nothing and for what no clock can have shown."""
    if milliseconds is None or not 0 < milliseconds < _YEAR_3000_MS:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def _held(listings: Sequence[tuple[DeltaTable, LogListing]]) -> defaultdict[int, dict[int, tuple[str, bool]]]:
    held: defaultdict[int, dict[int, tuple[str, bool]]] = defaultdict(dict)
    tails = [(table, listing) for table, listing in listings if listing.from_version > 0]
    wholes = [table.pk for table, listing in listings if listing.from_version == 0]
    rows = Commit.objects.filter(table__in=wholes).values_list("table_id", "version", "etag", "has_checkpoint")
    for table_id, version, etag, has_checkpoint in rows.iterator():
        held[table_id][version] = etag, has_checkpoint
    for table, listing in tails:
        tail = table.commits.filter(version__gte=listing.from_version)
        held[table.pk] = {
            version: (etag, has) for version, etag, has in tail.values_list("version", "etag", "has_checkpoint")
        }
    return held


def _forget(table: DeltaTable, listing: LogListing, held: Held, *, whole_log: bool) -> None:
    """Remove rows of versions that are gone, and of those whose file is another: its words were the old one's."""
    vanished = [
        version
        for version, (etag, _) in held.items()
        if (whole_log and version not in listing.commits)
        or (version in listing.commits and listing.commits[version].etag[:64] != etag)
    ]
    for start in range(0, len(vanished), _BATCH):
        table.commits.filter(version__in=vanished[start : start + _BATCH]).delete()


def _upsert(commits: list[Commit], fields: list[str]) -> None:
    Commit.objects.bulk_create(
        commits, update_conflicts=True, update_fields=fields, unique_fields=["table", "version"], batch_size=_BATCH
    )


def _commits(table: DeltaTable, reading: Reading, facts: TableFacts, held: Held) -> Iterator[tuple[Commit, bool]]:
    for version, found in facts.listing.commits.items():
        info = facts.commit_infos.get(version)
        has_checkpoint = version in facts.listing.checkpoints
        if info is None and held.get(version) == (found.etag[:64], has_checkpoint):
            continue
        commit = _commit(table, version, found, has_checkpoint=has_checkpoint)
        if info is not None:
            _describe(commit, info, counted=version not in reading.partly_read)
        make_storable(commit)
        yield commit, info is not None


def _commit(table: DeltaTable, version: int, found: LogObject, *, has_checkpoint: bool) -> Commit:
    return Commit(
        table=table,
        version=version,
        published=True,
        size=found.size,
        modified_at=found.modified_at,
        etag=found.etag,
        has_checkpoint=has_checkpoint,
    )


def _describe(commit: Commit, info: CommitInfo, *, counted: bool) -> None:
    commit.committed_at = moment(info.in_commit_timestamp or info.timestamp)
    commit.operation, commit.engine = info.operation, info.engine
    if counted:
        commit.added_files, commit.removed_files = info.added_files, info.removed_files
