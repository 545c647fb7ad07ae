"""Making the calls of a plan, in order, up to the first that does not come to its end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from changes.calls import Answer, Call, Result, Sending, Stop
from lake.aws.errors import AwsError


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """One call and its end. `request_ids` are those of its writes, refused ones included, and of the request that
    failed; `wrote` says that AWS took a write of it, however the call ended.
    """

    call: Call
    answer: Answer
    request_ids: tuple[str, ...] = ()
    wrote: bool = False

    @property
    def result(self) -> Result:
        return self.answer.result

    @property
    def sentence(self) -> str:
        return self.answer.sentence

    @property
    def code(self) -> str:
        """A short word for why it did not come to its end: AWS's error code where that failed it, "" for none."""
        return self.answer.code

    @property
    def may_go_on(self) -> bool:
        return self.result in (Result.DONE, Result.ALREADY)


@dataclass(frozen=True, slots=True)
class Execution:
    """The calls that were made, in order; those behind the first STOPPED or FAILED one were not."""

    calls: Sequence[Call]
    outcomes: tuple[CallOutcome, ...]

    @property
    def is_complete(self) -> bool:
        return len(self.outcomes) == len(self.calls) and self.end is None

    @property
    def end(self) -> CallOutcome | None:
        """The call that ended it early, or None."""
        return next((outcome for outcome in self.outcomes if not outcome.may_go_on), None)

    @property
    def written(self) -> tuple[str, ...]:
        """The sentences of the calls that wrote, in order; the last one's also where it stopped after its write."""
        return tuple(outcome.sentence for outcome in self.outcomes if outcome.wrote)


def execute(
    calls: Sequence[Call], sending: Sending, on_call: Callable[[int, CallOutcome], None] | None = None
) -> Execution:
    """Make the calls. A lost race, a changed fact and an error of AWS are outcomes, never exceptions.

    `on_call` hears each call's place from 0 and its outcome before the next begins; `sending.check_cancelled` is asked
    before each, and what it raises goes through. Calls that were broken off at any place may be executed again: what is
    done already counts as done.
    """
    outcomes: list[CallOutcome] = []
    for place, call in enumerate(calls):
        sending.check_cancelled()
        outcome = make(call, sending.anew())
        outcomes.append(outcome)
        if on_call is not None:
            on_call(place, outcome)
        if not outcome.may_go_on:
            break
    return Execution(calls, tuple(outcomes))


def make(call: Call, sending: Sending) -> CallOutcome:
    """Make one call."""
    try:
        answer = call.send(sending)
    except Stop as stop:
        answer = Answer(Result.STOPPED, str(stop), stop.code)
    except AwsError as error:
        sending.note(error.request_id)
        answer = Answer(Result.FAILED, str(error), error.code)
    return CallOutcome(call, answer, tuple(sending.request_ids), bool(sending.taken))
