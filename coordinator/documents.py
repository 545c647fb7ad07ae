"""Tables, stores and buckets as the JSON documents of the command line (docs/json.md)."""

from datetime import datetime
from typing import cast

from django.db.models import QuerySet
from django.utils import timezone

from coordinator.contract import (
    BucketLine,
    DeadlineDocument,
    EntryDocument,
    FindingDocument,
    ObservedDocument,
    StoreLine,
    TableJson,
    TableLine,
)
from coordinator.models import Bucket, CommitStore, DeltaTable, Entry, TableFinding
from coordinator.protocols.deadlines import read_moment
from coordinator.queries.deadlines import count_in_all, stored_deadlines

_JUDGED = frozenset({"deadlines", "deadlines_in_all", "judge_again_at"})


def table_line(table: DeltaTable) -> TableLine:
    """One table of a list."""
    return {
        "uri": table.uri,
        "name": table.name,
        "connection": table.connection.name,
        "mechanism": table.mechanism,
        "store": table.store.name if table.store else None,
        "state": table.state,
        "summary": table.summary,
        "published_version": table.published_version,
        "accepted_version": table.accepted_version,
        "unpublished": table.unpublished_count,
        "last_commit_at": moment(table.last_commit_at),
        "observed_at": moment(table.observed_at),
        "gone_at": moment(table.gone_at),
    }


def table_document(table: DeltaTable) -> TableJson:
    """One table whole: versions, entries, open findings, protocol; the contract of `levee table URI --json`."""
    now = timezone.now()
    return {
        **table_line(table),
        "oldest_version": table.oldest_version,
        "checkpoint_version": table.checkpoint_version,
        "log_files": table.log_files,
        "log_bytes": table.log_bytes,
        "lock_domains": table.lock_domains,
        "protocol": {
            "reader_version": table.reader_version,
            "writer_version": table.writer_version,
            "features": table.features,
            "read_to_version": table.protocol_version_read,
        },
        "properties": table.properties,
        "partition_columns": table.partition_columns,
        "registrations": table.registrations,
        "error": {"code": table.error_code, "text": table.error_text, "at": moment(table.error_at)}
        if table.error_code
        else None,
        "problems": table.problems,
        "entries": [_entry(entry, now) for entry in table.entries.select_related("store")],
        "findings": [finding_document(finding) for finding in open_findings(table)],
    }


def open_findings(table: DeltaTable) -> list[TableFinding]:
    """Findings that still hold, worst first."""
    return list(table.findings.filter(resolved_at=None))


def finding_document(finding: TableFinding) -> FindingDocument:
    """One finding as `table` and `repair` print it."""
    return {
        "code": finding.code,
        "severity": finding.severity,
        "version": finding.version,
        "summary": finding.summary,
        "meaning": finding.meaning,
        "evidence": finding.evidence,
        "repairs": finding.repairs,
        "opened_at": moment(finding.opened_at),
        "seen_at": moment(finding.seen_at),
    }


def _entry(entry: Entry, now: datetime) -> EntryDocument:
    return {
        "version": entry.version,
        "state": entry.code,
        "published": entry.published,
        "file": entry.file,
        "file_present": entry.file_present,
        "file_size": entry.file_size,
        "complete": entry.complete,
        "age_seconds": max(0, round((now - entry.written_at).total_seconds())) if entry.written_at else None,
        "written_at": moment(entry.written_at),
        "expire_time": entry.expire_time,
        "store": entry.store.name,
        "lock_domain": entry.lock_domain,
        "problems": entry.problems,
    }


def store_document(store: CommitStore) -> StoreLine:
    """One commit store with its settings as last read."""
    return {
        **_observed(store, store.tables.filter(gone_at=None)),
        "kind": store.kind,
        "settings": store.facts,
        "scanned_at": moment(store.scanned_at),
        "scanned_items": store.scanned_items,
    }


def bucket_document(bucket: Bucket) -> BucketLine:
    """One bucket with settings as last read and deadlines as last judged: the contract of `levee buckets --json`."""
    tables = DeltaTable.objects.filter(connection=bucket.connection, bucket=bucket.name, gone_at=None)
    facts = bucket.facts if isinstance(bucket.facts, dict) else {}
    return {
        **_observed(bucket, tables),
        "settings": {key: value for key, value in facts.items() if key not in _JUDGED},
        "deadlines": [
            cast("DeadlineDocument", {**one, "at": moment(read_moment(one.get("at")))})
            for one in stored_deadlines(facts)
        ],
        "deadlines_in_all": count_in_all(facts),
    }


def _observed(row: CommitStore | Bucket, tables: QuerySet[DeltaTable]) -> ObservedDocument:
    return {
        "connection": row.connection.name,
        "name": row.name,
        "state": row.state,
        "summary": row.summary,
        "observed_at": moment(row.observed_at),
        "error": {"code": row.error_code, "text": row.error_text, "at": moment(row.error_at)}
        if row.error_code
        else None,
        "tables": tables.count(),
    }


def moment(at: datetime | None) -> str | None:
    """Write a time as ISO 8601 in UTC to the second, ending in Z."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ") if at else None
