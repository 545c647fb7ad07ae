"""What diagnosis says of facts, in a word."""

from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.verdict import Finding, Verdict
from lake.delta.facts import TableFacts


def verdict_of(given: TableFacts | Verdict) -> Verdict:
    return given if isinstance(given, Verdict) else diagnose(given)


def codes(given: TableFacts | Verdict) -> list[str]:
    """The codes of its findings, worst first."""
    return [one.code for one in verdict_of(given).findings]


def finding(given: TableFacts | Verdict, code: str) -> Finding:
    """The only finding of this code."""
    (found,) = (one for one in verdict_of(given).findings if one.code == code)
    return found
