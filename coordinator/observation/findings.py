"""Findings over time: opened when first seen, seen again, resolved when a reading no longer finds them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from coordinator.models import DeltaTable, TableFinding
from coordinator.observation.reading import Reading
from coordinator.observation.storable import make_storable
from coordinator.protocols.registrations import OF_REGISTRATIONS
from coordinator.protocols.verdict import Finding, Severity

_TOLD = ("severity", "state", "state_rank", "summary", "meaning", "evidence", "repairs")


def save_findings(found: Sequence[tuple[DeltaTable, Iterable[Finding], Reading]]) -> None:
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
            fresh = _row(table, key, finding, reading)
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


def finding_key(finding: Finding) -> str:
    """Name what a finding is about, so that the same one is recognised when seen again."""
    return finding.code if finding.version is None else f"{finding.code}@{finding.version}"


def _keyed(findings: Iterable[Finding]) -> Iterable[tuple[str, Finding]]:
    """Each finding with its key; of several with one key, as two lock domains may have, the later are numbered."""
    counts: defaultdict[str, int] = defaultdict(int)
    for finding in findings:
        key = finding_key(finding)
        counts[key] += 1
        yield (key if counts[key] == 1 else f"{key}#{counts[key]}"), finding


def _row(table: DeltaTable, key: str, finding: Finding, reading: Reading) -> TableFinding:
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
