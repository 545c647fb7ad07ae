"""Filling the row of one table from one reading."""

from dataclasses import asdict, astuple
from datetime import datetime

from coordinator.models import CommitStore, DeltaTable
from coordinator.observation.commit_rows import moment
from coordinator.observation.failures import Failure
from coordinator.observation.reading import Reading
from coordinator.protocols.log_sizes import Stored, joined_ranges, ranges_of, read_ranges, stored_ranges
from coordinator.protocols.registrations import current_registration
from coordinator.protocols.verdict import Finding, Severity, State, Verdict
from lake.delta.facts import LogListing, TableFacts


def fill(table: DeltaTable, reading: Reading, stores: dict[str, CommitStore]) -> None:
    """Set what the reading says: a refusal beside what was read before, that the table is gone, or all of it."""
    if reading.error is not None:
        _fill_failure(table, reading, reading.error)
    elif reading.is_gone:
        _fill_gone(table, reading)
    elif reading.facts is not None and reading.verdict is not None:
        _fill_state(table, reading, reading.verdict)
        _fill_log(table, reading, reading.facts, reading.verdict, reading.listing or reading.facts.listing)
        _fill_protocol(table, reading.facts, is_identified=not reading.is_unidentified)
        table.store = stores.get(reading.store_name)


def failure_finding(table: DeltaTable, error: Failure) -> Finding:
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


def _fill_log(table: DeltaTable, reading: Reading, facts: TableFacts, verdict: Verdict, listing: LogListing) -> None:
    table.mechanism = facts.mechanism.value
    table.problems = [asdict(problem) for problem in facts.problems]
    kept = [one for one in table.registrations if (one.get("store"), one.get("table_id")) in reading.not_read]
    table.registrations = [*(asdict(registration) for registration in facts.registrations), *kept]
    if current := current_registration(facts):
        table.registered = {"table_id": current.table_id, "path": current.path}
    table.last_commit_at = _last_commit_at(facts, verdict) or table.last_commit_at
    if listing.checkpoints:
        table.checkpoint_version = max(listing.checkpoints)
    table.log_sizes = _log_sizes(table, listing, whole_log=reading.whole_log)
    if reading.whole_log:
        table.listed_at = reading.observed_at
        table.oldest_version = min(listing.commits, default=None)
        table.log_files = reading.log_files
        table.log_bytes = listing.total_bytes
        table.checkpoint_version = max(listing.checkpoints, default=None)


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
