"""A repair that somebody else was faster than: what it had written by then, and what is so now.

Overtaken is a repair that stopped at a fact that no longer held, and whose call would not be planned again from a
reading made afterwards. A call that would be planned again as it was has met an obstacle that nobody put there since.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from changes.calls import Result
from changes.documents import OvertakenDocument
from changes.execution import CallOutcome, Execution
from changes.gate import BEFORE_ANY_CHANGE
from changes.plan import ChangePlan
from coordinator.protocols.verdict import State, Verdict
from coordinator.repairs.fresh import FreshPlans, Subject


@dataclass(frozen=True, slots=True)
class Overtaking:
    """`call` is the number, from 1, of the call at which a repair stopped, 0 where none was tried; `of` is how many its
    plan has.

    `written` are the sentences of what had been written by then, that call included. `finding_holds` says whether the
    table still has the finding, as read afterwards; `now` is that reading's own sentence.
    """

    subject: Subject
    reason: str
    call: int
    of: int
    written: tuple[str, ...]
    finding_holds: bool
    now: str

    @property
    def sentence(self) -> str:
        """What happened, what was written, and what is so now."""
        place = f"Stopped at call {self.call} of {self.of}" if self.written else BEFORE_ANY_CHANGE
        holds = "still holds: plan the repair again" if self.finding_holds else "no longer holds"
        told = (f"{place}: {self.reason}", in_words(self.written))
        again = f"The table was read again: finding {self.subject.finding} {holds}."
        return " ".join(part for part in (*told, again, self.now) if part)

    @property
    def document(self) -> OvertakenDocument:
        """As JSON (docs/json.md)."""
        return {
            "call": self.call,
            "of": self.of,
            "reason": self.reason,
            "written": list(self.written),
            "finding_holds": self.finding_holds,
        }


def was_overtaken(plan: ChangePlan, execution: Execution, again: FreshPlans) -> bool:
    """Whether the call that stopped would not be planned again; `again` was read after it had stopped."""
    end = execution.end
    if end is None or end.result is not Result.STOPPED or again.verdict.withheld:
        return False  # what is still being checked proves nothing
    now = again.plan_of(Subject.of(plan))
    return now is None or end.call not in now.saving_under(plan.rescue_folder).calls


def overtaken_at(plan: ChangePlan, execution: Execution, end: CallOutcome, again: FreshPlans) -> Overtaking:
    """What there is to tell of an execution that `end` has ended."""
    subject = Subject.of(plan)
    return Overtaking(
        subject,
        end.sentence,
        len(execution.outcomes),
        len(plan.calls),
        written(execution),
        still_holds(subject, again),
        again.verdict.summary,
    )


def overtaken_before(subject: Subject, reason: str, calls: int, again: FreshPlans) -> Overtaking:
    """What there is to tell of a plan of so many calls that nothing was sent of."""
    return Overtaking(subject, reason, 0, calls, (), still_holds(subject, again), again.verdict.summary)


def still_holds(subject: Subject, again: FreshPlans) -> bool:
    """Whether the finding is there and is trouble, or still names the repair; or may be, as it is being checked."""
    found = again.finding_of(subject)
    if is_doubtful(subject, again.verdict):
        return True
    return found is not None and (found.state is not State.HEALTHY or subject.repair in found.repairs)


def is_doubtful(subject: Subject, verdict: Verdict) -> bool:
    """Whether a reading left a finding of the kind, or about its version, to be checked."""
    versions = () if subject.version is None else (subject.version,)
    return any(one.code == subject.code or one.version in versions for one in verdict.withheld)


def written(execution: Execution) -> tuple[str, ...]:
    """The sentences of the calls that wrote, in order; the last one's also where it stopped after its write."""
    return tuple(outcome.sentence for outcome in execution.outcomes if outcome.wrote)


def in_words(sentences: Sequence[str]) -> str:
    """What was written, in the sentence about a repair that did not come to its end; "" for nothing."""
    return f"Written by then: {' '.join(sentences)}" if sentences else ""
