"""A repair in the audit log, the table read after it, and what the repair came to: proven, overtaken, or failed.

Overtaken is a repair that stopped at a fact that no longer held, and whose call would not be planned again from a
reading made afterwards. A call that would be planned again as it was has met an obstacle that nobody put there since.
"""

from collections.abc import Callable

from changes.calls import Result
from changes.carrying_out import Snapshots, overtaken_at, stopped_in_words
from changes.documents import OvertakenDocument
from changes.execution import Execution
from changes.gate import BEFORE_ANY_CHANGE
from changes.plan import ChangePlan
from coordinator.observation.passes import observe_one_table
from coordinator.observation.reading import Reading
from coordinator.observation.saving import save_readings
from coordinator.protocols.verdict import Finding, State, Verdict
from coordinator.repairs.fresh import FreshPlans, Subject, plan_anew
from coordinator.repairs.reading import Keep
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobContext, JobFailed, JobOvertaken
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.delta.uri import TableUri

MOST_FINDINGS = 20
"""Findings that the snapshot of a table holds."""

READ_AGAIN = "Read the table again"
ORPHANS = ("C1", "K2")
"""Findings that count files, of which one plan may leave some for the next."""

Trouble = JobFailed | JobOvertaken | None
"""What a change came to where it is not proven."""


class AuditSnapshots(Snapshots):
    """A table before and after a change, for the audit log.

    Before has the finding to be mended as `finding`, after those that are left as `findings`; both have the calls.
    `now` is what the table is afterwards, as one sentence, "" while it is not read.
    """

    now = ""

    def note_table(self, verdict: Verdict) -> None:
        """Add the table as it was read afterwards."""
        findings = [_finding_snapshot(one) for one in verdict.findings[:MOST_FINDINGS]]
        self.after.update({**_versions(verdict), "findings": findings})
        self.now = verdict.summary


def keep_in(connection: Connection) -> Keep:
    """Store what is read for a plan, for the pages."""

    def keep(reading: Reading) -> None:
        save_readings(connection, [reading])

    return keep


def read_and_plan(connection: Connection, lake: Lake, uri: str, path_scheme: str = "") -> FreshPlans:
    """Read one table, store what was read for the pages, and plan its repairs. Raises AwsError."""
    return plan_anew(connection, lake, TableUri.parse(uri), path_scheme, keep_in(connection))


def read_again(context: JobContext, snapshots: AuditSnapshots, prove: Callable[[], Trouble]) -> str:
    """Prove as a step of the job; returns what the table is now, as one sentence, and raises what it came to."""
    with context.step(READ_AGAIN) as step:
        trouble = prove()
        step.detail = snapshots.now
        step.state = "done" if snapshots.now else "failed"
    if trouble is not None:
        raise trouble
    return snapshots.now


class PlanUnderWay:
    """One plan that is carried out, and what it comes to."""

    def __init__(self, connection: Connection, lake: Lake, plan: ChangePlan, fresh: FreshPlans) -> None:
        """Begin with the table as it was read for the plan."""
        self._connection = connection
        self._lake = lake
        self._plan = plan
        self._fresh = fresh
        finding = fresh.finding_of(plan)
        snapshot = _finding_snapshot(finding) if finding else None
        self.snapshots = AuditSnapshots(plan, {**_versions(fresh.verdict), "finding": snapshot})

    def prove(self, execution: Execution) -> Trouble:
        """Read and store the table again, and judge by it.

        A repair has failed where a call ended it that nobody overtook, where the table cannot be read, where the
        finding stands or may stand, and where a new one was left behind.
        """
        if execution.end is not None:
            return self._stopped(execution, execution.end.code)
        reading = observe_one_table(self._connection, self._lake, TableUri.parse(self._plan.subject))
        if reading.error is not None:
            sentence = f"The table could not be read again after the repair: {reading.error}"
            return JobFailed(reading.error.code, sentence)
        if reading.verdict is None:
            return JobFailed("TableGone", "After the repair neither the table's log nor its entries were there.")
        self.snapshots.note_table(reading.verdict)
        return unproven(self._plan, self._fresh, reading.verdict)

    def _stopped(self, execution: Execution, code: str) -> Trouble:
        """What a repair came to that one of its calls has ended."""
        plan, told = self._plan, stopped_in_words(execution)
        try:
            again = read_and_plan(self._connection, self._lake, plan.subject, self._fresh.path_scheme)
        except AwsError as error:
            return JobFailed(code or error.code, f"{told} The table could not be read again: {error}")
        self.snapshots.note_table(again.verdict)
        if was_overtaken(plan, execution, again):
            return _overtaken(Subject.of(plan), told, again, overtaken_at(execution))
        holds = (
            "" if still_holds(Subject.of(plan), again) else " The table was read again: the finding no longer holds."
        )
        return JobFailed(code or "Stopped", f"{told}{holds}")


