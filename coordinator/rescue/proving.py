"""What became of putting a copy back: proven by each call's own reading, overtaken, or failed."""

from collections.abc import Callable

from changes.calls import Result
from changes.documents import OvertakenDocument
from changes.execution import Execution
from changes.gate import BEFORE_ANY_CHANGE
from changes.plan import ChangePlan, Refusal
from coordinator.observation.passes import observe_one_table
from coordinator.repairs.carrying_out import Conclusion
from coordinator.repairs.overtaking import in_words, written
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobFailed, JobOvertaken
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.delta.uri import TableUri

PlanAgain = Callable[[], ChangePlan | Refusal]


def overtaken_before(reason: str) -> OvertakenDocument:
    """Of a plan that nothing was sent of."""
    return {"call": 0, "of": 0, "reason": reason, "written": []}


def conclude(
    connection: Connection, lake: Lake, plan: ChangePlan, plan_again: PlanAgain, execution: Execution
) -> Conclusion:
    """Read and store the table again. What was put back was read back by its call, or that call has not ended well."""
    trouble = _trouble(plan, execution, plan_again)
    reading = observe_one_table(connection, lake, TableUri.parse(plan.subject))
    if reading.error is not None and trouble is None:
        sentence = f"It was put back and read back; the table could not be read again: {reading.error}"
        return Conclusion(None, JobFailed(reading.error.code, sentence))
    return Conclusion(reading.verdict, trouble)


def _trouble(plan: ChangePlan, execution: Execution, plan_again: PlanAgain) -> JobFailed | JobOvertaken | None:
    end = execution.end
    if end is None:
        return None
    told = written(execution)
    place = f"Stopped at call {len(execution.outcomes)} of {len(plan.calls)}"
    changed = bool(told) or end.result is Result.FAILED
    sentence = f"{place if changed else BEFORE_ANY_CHANGE}: {end.sentence} {in_words(told)}".strip()
    if end.result is Result.STOPPED and _has_moved(plan_again, plan):
        facts: OvertakenDocument = {
            "call": len(execution.outcomes),
            "of": len(plan.calls),
            "reason": end.sentence,
            "written": list(told),
        }
        return JobOvertaken(sentence, facts)
    return JobFailed(end.code or "Stopped", sentence)


def _has_moved(plan_again: PlanAgain, plan: ChangePlan) -> bool:
    """Whether the same plan would not be made again: then somebody else was faster, and nothing is wrong here."""
    try:
        again = plan_again()
    except AwsError:
        return False
    return isinstance(again, Refusal) or again.digest != plan.digest
