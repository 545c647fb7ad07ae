"""One act from fresh checks to proof: plan, finish what writers left, let Spark do it, read the table again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from changes.calls import Call, Result, Sending
from changes.carrying_out import Snapshots
from changes.execution import CallOutcome, Execution, execute
from changes.gate import BEFORE_ANY_CHANGE
from changes.plan import ChangePlan, Refusal
from coordinator.coordination.checks import CoordinationRequest, Operation, Preflight, preflight_document
from coordinator.coordination.confirmed import ActResult, CheckResult
from coordinator.coordination.features import LEFT_BEHIND
from coordinator.coordination.left_registrations import left_by, removal_of
from coordinator.coordination.preflight import plan_act, preflight
from coordinator.coordination.progress import SparkSteps
from coordinator.coordination.reading import read_outcome, read_situation
from coordinator.coordination.situation import Situation
from coordinator.coordination.spark_calls import AppendNothing, RemoveLeftover, spark_calls, statement_of, steps_of
from coordinator.coordination.table_checks import backfills_of
from coordinator.coordination.verification import aftermath, proofs, registration_of, snapshot, unproven
from coordinator.observation.passes import observe_one_table
from coordinator.observation.reading import Reading
from coordinator.observation.saving import save_readings
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobCancelled, JobContext, JobFailed, JobInterrupted, JobResult
from dashboard.spark.warm import spark
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.delta.uri import TableUri
from lake.spark.messages import SparkJob, SparkOutcome

STAYING = (*LEFT_BEHIND, "checkpointProtection")
"""Features that are told of where a drop leaves them; Delta puts the last one in where it removes another at once."""
MOST_BACKFILLS = 20
"""Repairs before a drop; each is planned from a reading of its own."""

BEFORE_THE_DROP = "Stopped before the drop"
CHECK, READ_AGAIN = "Check the preconditions", "Read the table again"

Keep = Callable[[JobResult], None]
"""Stores parts of the result as they become known."""


@dataclass(frozen=True, slots=True)
class PlannedAct:
    """A plan, or why there is none, and what it was made from."""

    situation: Situation
    checked: Preflight
    made: ChangePlan | Refusal

    def plan(self, stopped: str = BEFORE_ANY_CHANGE) -> ChangePlan:
        """Raises JobFailed where it is refused; `stopped` says what was done by then."""
        if isinstance(self.made, Refusal):
            raise JobFailed("Refused", f"{stopped}: {self.made.reason}")
        return self.made


class CutShort(JobCancelled):
    """Cancelled while Spark was at it: says what the table is now."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def plan_now(connection: Connection, lake: Lake, change: CoordinationRequest, keep: Keep, job: UUID) -> PlannedAct:
    """Read the table, make every check of the act, keep them, and plan. Raises nothing that AWS says of the table."""
    situation = read_situation(connection, lake, change, own_job=job)
    checked = preflight(situation)
    made = plan_act(situation, checked)
    digest = "" if isinstance(made, Refusal) else made.digest
    keep(CheckResult(preflight=preflight_document(checked, digest, statement_of(spark_calls(change, checked)))))
    return PlannedAct(situation, checked, made)


@dataclass(slots=True)
class SparkAtWork:
    """The warm Spark during one act, whose steps are those of the job; `last` is the step that it was in."""

    connection: Connection
    lake: Lake
    situation: Situation
    progress: JobContext
    outcomes: list[SparkOutcome] = field(default_factory=list)
    last: str = ""

    def run(self, job: SparkJob) -> SparkOutcome:
        steps = SparkSteps(self.progress)
        seen = self.situation
        port = spark.borrow(self.connection, self.lake, seen.log_store_in_use, seen.bucket_region)
        try:
            with steps:
                outcome = port.run(job, steps, check=self.progress.check_cancelled)
                if outcome.state != "done":
                    steps.fail()
        finally:
            self.last = steps.last
        self.outcomes.append(outcome)
        return outcome


