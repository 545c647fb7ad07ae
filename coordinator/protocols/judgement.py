"""What one part of the diagnosis contributes to a table's verdict, and how findings are ordered."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from coordinator.protocols.verdict import EntryVerdict, Finding, Severity, State, attention, not_checked, unsafe
from coordinator.protocols.wording import counted, thousands

GRACE_SECONDS = 60
"""A commit that is younger than this may still be in its writer's hands; it is shown, and not as a warning."""

QUIET_SECONDS = 86_400
"""Files that belong to no commit may be removed once they are older than the longest possible commit."""

UNKNOWN = "unknown"
"""Code of an entry or a listed commit whose state the facts do not decide."""

MOST_NAMED = 3
"""Problems of one item that its sentence names; the evidence holds more."""

MOST_UNDECIDED = 1_000
"""Versions that one undecided finding keeps."""

MOST_FINDINGS = 20
"""Findings of one code that are listed singly; the rest is drawn together."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Entries, findings, the newest version DynamoDB accepted, and accepted versions without file with their time."""

    entries: tuple[EntryVerdict, ...] = ()
    findings: tuple[Finding, ...] = ()
    accepted: int | None = None
    unpublished: Mapping[int, datetime | None] = field(default_factory=dict)


def join(parts: Iterable[Judgement]) -> Judgement:
    """All parts as one; the highest accepted version counts."""
    kept = tuple(parts)
    unpublished: dict[int, datetime | None] = {}
    for part in kept:
        unpublished.update(part.unpublished)
    return Judgement(
        entries=tuple(entry for part in kept for entry in part.entries),
        findings=tuple(finding for part in kept for finding in part.findings),
        accepted=max((part.accepted for part in kept if part.accepted is not None), default=None),
        unpublished=unpublished,
    )


def run_evidence(versions: Sequence[int]) -> dict[str, object]:
    """What the evidence of a finding about several consecutive versions adds: the first of them, and how many."""
    # Counted by their ends: a range from 0 to the last version that Delta can have is too long for `len`.
    count = versions[-1] - versions[0] + 1
    return {"first_version": versions[0], "count": count} if count > 1 else {}


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings by state, then severity, then newest version."""
    severities = list(Severity)
    return tuple(
        sorted(
            findings,
            key=lambda f: (
                f.state.rank,
                severities.index(f.severity),
                -(f.version if f.version is not None else -1),
                f.code,
            ),
        )
    )


def without_doubles(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings so that no two share code and version, which is what names them over time; the first of each stays.

    What the others said is kept in its evidence as `also`, and their repairs are added to its own.
    """
    groups: dict[tuple[str, int | None], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.code, finding.version), []).append(finding)
    return tuple(_with_others(first, others) for first, *others in groups.values())


def _with_others(first: Finding, others: list[Finding]) -> Finding:
    if not others:
        return first
    return replace(
        first,
        summary=f"{first.summary} {counted(len(others), 'more finding')} of this kind.",
        evidence={**first.evidence, "also": [finding.summary for finding in others[:MOST_FINDINGS]]},
        repairs=tuple(dict.fromkeys(repair for finding in (first, *others) for repair in finding.repairs)),
        absent=tuple(dict.fromkeys(absence for finding in (first, *others) for absence in finding.absent)),
    )


def worst_state(findings: Iterable[Finding]) -> State:
    """The state that the worst of the findings makes; healthy without any."""
    return min((finding.state for finding in findings), key=lambda state: state.rank, default=State.HEALTHY)


def note(code: str, summary: str, meaning: str = "", **evidence: object) -> Finding:
    """A finding that informs and changes no state."""
    return Finding(code, summary, meaning=meaning, evidence=evidence, severity=Severity.INFO, state=State.HEALTHY)


def undecided(about: str, missing: str, *versions: int) -> Finding:
    """A state that the facts do not decide: `about` is the subject, `missing` the fact that would decide it.

    `versions` are all of which it speaks, ascending; of several the newest are kept.
    """
    drawn_together = {"all_versions": list(versions[-MOST_UNDECIDED:])} if len(versions) > 1 else {}
    return not_checked(
        code="undecided",
        summary=f"{about} cannot be decided: {missing}.",
        version=versions[-1] if versions else None,
        meaning="Nothing is concluded until that fact has been read.",
        evidence={"missing": missing, **drawn_together},
    )


def accepted_twice(version: int, told: str, evidence: Mapping[str, object], stands: str = "") -> Finding:
    """A version that was given to two commits; `told` says by whom, and `stands` how long this is said."""
    return unsafe(
        "accepted-twice",
        f"Version {thousands(version)} was accepted twice, as different commits{told}",
        version,
        "Both writers may have reported success. Keep every file until the loss is understood, and write the missing "
        f"rows again.{stands}",
        evidence,
    )


def malformed(place: str, problems: Iterable[str], version: int | None = None) -> Finding:
    """An item or file whose content is not as the protocol has it; each problem names its attribute."""
    listed = list(problems)
    more = f"; and {len(listed) - MOST_NAMED:,} more" if len(listed) > MOST_NAMED else ""
    return attention(
        code="malformed-item",
        summary=f"{place} is malformed: {'; '.join(listed[:MOST_NAMED]).rstrip('.')}{more}.",
        version=version,
        meaning="Levee concludes nothing from the attributes named here and changes nothing that rests on them.",
        evidence={"problems": listed[:100]},
    )


class Assessment(NamedTuple):
    """State, the sentence that carries it, and findings, worst first."""

    state: State
    summary: str
    findings: tuple[Finding, ...]


def assessed(ordered: Iterable[Finding], all_is_well: str) -> Assessment:
    """The worst finding's state and sentence; `all_is_well` where nothing is wrong."""
    findings = without_doubles(ordered)
    state = worst_state(findings)
    return Assessment(state, findings[0].summary if state is not State.HEALTHY else all_is_well, findings)


def unread_facts(facts: Mapping[str, Any]) -> dict[str, str]:
    """Facts that could not be read, with the reason for each."""
    return dict(facts.get("unknown") or ())


def unread_finding(fact: str, reason: str) -> Finding:
    """One fact that could not be read."""
    return not_checked(
        f"not-read-{fact.replace(' ', '-')}",
        f"{fact[:1].upper()}{fact[1:]} could not be read: {reason.rstrip('.')}.",
        meaning="What depends on it is not known.",
        evidence={"fact": fact, "reason": reason},
    )
