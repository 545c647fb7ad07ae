"""Entry rows: items of log stores and elements of registrations, as judged."""

from collections.abc import Iterator, Mapping, Sequence

from django.db.models import QuerySet

from coordinator.models import CommitStore, DeltaTable, Entry
from coordinator.observation.reading import Reading
from coordinator.observation.storable import make_storable
from coordinator.protocols.verdict import EntryVerdict, Verdict
from lake.delta.facts import LockDomain, LogListing, LogStoreEntry, TableFacts

_FIELDS = [
    "code", "published", "file", "file_present", "file_size", "complete",
    "expire_time", "commit_time", "written_at", "problems", "observed_at",
]  # fmt: skip


def save_entries(pairs: Sequence[tuple[DeltaTable, Reading]], stores: Mapping[str, CommitStore]) -> None:
    """Upsert the entries as judged, and remove those that the reading would have seen and did not see."""
    rows: dict[tuple[int, int, str, int], Entry] = {}
    for table, reading in pairs:
        if reading.facts is not None and reading.verdict is not None:
            for row in _rows(table, reading, reading.facts, reading.verdict, stores):
                make_storable(row)
                rows[table.pk, row.store_id, row.lock_domain, row.version] = row
    Entry.objects.bulk_create(
        list(rows.values()),
        update_conflicts=True,
        update_fields=_FIELDS,
        unique_fields=["table", "store", "lock_domain", "version"],
        batch_size=500,
    )
    for table, reading in pairs:
        if reading.listing is not None:
            _unseen(table, reading, reading.listing).delete()


def _rows(
    table: DeltaTable, reading: Reading, facts: TableFacts, verdict: Verdict, stores: Mapping[str, CommitStore]
) -> Iterator[Entry]:
    originals = {(domain, entry.version): entry for domain, entries in facts.entries.items() for entry in entries}
    for entry in verdict.entries:
        store = stores.get(entry.store)
        if store is not None and 0 <= entry.version < 2**63:
            domain = LockDomain(entry.store, entry.lock_domain)
            yield _row(table, store, reading, entry, originals.get((domain, entry.version)))


def _row(
    table: DeltaTable, store: CommitStore, reading: Reading, judged: EntryVerdict, original: LogStoreEntry | None
) -> Entry:
    return Entry(
        table=table,
        store=store,
        lock_domain=judged.lock_domain,
        version=judged.version,
        code=judged.code,
        published=judged.published,
        file=judged.file,
        file_present=judged.file_present,
        file_size=judged.file_size,
        complete=judged.complete,
        expire_time=judged.expire_time,
        commit_time=original.commit_time if original else None,
        written_at=judged.written_at,
        problems=list(original.problems) if original else [],
        observed_at=reading.observed_at,
    )


def _unseen(table: DeltaTable, reading: Reading, listing: LogListing) -> QuerySet[Entry]:
    unseen = table.entries.exclude(observed_at=reading.observed_at)
    return unseen if reading.whole_log else unseen.filter(version__gte=listing.from_version)
