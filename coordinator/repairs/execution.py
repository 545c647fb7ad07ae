"""Making the calls of a plan, in order, up to the first that does not come to its end."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from coordinator.repairs import calls, items, objects
from coordinator.repairs.calls import Call
from coordinator.repairs.lake_port import RepairLake
from coordinator.repairs.litter import delete_litter
from coordinator.repairs.outcome import Answer, CallOutcome, Result, Sending, Stop
from coordinator.repairs.plan import Plan
from lake.aws.errors import AwsError

__all__ = ["CallOutcome", "Execution", "Result", "execute"]


@dataclass(frozen=True, slots=True)
class Execution:
    """The calls that were made, in order; those behind the first STOPPED or FAILED one were not."""

    plan: Plan
    outcomes: tuple[CallOutcome, ...]

    @property
    def is_complete(self) -> bool:
        return len(self.outcomes) == len(self.plan.calls) and self.end is None

    @property
    def end(self) -> CallOutcome | None:
        """The call that ended it early, or None."""
        return next((outcome for outcome in self.outcomes if not outcome.may_go_on), None)

    @property
    def request_ids(self) -> tuple[str, ...]:
        return tuple(request_id for outcome in self.outcomes for request_id in outcome.request_ids)


def execute(
    plan: Plan,
    lake: RepairLake,
    *,
    on_call: Callable[[int, CallOutcome], None] | None = None,
    check_cancelled: Callable[[], None] = lambda: None,
    now: Callable[[], float] = time.time,
) -> Execution:
    """Make the plan's calls. A lost race, a changed fact and an error of AWS are outcomes, never exceptions.

    `on_call` hears each call's place from 0 and its outcome before the next begins; `check_cancelled` is asked before
    each, and what it raises goes through. `now` is in epoch seconds. A plan that was broken off at any place may be
    executed again: what is done already counts as done.
    """
    outcomes: list[CallOutcome] = []
    for place, call in enumerate(plan.calls):
        check_cancelled()
        outcome = _make(call, Sending(lake, now))
        outcomes.append(outcome)
        if on_call is not None:
            on_call(place, outcome)
        if not outcome.may_go_on:
            break
    return Execution(plan, tuple(outcomes))


def _make(call: Call, sending: Sending) -> CallOutcome:
    code = ""
    try:
        answer = _send(call, sending)
    except Stop as stop:
        answer = Answer(Result.STOPPED, str(stop))
    except AwsError as error:
        sending.note(error.request_id)
        answer, code = Answer(Result.FAILED, str(error)), error.code
    return CallOutcome(call, answer.result, answer.sentence, tuple(sending.request_ids), code, bool(sending.taken))


def _send(call: Call, sending: Sending) -> Answer:
    match call:
        case calls.SaveAside():
            return objects.save_aside(call, sending)
        case calls.Publish():
            return objects.publish(call, sending)
        case calls.RequireEqual():
            return objects.require_equal(call, sending)
        case calls.RequireAbsent():
            return objects.require_absent(call, sending)
        case calls.RequireEmpty():
            return objects.require_empty(call, sending)
        case calls.RequireNoEntry():
            return items.require_no_entry(call, sending)
        case calls.CompleteEntry():
            return items.complete_entry(call, sending)
        case calls.DeleteEntry():
            return items.delete_entry(call, sending)
        case calls.ClearCommits():
            return items.clear_commits(call, sending)
        case calls.RaiseVersion():
            return items.raise_version(call, sending)
        case calls.Register():
            return items.register(call, sending)
        case calls.DeleteRegistration():
            return items.delete_registration(call, sending)
        case calls.DeleteLitter():
            return delete_litter(call, sending)
    assert_never(call)
