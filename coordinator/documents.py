"""Tables, stores and buckets as the JSON documents of the command line (docs/json.md)."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, TypeVar, cast, get_type_hints

from django.db.models import Model, QuerySet
from django.utils import timezone

from coordinator.contract import (
    BucketLine,
    EntryDocument,
    FindingDocument,
    ProtocolDocument,
    ReadingError,
    StoreLine,
    TableJson,
    TableLine,
)
from coordinator.models import Bucket, CommitStore, DeltaTable, Entry, Observed, TableFinding
from coordinator.protocols.deadlines import read_moment

Kind = TypeVar("Kind")
_FIELDS = {"connection": "connection__name", "store": "store__name", "unpublished": "unpublished_count"}
_JUDGED = frozenset({"deadlines", "deadlines_in_all", "judge_again_at", "lifecycle"})


def document(kind: type[Kind], row: Model, **members: Any) -> Kind:
    """A document of a kind: the members given, and each other one as the row has it under the same name."""
    values = {name: members[name] if name in members else getattr(row, name) for name in get_type_hints(kind)}
    return cast("Kind", {name: moment(one) if isinstance(one, datetime) else one for name, one in values.items()})


def table_lines(tables: "QuerySet[DeltaTable]") -> Iterator[TableLine]:
    """The tables of a list, without a row of the model for each: of 100,000 that would be most of the time."""
    names = tuple(get_type_hints(TableLine))
    for values in tables.values_list(*(_FIELDS.get(name, name) for name in names)):
        told = (moment(one) if isinstance(one, datetime) else one for one in values)
        yield cast("TableLine", dict(zip(names, told, strict=True)))


def table_document(table: DeltaTable) -> TableJson:
    """One table whole: versions, entries, open findings, protocol; the contract of `levee table URI --json`."""
    now = timezone.now()
    return document(
        TableJson,
        table,
        connection=table.connection.name,
        store=table.store.name if table.store else None,
        unpublished=table.unpublished_count,
        protocol=document(ProtocolDocument, table, read_to_version=table.protocol_version_read),
        error=_error(table),
        entries=[_entry(entry, now) for entry in table.entries.select_related("store")],
        findings=[finding_document(finding) for finding in open_findings(table)],
    )


def open_findings(table: DeltaTable) -> list[TableFinding]:
    """Findings that still hold, worst first."""
    return list(table.findings.filter(resolved_at=None))


def finding_document(finding: TableFinding) -> FindingDocument:
    """One finding as `table` and `repair` print it."""
    return document(FindingDocument, finding)


def _entry(entry: Entry, now: datetime) -> EntryDocument:
    age = max(0, round((now - entry.written_at).total_seconds())) if entry.written_at else None
    return document(EntryDocument, entry, state=entry.code, store=entry.store.name, age_seconds=age)


def store_document(store: CommitStore) -> StoreLine:
    """One commit store with its settings as last read."""
    return document(StoreLine, store, settings=store.facts, **_observed(store, store.tables.filter(gone_at=None)))


def bucket_document(bucket: Bucket) -> BucketLine:
    """One bucket with settings as last read and deadlines as last judged: the contract of `levee buckets --json`."""
    tables = DeltaTable.objects.filter(connection=bucket.connection, bucket=bucket.name, gone_at=None)
    return document(
        BucketLine,
        bucket,
        settings={key: value for key, value in bucket.facts.items() if key not in _JUDGED},
        deadlines=[{**one, "at": moment(read_moment(one["at"]))} for one in bucket.facts.get("deadlines", [])],
        deadlines_in_all=bucket.facts.get("deadlines_in_all", 0),
        **_observed(bucket, tables),
    )


def _observed(row: CommitStore | Bucket, tables: QuerySet[DeltaTable]) -> dict[str, Any]:
    return {"connection": row.connection.name, "error": _error(row), "tables": tables.count()}


def _error(row: Observed) -> ReadingError | None:
    if not row.error_code:
        return None
    return {"code": row.error_code, "text": row.error_text, "at": moment(row.error_at)}


def moment(at: datetime | None) -> str | None:
    """Write a time as ISO 8601 in UTC to the second, ending in Z."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ") if at else None
