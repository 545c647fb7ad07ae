"""Absence needs a second look (docs/decisions/007): what one look did not see counts once a later one misses it too.

A look asks one thing after another while writers go on, so that it can miss what was made or moved meanwhile. Whatever
really is lost is missing in every look; whatever a look came too early for is there in one that begins afterwards.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import islice

from coordinator.protocols.judgement import MOST_NAMED, UNKNOWN, worst_first, worst_state
from coordinator.protocols.verdict import Absence, EntryVerdict, Finding, Severity, State, Verdict
from coordinator.protocols.wording import joined, thousands

COMMIT_FILE = "commit file"
ENTRY = "entry"
WHOLE_LOG = "the log"
"""What an `Absence` may name without a name of its own."""

BEING_CHECKED = "being-checked"
"""Code of the finding that stands for those which only one look has made so far."""


MOST_ABSENT = 100
"""Absent things that one finding keeps."""


@dataclass(frozen=True, slots=True)
class Missed:
    """One thing that a look did not see, with the code of the finding that rests on it."""

    code: str
    absence: Absence

    def overlaps(self, other: "Missed") -> bool:
        """Whether both looks missed the same thing: of versions, at least one that both name."""
        return (
            (self.code, self.absence.what) == (other.code, other.absence.what)
            and self.absence.first <= other.absence.last
            and other.absence.first <= self.absence.last
        )


def temp_file(seen_name: str, version: int) -> tuple[Absence, ...]:
    """One temp or staged file, by the name that the item gives: a writer that tries again makes another."""
    return (Absence(seen_name, version, version),)


def commit_file(version: int) -> tuple[Absence, ...]:
    return commit_files([(version, version)])


def commit_files(runs: Iterable[tuple[int, int]]) -> tuple[Absence, ...]:
    """The commit files of runs of versions, each given by its first and last."""
    return tuple(Absence(COMMIT_FILE, first, last) for first, last in islice(runs, MOST_ABSENT))


def missed(findings: Iterable[Finding]) -> tuple[Missed, ...]:
    """All that the critical findings of one look rest on not being there."""
    return tuple(Missed(one.code, absence) for one in findings if _weighs(one) for absence in one.absent)


def doubtful(verdict: Verdict, before: Collection[Missed]) -> tuple[Finding, ...]:
    """Critical findings that rest on an absence which no earlier look has seen; `before` is what such looks missed.

    Those looks have to be over before the one of this verdict began.
    """
    return tuple(
        one
        for one in verdict.findings
        if _weighs(one) and not any(now.overlaps(then) for now in missed([one]) for then in before)
    )


def withhold(verdict: Verdict, before: Collection[Missed], why: str) -> Verdict:
    """The verdict without its doubtful findings: in their place one that says what is being checked.

    `why` is the sentence that says what keeps them from being raised. Entries of which they speak are of unknown state.
    """
    doubted = doubtful(verdict, before)
    if not doubted:
        return verdict
    rest = [one for one in verdict.findings if one not in doubted]
    findings = worst_first([*rest, _finding(doubted, why)])
    return replace(
        verdict,
        state=worst_state(findings),
        summary=findings[0].summary,
        findings=findings,
        entries=tuple(_undecided(entry, doubted) for entry in verdict.entries),
        withheld=doubted,
    )


def being_checked(verdict: Verdict) -> str:
    """The sentence that says what one look alone has missed; "" where nothing is being checked."""
    return next((one.summary for one in verdict.findings if one.code == BEING_CHECKED), "")


def _weighs(finding: Finding) -> bool:
    return finding.severity is Severity.CRITICAL and bool(finding.absent)


def _finding(doubted: Collection[Finding], why: str) -> Finding:
    things = list(dict.fromkeys(in_words(absence) for one in doubted for absence in one.absent))
    more = len(things) - MOST_NAMED
    named = joined([*things[:MOST_NAMED], f"{thousands(more)} more"] if more > 0 else things)
    return Finding(
        BEING_CHECKED,
        f"One look did not see {named}, and that is being checked. {why}",
        meaning="A writer that commits while Levee looks can make one look miss what it writes. Nothing is concluded "
        "before a second look misses the same.",
        evidence={"suspected": [{"code": one.code, "version": one.version} for one in doubted]},
        severity=Severity.INFO,
        state=State.NOT_CHECKED,
    )


def in_words(absence: Absence) -> str:
    """What is absent, as a sentence names it."""
    if absence.what == COMMIT_FILE:
        return f"…{absence.first}.json" + (f" to …{absence.last}.json" if absence.last > absence.first else "")
    if absence.what == ENTRY:
        return f"the entry of version {thousands(absence.first)}"
    return absence.what


def _undecided(entry: EntryVerdict, doubted: Collection[Finding]) -> EntryVerdict:
    spoken_of = any(
        absence.first <= entry.version <= absence.last or one.version == entry.version
        for one in doubted
        for absence in one.absent
    )
    return entry if entry.published or not spoken_of else replace(entry, code=UNKNOWN, published=None)
