"""Findings over time: opened when first seen, seen again, resolved when a reading no longer finds them."""

import json
from collections.abc import Iterable
from datetime import datetime

from coordinator.models import DeltaTable, TableFinding
from coordinator.protocols.verdict import Finding


def save_findings(
    table: DeltaTable, findings: Iterable[Finding], now: datetime, *, resolve_others: bool = True
) -> None:
    """Open or refresh a row for each finding; resolve the open rows of this table that were not found again.

    A failed reading proves nothing about older findings: it passes `resolve_others=False`.
    """
    open_rows = {row.key: row for row in table.findings.filter(resolved_at=None)}
    for finding in findings:
        key = finding_key(finding)
        row = open_rows.pop(key, None) or TableFinding(table=table, key=key, opened_at=now)
        _fill(row, finding, now)
        row.save()
    if resolve_others and open_rows:
        TableFinding.objects.filter(pk__in=[row.pk for row in open_rows.values()], resolved_at=None).update(
            resolved_at=now
        )


def finding_key(finding: Finding) -> str:
    """Name what a finding is about, so that the same one is recognised when seen again."""
    return finding.code if finding.version is None else f"{finding.code}@{finding.version}"


def _fill(row: TableFinding, finding: Finding, now: datetime) -> None:
    row.code, row.version = finding.code, finding.version
    row.severity, row.state, row.state_rank = finding.severity.value, finding.state.value, finding.state.rank
    row.summary, row.meaning = finding.summary, finding.meaning
    row.evidence = json.loads(json.dumps(finding.evidence, default=str))
    row.repairs = list(finding.repairs)
    row.seen_at = now