@dataclass(frozen=True, slots=True)
class ActUnderWay:
    """One act while `job` carries it out; `confirmed` raises JobFailed where the plan of now is not the confirmed one.

    With `probe` an append of no rows follows, which takes a version: only where it is asked for.
    """

    connection: Connection
    lake: Lake
    change: CoordinationRequest
    job: UUID
    progress: JobContext
    keep: Keep
    confirmed: Callable[[ChangePlan, Preflight], None] = lambda plan, checked: None
    probe: bool = False

    def carry_out(self) -> str:
        """Do it and prove it; returns the sentence of the outcome. Raises JobFailed, JobCancelled, AwsError."""
        with self.progress.step(CHECK) as step:
            planned = self._planned()
            self.confirmed(planned.plan(), planned.checked)
            warned, plan = len(planned.checked.warnings), self._with_probe(planned)
            passed = f"{len(planned.checked.checks)} checks, none failed, {warned} to weigh."
            step.detail = passed if warned else "Every check passed."
            ahead = [one.title for one in backfills_of(planned.situation)] if plan.ahead else []
            step.then = (*ahead, *steps_of(plan.calls), READ_AGAIN)
        kept = Snapshots(plan, snapshot(planned.situation))
        self.keep(kept.result())
        planned = self._backfilled(planned, kept)
        asked = SparkAtWork(self.connection, self.lake, planned.situation, self.progress)
        said = self._send(planned, asked, kept)
        with self.progress.step(READ_AGAIN) as step:
            after = self._observed()
            kept.after.update(snapshot(after))
            made = proofs(planned.checked, after)
            self.keep(ActResult(proofs=[check.sentence for check in made]))
            if wrong := unproven(made):
                told = left_by(planned.situation, after).sentence
                raise JobFailed(
                    "NotProven", f"Spark was done, and this is not as it should be: {wrong} {told}".rstrip()
                )
            step.detail = " ".join(check.sentence for check in made)
        return " ".join((_outcome(self.change, planned.checked, after, asked.outcomes[0]), *said))

    def _planned(self) -> PlannedAct:
        return plan_now(self.connection, self.lake, self.change, self.keep, self.job)

    def _with_probe(self, planned: PlannedAct) -> ChangePlan:
        plan = planned.plan()
        if not self.probe:
            return plan
        probe = AppendNothing(location=planned.checked.location, store=planned.checked.store)
        return replace(plan, calls=(*plan.calls, probe))

    def _backfilled(self, planned: PlannedAct, kept: Snapshots) -> PlannedAct:
        """Make what goes ahead, repair by repair, and plan the act anew after each."""
        for _ in range(MOST_BACKFILLS):
            if not planned.plan(BEFORE_THE_DROP).ahead:
                return planned
            repair = backfills_of(planned.situation)[0]
            with self.progress.step(repair.title) as step:
                execution = self._execute(repair.calls, kept)
                if not execution.is_complete:
                    end = execution.end
                    said = end.sentence if end else "not complete"
                    raise JobFailed("NotBackfilled", f"{BEFORE_THE_DROP}: {said}")
                step.detail = f"{len(execution.outcomes):,} calls."
            planned = self._planned()
        raise JobFailed("NotBackfilled", f"{BEFORE_THE_DROP}: the table gets new unbackfilled commits; pause it.")

    def _send(self, planned: PlannedAct, asked: SparkAtWork, kept: Snapshots) -> list[str]:
        """Give Spark each statement; returns what became of those without which the act stands as well."""
        calls = self._with_probe(planned).calls
        leftovers = [call for call in calls if isinstance(call, RemoveLeftover) and call.after_drop]
        try:
            execution = self._execute([call for call in calls if call not in leftovers], kept, asked)
            if execution.end is not None:
                raise self._failure(planned.situation, execution.end, asked, kept)
            return [self._also_removed(call, kept, asked) for call in leftovers]
        except JobInterrupted:
            raise
        except JobCancelled as cancelled:
            where = asked.last or "the start of Spark"
            raise CutShort(f"Cancelled at {where}. {self._what_now(planned.situation, None, kept)}") from cancelled

    def _execute(self, calls: Sequence[Call], kept: Snapshots, asked: SparkAtWork | None = None) -> Execution:
        sending = Sending(self.lake, check_cancelled=self.progress.check_cancelled, spark=asked)
        return execute(calls, sending, lambda _, outcome: kept.note_call(outcome))

    def _failure(self, before: Situation, end: CallOutcome, asked: SparkAtWork, kept: Snapshots) -> JobFailed:
        """What ended the act, told together with what the table is then."""
        if end.result is Result.STOPPED and len(kept.calls) == 1:
            return JobFailed(end.code, f"{BEFORE_ANY_CHANGE}: {end.sentence}")
        outcome = asked.outcomes[-1] if asked.outcomes else None
        return JobFailed(end.code, f"{end.sentence} {self._what_now(before, outcome, kept)}".strip())

    def _also_removed(self, call: RemoveLeftover, kept: Snapshots, asked: SparkAtWork) -> str:
        """After a drop, remove what it leaves behind; Delta may refuse, and the drop stands either way."""
        end = self._execute([call], kept, asked).end
        if end is None:
            return f"{call.feature} was removed."
        self.progress.log(f"{call.feature} stays: {end.sentence}", level="WARN")
        return f"{call.feature} stays, as Delta says: {end.sentence}"

    def _what_now(self, before: Situation, outcome: SparkOutcome | None, kept: Snapshots) -> str:
        """Look once, without any step: a cancelled job may begin none. What the act left is told, or removed."""
        try:
            after = self._observed()
            left = left_by(before, after)
            said = aftermath(after)
            if not left.registrations:
                return f"{said} {left.sentence}".rstrip()
            removed = self._remove(removal_of(left, after, outcome), kept)
            kept.after.update({**snapshot(after), "left": left.document(removed=bool(removed))})
            if removed:
                self._observed()
            return f"{said} {left.sentence} {removed or left.stays}"
        except AwsError as error:
            return f"The table could not be read again ({error}): observe it before anything else."

    def _remove(self, plan: ChangePlan | None, kept: Snapshots) -> str:
        """Remove what the act itself left, if it is still as it was read; the call's sentence, "" where it stays."""
        if plan is None:
            return ""
        try:
            execution = self._execute(plan.calls, kept)
        except JobCancelled:
            return ""
        for outcome in execution.outcomes:
            self.progress.log(outcome.sentence)
        return execution.outcomes[0].sentence if execution.is_complete else ""

    def _observed(self) -> Situation:
        """Read once what has to be proven, and store the same reading for the pages."""

        def store(reading: Reading) -> None:
            save_readings(self.connection, [reading])

        after = read_outcome(self.connection, self.lake, self.change, store)
        if after.error:
            observe_one_table(self.connection, self.lake, TableUri.parse(self.change.uri))
        return after


def _outcome(change: CoordinationRequest, checked: Preflight, after: Situation, outcome: SparkOutcome) -> str:
    newest = after.repair.verdict.published_version if after.repair else None
    item = registration_of(after)
    registered = f" as {item.table_id}" if item else ""
    match change.operation:
        case Operation.ENABLE:
            return f"Coordinated commits are on: registered in {checked.store}{registered}, at version {newest}."
        case Operation.CREATE:
            return f"The table is there, coordinated by {checked.store}{registered}."
        case Operation.LEFTOVERS:
            return f"{change.remove_features[0]} is gone, at version {newest}."
        case Operation.DROP:
            commits = [str(one.get("version")) for one in outcome.result.get("commits", [])]
            left = ", ".join(feature for feature in STAYING if feature in after.features) or "no feature"
            return (
                f"Coordinated commits are off since version {commits[-1] if commits else newest} "
                f"(commits {', '.join(commits) or 'none'}). "
                f"Left behind: {left}, and the coordinator's item, which accepts no more."
            )
