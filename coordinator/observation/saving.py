"""Storing what a pass read: rows are updated, never thrown away because a later reading failed."""

from collections.abc import Iterable, Sequence

from django.db import transaction
from django.utils import timezone

from coordinator.models import CommitStore, DeltaTable
from coordinator.observation.commit_rows import save_commits
from coordinator.observation.entry_rows import save_entries
from coordinator.observation.failures import failure_of
from coordinator.observation.findings import save_findings
from coordinator.observation.provenance_rows import save_provenance
from coordinator.observation.reading import Reading
from coordinator.observation.storable import make_storable
from coordinator.observation.table_rows import failure_finding, fill
from coordinator.protocols.verdict import Finding
from dashboard.connections.models import Connection

CHUNK = 50
"""Tables stored in one transaction: short enough that other writers of SQLite wait only milliseconds."""


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
        fill(table, reading, stores)
        make_storable(table)
        table.save()
    told = [(table, reading) for table, reading in pairs if reading.facts is not None and not reading.is_gone]
    save_commits(told)
    save_entries(told, stores)
    save_provenance(told)
    save_findings([(table, _findings(table, reading), reading) for table, reading in pairs])


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
        return (failure_finding(table, reading.error),)
    return () if reading.is_gone or reading.verdict is None else reading.verdict.findings
