"""What diagnosis says of a commit store or a bucket, and how described facts are read."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, NamedTuple

from coordinator.protocols.judgement import without_doubles, worst_first, worst_state
from coordinator.protocols.verdict import Finding, Severity, State

Order = Callable[[Iterable[Finding]], tuple[Finding, ...]]
"""Puts findings in order, worst first."""


class Assessment(NamedTuple):
    """State, the sentence that carries it, and findings, worst first."""

    state: State
    summary: str
    findings: tuple[Finding, ...]


def assessed(findings: Iterable[Finding], all_is_well: str, order: Order = worst_first) -> Assessment:
    """The worst finding's state and sentence; `all_is_well` where nothing is wrong."""
    ordered = without_doubles(order(findings))
    state = worst_state(ordered)
    return Assessment(state, ordered[0].summary if state is not State.HEALTHY else all_is_well, ordered)


def not_checked(error: str) -> Assessment:
    """The verdict where nothing could be read; `error` is the refusal, one sentence."""
    sentence = f"The last check failed: {error}"
    return assessed([Finding("not-read", Severity.WARNING, State.NOT_CHECKED, sentence)], "")


def as_mapping(description: object) -> Mapping[str, Any]:
    """A description as a mapping: a dataclass of lake.aws, or the JSON in which it was stored."""
    if is_dataclass(description) and not isinstance(description, type):
        return asdict(description)
    return description if isinstance(description, Mapping) else {}


def unread_facts(facts: Mapping[str, Any]) -> dict[str, str]:
    """Facts that could not be read, with the reason for each."""
    pairs = facts.get("unknown")
    found = pairs if isinstance(pairs, list | tuple) else ()
    return {str(pair[0]): str(pair[1]) for pair in found if isinstance(pair, list | tuple) and len(pair) == 2}


def unread_finding(fact: str, reason: str) -> Finding:
    """One fact that could not be read."""
    return Finding(
        f"not-read-{fact.replace(' ', '-')}",
        Severity.WARNING,
        State.NOT_CHECKED,
        f"{fact[:1].upper()}{fact[1:]} could not be read: {reason.rstrip('.')}.",
        meaning="What depends on it is not known.",
        evidence={"fact": fact, "reason": reason},
    )