def unproven(plan: ChangePlan, fresh: FreshPlans, verdict: Verdict) -> JobFailed | None:
    """What is wrong after every call was made: the finding stands or may stand, or a new one was left behind."""
    still = still_wrong(plan, fresh, verdict)
    if still is not None:
        return JobFailed("StillWrong", f"Every call was made, and this is still wrong: {still.summary}")
    if _is_doubtful(Subject.of(plan), verdict):
        checking = f"Every call was made, and whether {plan.code} is gone is not proven yet: observe the table again."
        return JobFailed("NotProven", checking)
    return None


def overtaken_before(subject: Subject, reason: str, calls: int, again: FreshPlans) -> JobOvertaken:
    """Of a plan of so many calls nothing was sent."""
    facts: OvertakenDocument = {"call": 0, "of": calls, "reason": reason, "written": []}
    return _overtaken(subject, f"{BEFORE_ANY_CHANGE}: {reason}", again, facts)


def _overtaken(subject: Subject, told: str, again: FreshPlans, facts: OvertakenDocument) -> JobOvertaken:
    """What happened, what was written, and what is so now."""
    holds = still_holds(subject, again)
    now = "still holds: plan the repair again" if holds else "no longer holds"
    sentence = f"{told} The table was read again: finding {subject.finding} {now}. {again.verdict.summary}"
    return JobOvertaken(sentence.rstrip(), {**facts, "finding_holds": holds})


def was_overtaken(plan: ChangePlan, execution: Execution, again: FreshPlans) -> bool:
    """Whether the call that stopped would not be planned again; `again` was read after it had stopped."""
    end = execution.end
    if end is None or end.result is not Result.STOPPED or again.verdict.withheld:
        return False  # what is still being checked proves nothing
    now = again.made_of(Subject.of(plan))
    return not isinstance(now, ChangePlan) or end.call not in now.saving_under(plan.rescue_folder).calls


def still_holds(subject: Subject, again: FreshPlans) -> bool:
    """Whether the finding is there and is trouble, or still names the repair; or may be, as it is being checked."""
    if _is_doubtful(subject, again.verdict):
        return True
    found = again.finding_of(subject)
    return found is not None and (found.state is not State.HEALTHY or subject.repair in found.repairs)


def still_wrong(plan: ChangePlan, fresh: FreshPlans, verdict: Verdict) -> Finding | None:
    """The repaired finding if it still stands, else one about the same version that was not there before.

    A finding that only notes something counts as resolved where it no longer names the repair, or counts fewer files
    than before: those of young commits stay, for example, and so do those that a plan without loss leaves alone.
    """
    known = {(one.code, one.version): one for one in fresh.verdict.findings}
    for one in verdict.findings:
        same = (one.code, one.version) == (plan.code, plan.version)
        stands = one.state is not State.HEALTHY or plan.kind in one.repairs
        if same and stands and not _is_less(one, known.get((one.code, one.version))):
            return one
        about = plan.version is not None and one.version == plan.version and (one.code, one.version) not in known
        if about and one.state is not State.HEALTHY:
            return one
    return None


def _is_doubtful(subject: Subject, verdict: Verdict) -> bool:
    """Whether a reading left a finding of the kind, or about its version, to be checked."""
    versions = () if subject.version is None else (subject.version,)
    return any(one.code == subject.code or one.version in versions for one in verdict.withheld)


def _is_less(now: Finding, before: Finding | None) -> bool:
    """Whether fewer of the files that it counts are left; a finding without a count is never less."""
    count, was = now.evidence.get("count"), before.evidence.get("count") if before else None
    return now.code in ORPHANS and isinstance(count, int) and isinstance(was, int) and count < was


def _finding_snapshot(finding: Finding) -> dict[str, object]:
    return {
        "code": finding.code,
        "version": finding.version,
        "state": finding.state.value,
        "summary": finding.summary,
        "evidence": dict(finding.evidence),
    }


def _versions(verdict: Verdict) -> dict[str, object]:
    return {
        "state": verdict.state.value,
        "published_version": verdict.published_version,
        "accepted_version": verdict.accepted_version,
    }
