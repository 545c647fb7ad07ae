"""Commit and entry rows of one table: the versions in its log and the items that speak of them."""

from datetime import UTC, datetime

from coordinator.models import Commit, CommitStore, DeltaTable, Entry
from coordinator.observation.reading import Reading
from coordinator.protocols.verdict import Verdict
from lake.delta.facts import CommitInfo, LogObject, TableFacts

_YEAR_3000_MS = 32_503_680_000_000


def save_commits(table: DeltaTable, facts: TableFacts, *, whole_log: bool) -> None:
    """Upsert a row for each published version seen; a listing of the whole log also removes what it no longer has."""
    listing = facts.listing
    commits = [
        _commit(table, version, found, facts.commit_infos.get(version), has_checkpoint=version in listing.checkpoints)
        for version, found in listing.commits.items()
    ]
    if whole_log:
        first, last = min(listing.commits, default=0), max(listing.commits, default=-1)
        table.commits.filter(version__gt=last).delete()
        table.commits.filter(version__lt=first).delete()
        held = set(table.commits.values_list("version", flat=True))
        if vanished := held - set(listing.commits):
            table.commits.filter(version__in=vanished).delete()
    described = [commit for commit in commits if commit.version in facts.commit_infos]
    plain = [commit for commit in commits if commit.version not in facts.commit_infos]
    _upsert(described, [*_FILE_FIELDS, *_INFO_FIELDS])
    _upsert(plain, _FILE_FIELDS)


_FILE_FIELDS = ["published", "size", "modified_at", "etag", "has_checkpoint"]
_INFO_FIELDS = ["committed_at", "operation", "engine", "added_files", "removed_files"]


def _upsert(commits: list[Commit], fields: list[str]) -> None:
    if commits:
        Commit.objects.bulk_create(
            commits, update_conflicts=True, update_fields=fields, unique_fields=["table", "version"], batch_size=500
        )


def _commit(
    table: DeltaTable, version: int, found: LogObject, info: CommitInfo | None, *, has_checkpoint: bool
) -> Commit:
    commit = Commit(
        table=table,
        version=version,
        published=True,
        size=found.size,
        modified_at=found.modified_at,
        etag=found.etag[:64],
        has_checkpoint=has_checkpoint,
    )
    if info is not None:
        commit.committed_at = moment(info.in_commit_timestamp or info.timestamp)
        commit.operation, commit.engine = info.operation[:64], info.engine[:128]
        commit.added_files, commit.removed_files = info.added_files, info.removed_files
    return commit


def save_entries(table: DeltaTable, reading: Reading, verdict: Verdict, stores: dict[str, CommitStore]) -> None:
    """Store the entries as judged; where the whole log was read, entries not seen again are removed."""
    facts = reading.facts
    if facts is None:
        return
    rows = {
        (verdict_row.lock_domain, verdict_row.version): verdict_row
        for verdict_row in verdict.entries
        if 0 <= verdict_row.version < 2**63
    }
    originals = {(domain, entry.version): entry for domain, entries in facts.entries.items() for entry in entries}
    entries = []
    for (domain, version), judged in rows.items():
        store = _store_of_domain(table, reading, domain, stores)
        if store is None:
            continue
        original = originals.get((domain, version))
        entries.append(
            Entry(
                table=table,
                store=store,
                lock_domain=domain,
                version=version,
                code=judged.code,
                published=judged.published,
                file=judged.file[:1100],
                file_present=judged.file_present,
                file_size=judged.file_size,
                complete=judged.complete,
                expire_time=_within_64_bits(judged.expire_time),
                commit_time=_within_64_bits(original.commit_time) if original else None,
                written_at=judged.written_at,
                problems=list(original.problems) if original else [],
                observed_at=reading.observed_at,
            )
        )
    Entry.objects.bulk_create(
        entries,
        update_conflicts=True,
        update_fields=_ENTRY_FIELDS,
        unique_fields=["table", "lock_domain", "version"],
        batch_size=500,
    )
    _forget_entries(table, reading, facts)


_ENTRY_FIELDS = [
    "store", "code", "published", "file", "file_present", "file_size", "complete",
    "expire_time", "commit_time", "written_at", "problems", "observed_at",
]  # fmt: skip


def _forget_entries(table: DeltaTable, reading: Reading, facts: TableFacts) -> None:
    """Remove entries that this reading would have seen: all of them, or those of its window and of coordinators."""
    gone = table.entries.exclude(observed_at=reading.observed_at)
    if not reading.whole_log:
        gone = gone.filter(version__gte=facts.listing.from_version)
    gone.delete()


def _store_of_domain(
    table: DeltaTable, reading: Reading, domain: str, stores: dict[str, CommitStore]
) -> CommitStore | None:
    if reading.witness and domain in reading.witness.domains:
        return stores.get(reading.witness.domains[domain].store)
    return table.store or next((s for s in stores.values() if s.kind == CommitStore.Kind.COMMIT_COORDINATOR), None)


def _within_64_bits(number: int | None) -> int | None:
    return number if number is not None and -(2**63) <= number < 2**63 else None


def moment(milliseconds: int | None) -> datetime | None:
    """Turn epoch milliseconds into a time; None for nothing and for what no clock can have shown."""
    if milliseconds is None or not 0 < milliseconds < _YEAR_3000_MS:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
