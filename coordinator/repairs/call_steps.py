"""The calls of a plan as the steps of its job."""

from contextlib import ExitStack
from types import TracebackType
from typing import Self

from changes.calls import Result
from changes.execution import CallOutcome
from changes.plan import ChangePlan
from coordinator.repairs.carrying_out import AuditSnapshots
from dashboard.jobs.context import JobContext, Step

STATES = {Result.DONE: "done", Result.ALREADY: "done", Result.STOPPED: "stopped", Result.FAILED: "failed"}


class CallSteps:
    """Hears each call's outcome: closes its step, writes its log line, keeps it for the audit log, begins the next."""

    def __init__(self, context: JobContext, plan: ChangePlan, snapshots: AuditSnapshots) -> None:
        self._context = context
        self._plan = plan
        self._snapshots = snapshots
        self._running = ExitStack()
        self._step: Step | None = None

    def __enter__(self) -> Self:
        self._begin(0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.__exit__(kind, error, trace)

    def __call__(self, place: int, outcome: CallOutcome) -> None:
        self._snapshots.note_call(outcome)
        log_call(self._context, place, outcome)
        if self._step is not None:
            self._step.detail = outcome.sentence
            self._step.state = STATES[outcome.result]
        self._running.close()
        self._step = None
        if outcome.may_go_on:
            self._begin(place + 1)

    def _begin(self, place: int) -> None:
        if place < len(self._plan.calls):
            self._step = self._running.enter_context(self._context.step(self._plan.calls[place].says))


def log_call(context: JobContext, place: int, outcome: CallOutcome) -> None:
    """Write a call and its outcome to the visible log, with the ids of its requests."""
    requests = f" (request {', '.join(outcome.request_ids)})" if outcome.request_ids else ""
    level = "INFO" if outcome.may_go_on else "WARN"
    context.log(f"{outcome.call.operation}: {outcome.sentence}{requests}", level=level, step=f"call {place + 1}")
