"""An examination as one document, for `levee doctor --json`."""

from coordinator.writers.contract import DoctorJson, WriterFindingDocument
from coordinator.writers.doctor import Examination, WriterFinding


def doctor_document(found: Examination, compared_with: str) -> DoctorJson:
    return {
        "syntax": found.syntax,
        "compared_with": compared_with or None,
        "findings": [_finding(one) for one in found.findings],
        "not_judged": list(found.not_judged),
    }


def _finding(one: WriterFinding) -> WriterFindingDocument:
    return {
        "rule": one.rule,
        "severity": one.severity.value,
        "key": one.key,
        "wrong": one.wrong,
        "effect": one.effect,
        "instead": one.instead,
        "source": one.source,
        "lines": list(one.lines),
    }
