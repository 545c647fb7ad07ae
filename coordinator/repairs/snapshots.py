"""What the audit log keeps of a table before and after a repair."""

from typing import TypedDict

from changes.documents import CallDocument
from coordinator.protocols.verdict import Finding


class FindingSnapshot(TypedDict):
    """A finding with what was read."""

    code: str
    version: int | None
    state: str
    summary: str
    evidence: dict[str, object]


class TableSnapshot(TypedDict, total=False):
    """A table before a change or after it; `finding` is the one to be mended, `findings` are those left afterwards.

    `calls` are planned before and have an outcome after (`OutcomeDocument`); `copy` is the id of one to be put back.
    """

    state: str
    published_version: int | None
    accepted_version: int | None
    finding: FindingSnapshot | None
    findings: list[FindingSnapshot]
    calls: list[CallDocument]
    copy: str


def finding_snapshot(finding: Finding) -> FindingSnapshot:
    return {
        "code": finding.code,
        "version": finding.version,
        "state": finding.state.value,
        "summary": finding.summary,
        "evidence": dict(finding.evidence),
    }
