"""Storing what a pass read: rows are updated, never thrown away because a later reading failed."""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from coordinator.models import CommitStore, DeltaTable
from coordinator.observation.commit_rows import save_commits
from coordinator.observation.entry_rows import save_entries
from coordinator.observation.findings import save_findings
from coordinator.observation.reading import Reading
from coordinator.observation.table_rows import failure_finding, fill
from dashboard.connections.models import Connection

CHUNK = 50
"""Tables stored in one transaction: short enough that other writers of SQLite wait only milliseconds."""

_PLACE = ("connection", "bucket", "prefix")
_ALL_BUT_PLACE = [
    field.name
    for field in DeltaTable._meta.concrete_fields
    if field.name not in {*_PLACE, "id", "first_seen_at", "uri", "name"}
]


def save_unchanged(table_ids: Iterable[int], now: datetime) -> None:
    """Note that these tables were read and are as they were."""
    ids = list(table_ids)
    for start in range(0, len(ids), 500):
        DeltaTable.objects.filter(pk__in=ids[start : start + 500]).update(
            observed_at=now, error_at=None, error_code="", error_text=""
        )


@transaction.atomic
def save_readings(connection: Connection, readings: Iterable[Reading]) -> None:
    """Store changed and failed readings of one chunk; a place that never held a table gets no row."""
    stores = {store.name: store for store in CommitStore.objects.filter(connection=connection)}
    telling = [reading for reading in readings if reading.target.known is not None or not reading.is_gone]
    tables = _rows(connection, telling)
    for table, reading in zip(tables, telling, strict=True):
        fill(table, reading, stores)
    _save_rows(tables)
    pairs = [(t, r) for t, r in zip(tables, telling, strict=True) if r.facts is not None and not r.is_gone]
    save_commits(pairs)
    save_entries(pairs, stores)
    for table, reading in zip(tables, telling, strict=True):
        _save_findings(table, reading)


def _rows(connection: Connection, readings: list[Reading]) -> list[DeltaTable]:
    ids = [reading.target.known.id for reading in readings if reading.target.known is not None]
    known = DeltaTable.objects.in_bulk(ids)
    return [_known_row(known, reading) or _new_row(connection, reading) for reading in readings]


def _known_row(known: dict[int, DeltaTable], reading: Reading) -> DeltaTable | None:
    return known.get(reading.target.known.id) if reading.target.known is not None else None


def _new_row(connection: Connection, reading: Reading) -> DeltaTable:
    uri = reading.target.uri
    return DeltaTable(connection=connection, bucket=uri.bucket, prefix=uri.key, uri=uri.s3a, name=uri.name[:512])


def _save_rows(tables: list[DeltaTable]) -> None:
    """Update known rows; insert new ones, which another process may have inserted meanwhile."""
    new = [table for table in tables if table._state.adding]
    for table in tables:
        if not table._state.adding:
            table.save()
    if new:
        DeltaTable.objects.bulk_create(
            new, update_conflicts=True, update_fields=_ALL_BUT_PLACE, unique_fields=list(_PLACE)
        )


def _save_findings(table: DeltaTable, reading: Reading) -> None:
    if reading.error is not None:
        finding = failure_finding(table, reading.error)
        save_findings(table, (finding,), reading.observed_at, resolve_others=False)
    elif reading.is_gone or reading.verdict is None:
        save_findings(table, (), reading.observed_at)
    elif reading.target.known is not None or reading.verdict.findings:
        save_findings(table, reading.verdict.findings, reading.observed_at)
