"""Storing what a pass read of tables, their entries and findings.

Rows are updated, never thrown away because a later reading failed.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from coordinator.models import CommitStore, DeltaTable, Entry, TableFinding
from coordinator.observation.commit_rows import Told, moment, save_commits
from coordinator.observation.failures import Failure, failure_of
from coordinator.observation.provenance_rows import save_provenance
from coordinator.observation.reading import Reading
from coordinator.protocols.bucket_tables import Stored, joined_ranges, ranges_of, read_ranges, stored_ranges
from coordinator.protocols.log_view import LogView
from coordinator.protocols.registrations import OF_REGISTRATIONS, current_registration
from coordinator.protocols.verdict import Finding, Severity, State, Verdict
from dashboard.connections.models import Connection
from dashboard.storable import make_storable
from lake.delta.facts import LockDomain, LogListing, TableFacts

CHUNK = 50
"""Tables stored in one transaction: short enough that other writers of SQLite wait only milliseconds."""

_TOLD = ("severity", "state", "state_rank", "summary", "meaning", "evidence", "repairs")

_ENTRY_KEY = ("lock_domain", "version")
_ENTRY_WORDS = ("code", "published", "file", "file_present", "file_size", "complete", "expire_time", "written_at")
_JUDGED = (*_ENTRY_KEY, *_ENTRY_WORDS)
"""Fields of a judged entry that its row has as well."""


def save_unchanged(readings: Sequence[Reading]) -> None:
    """Note that these tables were read and are as they were, at the beginning of the first of these readings.

    What was not there at `observed_at` was not there when that reading began: a later time would say too much.
    """
    if readings:
        since = min(reading.observed_at for reading in readings)
        ids = [reading.target.known.id for reading in readings if reading.target.known is not None]
        DeltaTable.objects.filter(pk__in=ids).update(observed_at=since, error_at=None, error_code="", error_text="")


def save_readings(connection: Connection, readings: Iterable[Reading]) -> int:
    """Store changed and failed readings of one chunk; a place that never held a table gets no row.

    Where the chunk as a whole cannot be stored, each table is stored by itself, and one that still cannot be keeps its
    rows and says so. Returns how many those are. Raises what the database raises when it takes not even that.
    """
    present = [reading for reading in readings if reading.target.known is not None or not reading.is_gone]
    try:
        _save(connection, present)
    except Exception:  # noqa: BLE001 - whatever one table does to the statement, the others are not to suffer
        return sum(_save_alone(connection, reading) for reading in present)
    return 0


def _save_alone(connection: Connection, reading: Reading) -> bool:
    try:
        _save(connection, [reading])
    except Exception as error:  # noqa: BLE001 - stored as the table's failure, or raised again from there
        failure = failure_of(error, f"Storing {reading.target.uri.s3a}")
        _save(connection, [Reading(reading.target, reading.observed_at, error=failure)])
        return True
    return False


@transaction.atomic
def _save(connection: Connection, readings: Sequence[Reading]) -> None:
    stores = {store.name: store for store in CommitStore.objects.filter(connection=connection)}
    pairs = [(table, reading) for table, reading in _locked(connection, readings) if not _is_overtaken(table, reading)]
    for table, reading in pairs:
        _fill(table, reading, stores)
        make_storable(table)
        table.save()
    told = [
        (table, reading, reading.facts) for table, reading in pairs if reading.facts is not None and not reading.is_gone
    ]
    save_commits(told)
    _save_entries(told, stores)
    save_provenance(told)
    _save_findings([(table, _findings(table, reading), reading) for table, reading in pairs])


def _locked(connection: Connection, readings: Sequence[Reading]) -> list[tuple[DeltaTable, Reading]]:
    """The row of each reading, held until the end of the transaction; places seen for the first time get one.

    Another process may be storing the same table. Rows are taken in one order, so that neither waits for the other.
    """
    by_place = {reading.target.place: reading for reading in readings}
    new = [_new_row(connection, reading) for reading in readings if reading.target.known is None]
    DeltaTable.objects.bulk_create(new, ignore_conflicts=True)
    rows = DeltaTable.objects.select_for_update().filter(
        connection=connection,
        bucket__in={bucket for bucket, _ in by_place},
        prefix__in={prefix for _, prefix in by_place},
    )
    return [
        (row, by_place[row.bucket, row.prefix]) for row in rows.order_by("pk") if (row.bucket, row.prefix) in by_place
    ]


def _new_row(connection: Connection, reading: Reading) -> DeltaTable:
    uri = reading.target.uri
    row = DeltaTable(connection=connection, bucket=uri.bucket, prefix=uri.key, uri=uri.s3a, name=uri.name)
    make_storable(row)
    return row


def _is_overtaken(table: DeltaTable, reading: Reading) -> bool:
    """Whether a reading begun after this one is stored already; a time that is yet to come is a clock put back."""
    return table.observed_at is not None and reading.observed_at < table.observed_at <= timezone.now()


def _findings(table: DeltaTable, reading: Reading) -> tuple[Finding, ...]:
    if reading.error is not None:
        return (_failure_finding(table, reading.error),)
    return () if reading.is_gone or reading.verdict is None else reading.verdict.findings


def _save_findings(found: Sequence[tuple[DeltaTable, Iterable[Finding], Reading]]) -> None:
    """Open or refresh a row for each finding; resolve the open rows of these tables that were not found again.

    A failed reading proves nothing about older findings: it resolves none. Neither does one resolve a critical finding
    that left something to be checked, or a finding of registrations that left any of these unread.
    """
    open_rows: defaultdict[int, dict[str, TableFinding]] = defaultdict(dict)
    tables = [table.pk for table, _, _ in found]
    for held in TableFinding.objects.filter(table__in=tables, resolved_at=None):
        open_rows[held.table_id][held.key] = held
    new: list[TableFinding] = []
    for table, findings, reading in found:
        old = open_rows[table.pk]
        seen: list[int] = []
        for key, finding in _keyed(findings):
            row = old.pop(key, None)
            fresh = _finding_row(table, key, finding, reading)
            if row is None:
                new.append(fresh)
            elif _says_the_same(row, fresh):
                seen.append(row.pk)
            else:
                fresh.pk, fresh.opened_at = row.pk, row.opened_at
                fresh.save(force_update=True)
        TableFinding.objects.filter(pk__in=seen).update(seen_at=reading.observed_at)
        if over := [held.pk for held in old.values() if _proves_over(reading, held)]:
            TableFinding.objects.filter(pk__in=over).update(resolved_at=reading.observed_at)
    TableFinding.objects.bulk_create(new)


def _proves_over(reading: Reading, held: TableFinding) -> bool:
    """Whether a reading that did not find it again shows that the finding no longer holds."""
    if reading.error is not None:
        return False
    if held.code in OF_REGISTRATIONS and _left_registrations_unread(reading):
        return False
    checking = reading.verdict is not None and bool(reading.verdict.withheld)
    return not (checking and held.severity == Severity.CRITICAL)


def _left_registrations_unread(reading: Reading) -> bool:
    problems = reading.facts.problems if reading.facts else ()
    return bool(reading.not_read) or any(problem.place == "registrations" for problem in problems)


def _keyed(findings: Iterable[Finding]) -> Iterable[tuple[str, Finding]]:
    """Each finding with the name of what it is about, by which the same one is recognised when it is seen again.

    Of several with one key, as two lock domains may have, the later are numbered.
    """
    counts: defaultdict[str, int] = defaultdict(int)
    for finding in findings:
        key = finding.code if finding.version is None else f"{finding.code}@{finding.version}"
        counts[key] += 1
        yield (key if counts[key] == 1 else f"{key}#{counts[key]}"), finding


def _finding_row(table: DeltaTable, key: str, finding: Finding, reading: Reading) -> TableFinding:
    row = TableFinding(
        table=table,
        key=key,
        code=finding.code,
        version=finding.version,
        severity=finding.severity.value,
        state=finding.state.value,
        state_rank=finding.state.rank,
        summary=finding.summary,
        meaning=finding.meaning,
        evidence=dict(finding.evidence),
        repairs=list(finding.repairs),
        opened_at=reading.observed_at,
        seen_at=reading.observed_at,
    )
    make_storable(row)
    return row


def _says_the_same(old: TableFinding, new: TableFinding) -> bool:
    return all(getattr(old, name) == getattr(new, name) for name in _TOLD)


def _save_entries(told: Sequence[Told], stores: Mapping[str, CommitStore]) -> None:
    """Upsert the entries as judged, and remove those that the reading would have seen and did not see."""
    rows: dict[tuple[int, int, str, int], Entry] = {}
    for table, reading, facts in told:
        for row in _entry_rows(table, reading, facts, stores):
            make_storable(row)
            rows[table.pk, row.store_id, row.lock_domain, row.version] = row
    Entry.objects.bulk_create(
        list(rows.values()),
        update_conflicts=True,
        update_fields=[*_ENTRY_WORDS, "commit_time", "problems", "observed_at"],
        unique_fields=["table", "store", *_ENTRY_KEY],
        batch_size=500,
    )
    for table, reading, facts in told:
        _unseen(table, reading, facts.listing).delete()


def _entry_rows(
    table: DeltaTable, reading: Reading, facts: TableFacts, stores: Mapping[str, CommitStore]
) -> Iterator[Entry]:
    items = {(domain, entry.version): entry for domain, entries in facts.entries.items() for entry in entries}
    for judged in reading.verdict.entries if reading.verdict else ():
        store = stores.get(judged.store)
        if store is None or not 0 <= judged.version < 2**63:
            continue
        item = items.get((LockDomain(judged.store, judged.lock_domain), judged.version))
        yield Entry(
            table=table,
            store=store,
            commit_time=item.commit_time if item else None,
            problems=list(item.problems) if item else [],
            observed_at=reading.observed_at,
            **{name: getattr(judged, name) for name in _JUDGED},
        )


def _unseen(table: DeltaTable, reading: Reading, listing: LogListing) -> QuerySet[Entry]:
    unseen = table.entries.exclude(observed_at=reading.observed_at)
    return unseen if reading.whole_log else unseen.filter(version__gte=listing.from_version)


def _fill(table: DeltaTable, reading: Reading, stores: dict[str, CommitStore]) -> None:
    """Set what the reading says: a refusal beside what was read before, that the table is gone, or all of it."""
    if reading.error is not None:
        _fill_failure(table, reading, reading.error)
    elif reading.is_gone:
        _fill_gone(table, reading)
    elif reading.facts is not None and reading.verdict is not None:
        _fill_state(table, reading, reading.verdict)
        _fill_log(table, reading, reading.facts, reading.verdict)
        _fill_protocol(table, reading.facts, is_identified=not reading.is_unidentified)
        table.store = stores.get(reading.store_name)


def _failure_finding(table: DeltaTable, error: Failure) -> Finding:
    """The finding that stands for a reading that failed, or could not be stored."""
    return Finding(
        code="unreadable",
        severity=Severity.WARNING,
        state=State.NOT_CHECKED,
        summary=table.summary,
        meaning="What was read before is shown with its age; nothing newer is known.",
        evidence={"code": error.code, "permission": error.permission, "request_id": error.request_id},
    )


def _fill_failure(table: DeltaTable, reading: Reading, error: Failure) -> None:
    table.state, table.state_rank = State.NOT_CHECKED.value, State.NOT_CHECKED.rank
    table.summary = f"The last check failed: {error}"
    table.error_at, table.error_code, table.error_text = reading.observed_at, error.code, error.text


def _fill_gone(table: DeltaTable, reading: Reading) -> None:
    table.gone_at = table.gone_at or reading.observed_at
    table.observed_at = reading.observed_at
    table.error_at, table.error_code, table.error_text = None, "", ""
    table.state, table.state_rank = State.NOT_CHECKED.value, State.NOT_CHECKED.rank
    table.summary = "The table has vanished: its log is empty and no commit store has an entry for it."
    table.fingerprint, table.listed_at, table.missed, table.registrations = "", reading.observed_at, [], []
    table.unpublished_count, table.oldest_unpublished_at = 0, None


def _fill_state(table: DeltaTable, reading: Reading, verdict: Verdict) -> None:
    table.state, table.state_rank, table.summary = verdict.state.value, verdict.state.rank, verdict.summary
    table.published_version, table.accepted_version = verdict.published_version, verdict.accepted_version
    table.unpublished_count = len(verdict.unpublished)
    table.oldest_unpublished_at = verdict.oldest_unpublished_at
    table.observed_at = table.changed_at = reading.observed_at
    table.error_at, table.error_code, table.error_text = None, "", ""
    table.gone_at = None
    table.fingerprint = reading.fingerprint
    table.lock_domains = [asdict(domain) for domain in reading.lock_domains]
    table.missed = [[one.code, *astuple(one.absence)] for one in reading.missed]


def _fill_log(table: DeltaTable, reading: Reading, facts: TableFacts, verdict: Verdict) -> None:
    listing = facts.listing
    table.mechanism = facts.mechanism.value
    table.problems = [asdict(problem) for problem in facts.problems]
    kept = [one for one in table.registrations if (one.get("store"), one.get("table_id")) in reading.not_read]
    table.registrations = [*(asdict(registration) for registration in facts.registrations), *kept]
    if current := current_registration(facts):
        table.registered = {"table_id": current.table_id, "path": current.path}
    table.last_commit_at = _last_commit_at(facts, verdict) or table.last_commit_at
    checkpoint = LogView(facts).checkpoint
    if checkpoint is not None or reading.whole_log:
        table.checkpoint_version = checkpoint
    table.log_sizes = _log_sizes(table, listing, whole_log=reading.whole_log)
    if reading.whole_log:
        table.listed_at = reading.observed_at
        table.oldest_version = min(listing.commits, default=None)
        table.log_files = reading.log_files
        table.log_bytes = listing.total_bytes


def _log_sizes(table: DeltaTable, listing: LogListing, *, whole_log: bool) -> Stored | None:
    """Of the whole log as listed; a tail adds to what is known of the rest, and says nothing where that is nothing."""
    if whole_log:
        return stored_ranges(ranges_of(listing))
    known = read_ranges(table.log_sizes)
    return None if known is None else stored_ranges(joined_ranges([*known, *ranges_of(listing)]))


def _last_commit_at(facts: TableFacts, verdict: Verdict) -> datetime | None:
    """Time of the newest accepted commit: what the commit says, else when its file appeared."""
    for version in (verdict.accepted_version, verdict.published_version):
        if version is None:
            continue
        info = facts.commit_infos.get(version)
        if info and (at := moment(info.in_commit_timestamp or info.timestamp)):
            return at
        if found := facts.listing.commits.get(version):
            return found.modified_at
    return None


def _fill_protocol(table: DeltaTable, facts: TableFacts, *, is_identified: bool) -> None:
    """An id that may be that of another table is not stored: it would be taken for the old one's at the next look."""
    protocol = facts.protocol
    if protocol is None:
        return
    table.protocol_version_read = protocol.version
    table.reader_version, table.writer_version = protocol.reader_version, protocol.writer_version
    table.reader_features, table.writer_features = list(protocol.reader_features), list(protocol.writer_features)
    table.delta_name = protocol.name
    if is_identified:
        table.delta_id, table.delta_created_at = protocol.table_id, protocol.created_at
    table.partition_columns = list(protocol.partition_columns)
    table.properties = dict(protocol.properties)
