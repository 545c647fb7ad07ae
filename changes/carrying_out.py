"""Carrying out a plan in a job, whatever it changes: on a lake that may be changed, as it was shown, call by call."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import cast

from changes.calls import Result, Sending
from changes.documents import OutcomeDocument, OvertakenDocument, call_document, outcome_document
from changes.execution import CallOutcome, Execution, execute
from changes.gate import BEFORE_ANY_CHANGE, Confirmation, check_writable, connection_of, or_stop, require_name
from changes.plan import ChangePlan, Refusal
from dashboard.accounts.actor import Actor
from dashboard.audit.log import Source
from dashboard.connections.access import lake_access
from dashboard.jobs.context import JobContext, JobFailed, JobResult
from lake.aws.access import Lake, open_lake

STATES = {Result.DONE: "done", Result.ALREADY: "done", Result.STOPPED: "stopped", Result.FAILED: "failed"}
MOVED = "what the plan rests on has changed since it was shown."


class Snapshots:
    """What is kept of a change for the audit log: before and after; filled call by call, so that no stop loses what was
    sent.

    `before` has the calls of the plan, at most so many of them, beside what else is known of before; `calls` are those
    that were made, and stand in `after`. `request_ids` are those of the requests to AWS that wrote, or were refused.
    """

    def __init__(self, plan: ChangePlan, before: Mapping[str, object], most: int | None = None) -> None:
        self.plan = plan
        self.calls: list[OutcomeDocument] = []
        self.before: dict[str, object] = {**before, "calls": [call_document(call) for call in plan.calls[:most]]}
        self.after: dict[str, object] = {"calls": self.calls}
        self.request_ids: list[str] = []
        self._counts: Counter[str] = Counter()

    def result(self) -> JobResult:
        """What a job stores of it; it fills up while the calls are made."""
        return {"before": self.before, "after": self.after, "aws_request_ids": self.request_ids}

    def note_call(self, outcome: CallOutcome) -> None:
        """Add a call with its outcome, and what it counted."""
        self.calls.append(outcome_document(outcome))
        self.request_ids.extend(outcome.request_ids)
        self._counts.update(outcome.answer.counts)
        self.after.update(self._counts)

    def remember(self, was: Mapping[str, object], will: Mapping[str, object]) -> None:
        """Add what a call has read before it writes, and what it writes."""
        self.before.update(was)
        self.after.update(will)


@contextmanager
def lake_to_change(context: JobContext) -> Iterator[Lake]:
    """The lake of the job's connection. Raises JobFailed where it may not be changed, LookupError where it is gone."""
    connection = connection_of(context)
    check_writable(connection)
    with open_lake(lake_access(connection)) as lake:
        try:
            yield lake
        finally:
            context.result({"requests": lake.requests.total})


def why_moved(made: ChangePlan | Refusal | None) -> str:
    """Why what is planned now is not what was confirmed."""
    return f"it is refused now: {made.reason}" if isinstance(made, Refusal) else MOVED


def check_shown(plan: ChangePlan, digest: str, moved: str = f"{MOVED} Plan it again.") -> None:
    """Raises JobFailed where the plan of now is not the one that was confirmed; `moved` says what is otherwise."""
    if plan.digest != digest:
        raise JobFailed("Moved", f"{BEFORE_ANY_CHANGE}: {moved}")


def check_danger(context: JobContext, params: Confirmation, plan: ChangePlan, name: str, losing_verb: str) -> None:
    """What a danger needs, once more: the name as typed, and an admin where a commit can be lost. Raises JobFailed."""
    job = context.job
    asker = Actor(job.requested_by_name, cast("Source", params["source"]), job.requested_by)
    if plan.can_lose and not asker.may(losing_verb, job.connection):
        raise JobFailed("NotAllowed", f"{BEFORE_ANY_CHANGE}: this can lose a commit and needs an admin.")
    if plan.can_lose or plan.danger:
        with or_stop():
            require_name(params["confirm"], name, can_lose=plan.can_lose)


def carry_out(context: JobContext, plan: ChangePlan, kept: Snapshots, sending: Sending) -> Execution:
    """Make the calls of a plan, each as a step of the job."""
    context.result(kept.result())
    outcomes: list[CallOutcome] = []
    for place, call in enumerate(plan.calls):
        with context.step(call.says) as step:
            [outcome] = execute([call], sending).outcomes
            note_call(context, kept, place, outcome)
            step.detail, step.state = outcome.sentence, STATES[outcome.result]
        outcomes.append(outcome)
        if not outcome.may_go_on:
            break
    return Execution(plan.calls, tuple(outcomes))


def carry_out_in_one_step(context: JobContext, plan: ChangePlan, kept: Snapshots, sending: Sending) -> Execution:
    """Make the calls of a plan, of which there may be hundreds, as one step of the job."""
    context.result(kept.result())

    def note(place: int, outcome: CallOutcome) -> None:
        note_call(context, kept, place, outcome)
        context.progress(place + 1, len(plan.calls))

    with context.step(plan.title) as step:
        execution = execute(plan.calls, sending, note)
        step.detail = execution.outcomes[-1].sentence
        step.state = "failed" if execution.end else "done"
    return execution


def note_call(context: JobContext, kept: Snapshots, place: int, outcome: CallOutcome) -> None:
    """Keep a call with its outcome, and write it to the visible log with the ids of its requests."""
    kept.note_call(outcome)
    requests = f" (request {', '.join(outcome.request_ids)})" if outcome.request_ids else ""
    level = "INFO" if outcome.may_go_on else "WARN"
    context.log(f"{outcome.call.operation}: {outcome.sentence}{requests}", level=level, step=f"call {place + 1}")


def stopped_in_words(execution: Execution) -> str:
    """Where a call ended a change, why, and what had been written by then; "" where none did.

    Of a call that AWS did not answer nobody knows whether it wrote.
    """
    end, told = execution.end, execution.written
    if end is None:
        return ""
    changed = told or end.result is Result.FAILED
    place = f"Stopped at call {len(execution.outcomes)} of {len(execution.calls)}" if changed else BEFORE_ANY_CHANGE
    before = " ".join(one for one in told if one != end.sentence)
    by_then = f" Written by then: {before}" if before else ""
    return f"{place}: {end.sentence}{by_then}"


def overtaken_at(execution: Execution) -> OvertakenDocument:
    """What there is to tell of a change that one of its calls has ended, as JSON (docs/json.md)."""
    return {
        "call": len(execution.outcomes),
        "of": len(execution.calls),
        "reason": execution.end.sentence if execution.end else "",
        "written": list(execution.written),
    }
