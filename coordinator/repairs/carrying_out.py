"""A repair in the audit log, the table read after it, and the proof that its finding is gone."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict

from changes.calls import Result
from changes.carrying_out import Snapshots
from changes.documents import CallDocument
from changes.execution import CallOutcome, Execution
from changes.gate import BEFORE_ANY_CHANGE
from changes.plan import ChangePlan
from coordinator.observation.passes import observe_one_table
from coordinator.observation.reading import Reading
from coordinator.observation.saving import save_readings
from coordinator.protocols.verdict import Finding, State, Verdict
from coordinator.repairs.fresh import FreshPlans, Subject, plan_anew
from coordinator.repairs.overtaking import in_words, is_doubtful, overtaken_at, was_overtaken, written
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobContext, JobFailed, JobOvertaken
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.delta.uri import TableUri

MOST_FINDINGS = 20
"""Findings that the snapshot of a table holds."""

ORPHANS = ("C1", "K2")
"""Findings that count files, of which one plan may leave some for the next."""


class FindingSnapshot(TypedDict):
    """A finding with what was read, for the audit log."""

    code: str
    version: int | None
    state: str
    summary: str
    evidence: dict[str, object]


class TableSnapshot(TypedDict, total=False):
    """A table before a change or after it; `finding` is the one to be mended, `findings` are those left afterwards.

    `calls` are planned before and have an outcome after (`OutcomeDocument`); `copy` is the id of one to be put back.
    """

    state: str
    published_version: int | None
    accepted_version: int | None
    finding: FindingSnapshot | None
    findings: list[FindingSnapshot]
    calls: list[CallDocument]
    copy: str


def _finding_snapshot(finding: Finding) -> FindingSnapshot:
    return {
        "code": finding.code,
        "version": finding.version,
        "state": finding.state.value,
        "summary": finding.summary,
        "evidence": dict(finding.evidence),
    }


class AuditSnapshots(Snapshots):
    """A table before and after a repair, for the audit log."""

    @classmethod
    def of(cls, plan: ChangePlan, fresh: FreshPlans) -> "AuditSnapshots":
        """Begin with the table as it was read for the plan."""
        finding = fresh.finding_of(plan)
        snapshot = _finding_snapshot(finding) if finding else None
        return cls(plan, TableSnapshot(**_versions(fresh.verdict), finding=snapshot))

    def note_table(self, verdict: Verdict) -> None:
        """Add the table as it was read afterwards."""
        findings = [_finding_snapshot(one) for one in verdict.findings[:MOST_FINDINGS]]
        self.after.update(TableSnapshot(**_versions(verdict), findings=findings))


def read_and_plan(connection: Connection, lake: Lake, uri: str, path_scheme: str = "") -> FreshPlans:
    """Read one table, store what was read for the pages, and plan its repairs. Raises AwsError."""

    def keep(reading: Reading) -> None:
        save_readings(connection, [reading])

    return plan_anew(connection, lake, TableUri.parse(uri), path_scheme, keep)


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The table as read after a repair, None where it could not be; `trouble` is what it came to without a proof."""

    verdict: Verdict | None
    trouble: JobFailed | JobOvertaken | None

    @property
    def now(self) -> str:
        """What the table is now, as one sentence; "" where it could not be read."""
        return self.verdict.summary if self.verdict else ""


def read_again(context: JobContext, snapshots: AuditSnapshots, conclude: Callable[[], Conclusion]) -> str:
    """Conclude as a step of the job; returns what the table is now, as one sentence, and raises what it came to."""
    with context.step("Read the table again") as step:
        conclusion = conclude()
        step.detail = conclusion.now
        if conclusion.verdict is None:
            step.state = "failed"
        else:
            snapshots.note_table(conclusion.verdict)
    if conclusion.trouble is not None:
        raise conclusion.trouble
    return conclusion.now


def conclude(
    connection: Connection, lake: Lake, plan: ChangePlan, fresh: FreshPlans, execution: Execution
) -> Conclusion:
    """Read and store the table again, and judge by it: proven, overtaken, or failed.

    It has failed where a call ended it that nobody overtook, where the table cannot be read, where the finding stands
    or may stand, and where a new one was left behind.
    """
    if execution.end is not None:
        return _ended(connection, lake, plan, fresh, execution, execution.end)
    reading = observe_one_table(connection, lake, TableUri.parse(plan.subject))
    if reading.error is not None:
        sentence = f"The table could not be read again after the repair: {reading.error}"
        return Conclusion(None, JobFailed(reading.error.code, sentence))
    if reading.verdict is None:
        sentence = "After the repair neither the table's log nor its entries were there."
        return Conclusion(None, JobFailed("TableGone", sentence))
    return Conclusion(reading.verdict, unproven(plan, fresh, reading.verdict))


def unproven(plan: ChangePlan, fresh: FreshPlans, verdict: Verdict) -> JobFailed | None:
    """What is wrong after every call was made: the finding stands or may stand, or a new one was left behind."""
    still = still_wrong(plan, fresh, verdict)
    if still is not None:
        return JobFailed("StillWrong", f"Every call was made, and this is still wrong: {still.summary}")
    if is_doubtful(Subject.of(plan), verdict):
        checking = f"Every call was made, and whether {plan.code} is gone is not proven yet: observe the table again."
        return JobFailed("NotProven", checking)
    return None


def _ended(
    connection: Connection, lake: Lake, plan: ChangePlan, fresh: FreshPlans, execution: Execution, end: CallOutcome
) -> Conclusion:
    """A repair that one of its calls has ended."""
    try:
        again = read_and_plan(connection, lake, plan.subject, fresh.path_scheme)
    except AwsError as error:
        sentence = f"{_where(execution, end)} The table could not be read again: {error}"
        return Conclusion(None, JobFailed(end.code or error.code, sentence))
    told = overtaken_at(plan, execution, end, again)
    if was_overtaken(plan, execution, again):
        return Conclusion(again.verdict, JobOvertaken(told.sentence, told.document))
    holds = "" if told.finding_holds else " The table was read again: the finding no longer holds."
    return Conclusion(again.verdict, JobFailed(end.code or "Stopped", f"{_where(execution, end)}{holds}"))


def _where(execution: Execution, end: CallOutcome) -> str:
    """Where a repair ended and what it had written. Of a call that AWS did not answer nobody knows whether it wrote."""
    told = written(execution)
    changed = told or end.result is Result.FAILED
    place = f"Stopped at call {len(execution.outcomes)} of {len(execution.calls)}" if changed else BEFORE_ANY_CHANGE
    return " ".join(part for part in (f"{place}: {end.sentence}", in_words(told)) if part)


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


def _is_less(now: Finding, before: Finding | None) -> bool:
    """Whether fewer of the files that it counts are left; a finding without a count is never less."""
    count, was = now.evidence.get("count"), before.evidence.get("count") if before else None
    return now.code in ORPHANS and isinstance(count, int) and isinstance(was, int) and count < was


def _versions(verdict: Verdict) -> TableSnapshot:
    return {
        "state": verdict.state.value,
        "published_version": verdict.published_version,
        "accepted_version": verdict.accepted_version,
    }
