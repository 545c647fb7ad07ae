"""Storing what a pass read: rows are updated, never thrown away because a later reading failed."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime

from django.db import transaction

from coordinator.models import CommitStore, DeltaTable
from coordinator.observation.findings import save_findings
from coordinator.observation.reading import Reading
from coordinator.observation.rows import moment, save_commits, save_entries
from coordinator.protocols.verdict import Finding, Severity, State, Verdict
from dashboard.connections.models import Connection
from lake.aws.errors import AwsError
from lake.delta.coordinator_properties import coordinator_store_name
from lake.delta.facts import Mechanism, TableFacts

CHUNK = 50
"""Tables stored in one transaction: short enough that other writers of SQLite wait only milliseconds."""


def save_unchanged(table_ids: Iterable[int], now: datetime) -> None:
    """Note that these tables were read and are as they were."""
    ids = list(table_ids)
    for start in range(0, len(ids), 500):
        DeltaTable.objects.filter(pk__in=ids[start : start + 500]).update(
            observed_at=now, error_at=None, error_code="", error_text=""
        )


@transaction.atomic
def save_readings(connection: Connection, readings: Iterable[Reading]) -> None:
    """Store changed and failed readings of one chunk."""
    stores = {store.name: store for store in CommitStore.objects.filter(connection=connection)}
    for reading in readings:
        if reading.error is not None:
            save_failure(connection, reading, reading.error)
        elif reading.facts is not None and reading.verdict is not None:
            _save_table(connection, stores, reading, reading.facts, reading.verdict)


def save_failure(connection: Connection, reading: Reading, error: AwsError) -> None:
    """Store a refusal beside what was read before, and open a finding that says so."""
    table = _row(connection, reading)
    table.state, table.state_rank = State.NOT_CHECKED.value, State.NOT_CHECKED.rank
    table.summary = f"The last check failed: {error}"
    table.error_at, table.error_code, table.error_text = reading.observed_at, error.code, str(error)
    table.save()
    finding = Finding(
        code="unreadable",
        severity=Severity.WARNING,
        state=State.NOT_CHECKED,
        summary=table.summary,
        meaning="What was read before is shown with its age; nothing newer is known.",
        evidence={"code": error.code, "permission": error.permission, "request_id": error.request_id},
    )
    save_findings(table, (finding,), reading.observed_at, resolve_others=False)


def _save_table(
    connection: Connection,
    stores: dict[str, CommitStore],
    reading: Reading,
    facts: TableFacts,
    verdict: Verdict,
) -> None:
    if reading.is_gone:
        _mark_gone(connection, reading)
        return
    table = _row(connection, reading)
    _fill_state(table, reading, verdict)
    _fill_log(table, reading, facts, verdict)
    _fill_protocol(table, facts)
    table.store = _store_of(table, reading, facts, stores)
    table.save()
    save_commits(table, facts, whole_log=reading.whole_log)
    save_entries(table, reading, verdict, stores)
    save_findings(table, verdict.findings, reading.observed_at)


def _mark_gone(connection: Connection, reading: Reading) -> None:
    """Keep the row of a vanished table; a place that never held one gets no row."""
    if reading.target.known is None:
        return
    table = _row(connection, reading)
    table.gone_at = table.gone_at or reading.observed_at
    table.observed_at = reading.observed_at
    table.error_at, table.error_code, table.error_text = None, "", ""
    table.state, table.state_rank = State.NOT_CHECKED.value, State.NOT_CHECKED.rank
    table.summary = "The table has vanished: its log is empty and no commit store has an entry for it."
    table.fingerprint, table.listed_at = "", reading.observed_at
    table.save()
    save_findings(table, (), reading.observed_at)


def _row(connection: Connection, reading: Reading) -> DeltaTable:
    uri = reading.target.uri
    if reading.target.known is not None:
        return DeltaTable.objects.get(pk=reading.target.known.id)
    row, _ = DeltaTable.objects.get_or_create(
        connection=connection, bucket=uri.bucket, prefix=uri.key, defaults={"uri": uri.s3a, "name": uri.name}
    )
    return row


def _fill_state(table: DeltaTable, reading: Reading, verdict: Verdict) -> None:
    table.state, table.state_rank, table.summary = verdict.state.value, verdict.state.rank, verdict.summary
    table.published_version, table.accepted_version = verdict.published_version, verdict.accepted_version
    table.unpublished_count = len(verdict.unpublished)
    table.oldest_unpublished_at = verdict.oldest_unpublished_at
    table.observed_at = table.changed_at = reading.observed_at
    table.error_at, table.error_code, table.error_text = None, "", ""
    table.gone_at = None
    table.fingerprint = reading.fingerprint
    table.lock_domains = sorted(reading.witness.domains) if reading.witness else []


def _fill_log(table: DeltaTable, reading: Reading, facts: TableFacts, verdict: Verdict) -> None:
    listing = facts.listing
    table.mechanism = facts.mechanism.value
    table.problems = [asdict(problem) for problem in facts.problems]
    table.last_commit_at = _last_commit_at(facts, verdict) or table.last_commit_at
    if listing.checkpoints:
        table.checkpoint_version = max(listing.checkpoints)
    if reading.whole_log:
        table.listed_at = reading.observed_at
        table.oldest_version = min(listing.commits, default=None)
        table.log_files = reading.log_files
        table.log_bytes = listing.total_bytes
        table.checkpoint_version = max(listing.checkpoints, default=None)


def _last_commit_at(facts: TableFacts, verdict: Verdict) -> datetime | None:
    """Time of the newest accepted commit: what the commit says, else when its file appeared."""
    for version in (verdict.accepted_version, verdict.published_version):
        if version is None:
            continue
        info = facts.commit_infos.get(version)
        if at := moment(info and (info.in_commit_timestamp or info.timestamp)):
            return at
        if found := facts.listing.commits.get(version):
            return found.modified_at
    return None


def _fill_protocol(table: DeltaTable, facts: TableFacts) -> None:
    protocol = facts.protocol
    if protocol is None:
        return
    table.protocol_version_read = protocol.version
    table.reader_version, table.writer_version = protocol.reader_version, protocol.writer_version
    table.reader_features, table.writer_features = list(protocol.reader_features), list(protocol.writer_features)
    table.delta_id, table.delta_name = protocol.table_id[:64], protocol.name[:512]
    table.partition_columns = list(protocol.partition_columns)
    table.properties = dict(protocol.properties)
    table.registrations = json.loads(json.dumps([asdict(registration) for registration in facts.registrations]))


def _store_of(
    table: DeltaTable, reading: Reading, facts: TableFacts, stores: dict[str, CommitStore]
) -> CommitStore | None:
    if facts.mechanism is Mechanism.COORDINATED_COMMITS:
        return stores.get(coordinator_store_name(table.properties))
    if facts.mechanism is Mechanism.LOG_STORE and reading.witness:
        return next(
            (stores[domain.store] for domain in reading.witness.domains.values() if domain.store in stores), None
        )
    return None
