"""What the audit log keeps of a table before and after a repair."""

from typing import TypedDict

from coordinator.protocols.verdict import Finding


class FindingSnapshot(TypedDict):
    """A finding with what was read."""

    code: str
    version: int | None
    state: str
    summary: str
    evidence: dict[str, object]


def finding_snapshot(finding: Finding) -> FindingSnapshot:
    return {
        "code": finding.code,
        "version": finding.version,
        "state": finding.state.value,
        "summary": finding.summary,
        "evidence": dict(finding.evidence),
    }
