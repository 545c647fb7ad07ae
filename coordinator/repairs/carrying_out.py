"""What is kept while a plan is carried out, and the proof afterwards that its finding is gone."""

from dataclasses import dataclass, field
from typing import Any

from coordinator.observation.passes import observe_one_table
from coordinator.protocols.verdict import Finding, State, Verdict
from coordinator.repairs.documents import call_document, finding_image
from coordinator.repairs.execution import CallOutcome, Execution, Result
from coordinator.repairs.fresh import FreshPlans
from coordinator.repairs.plan import Plan
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobFailed
from lake.aws.access import Lake
from lake.delta.uri import TableUri

MOST_FINDINGS = 20
"""Findings that the image of a table holds."""

LITTER = ("C1", "K2")
"""Findings that count files, of which one plan may leave some for the next."""


@dataclass
class Images:
    """A table before and after a repair, for the audit log; filled call by call, so that no stop loses what was sent.

    `request_ids` are those of the requests to AWS that wrote, or were refused.
    """

    before: dict[str, Any]
    after: dict[str, Any] = field(default_factory=dict)
    request_ids: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, plan: Plan, fresh: FreshPlans) -> "Images":
        """Begin with the table as it was read for the plan."""
        finding = fresh.finding_of(plan)
        calls = [call_document(call) for call in plan.calls]
        image = finding_image(finding) if finding else None
        return cls({**_versions(fresh.verdict), "finding": image, "calls": calls}, {"calls": []})

    def note_call(self, outcome: CallOutcome) -> None:
        """Add a call with its outcome."""
        document = call_document(outcome.call)
        self.after["calls"].append({**document, "outcome": outcome.result.value, "sentence": outcome.sentence})
        self.request_ids.extend(outcome.request_ids)

    def note_table(self, verdict: Verdict) -> None:
        """Add the table as it was read afterwards."""
        findings = [finding_image(one) for one in verdict.findings[:MOST_FINDINGS]]
        self.after.update(_versions(verdict) | {"findings": findings})


def observe_again(connection: Connection, lake: Lake, plan: Plan) -> Verdict:
    """Read and store the repaired table; raises JobFailed where it cannot be read, or is gone."""
    reading = observe_one_table(connection, lake, TableUri.parse(plan.uri))
    if reading.error is not None:
        raise JobFailed(reading.error.code, f"The table could not be read again after the repair: {reading.error}")
    if reading.verdict is None:
        raise JobFailed("TableGone", "After the repair neither the table's log nor its entries were there.")
    return reading.verdict


def prove(plan: Plan, fresh: FreshPlans, execution: Execution, verdict: Verdict) -> None:
    """Raise JobFailed where a call ended the repair, the finding stands, or the repair left a new one behind."""
    end = execution.end
    if end is not None:
        raise JobFailed(end.code or "Stopped", _ended(end, execution, verdict))
    still = still_wrong(plan, fresh, verdict)
    if still is not None:
        raise JobFailed("StillWrong", f"Every call was made, and this is still wrong: {still.summary}")


def still_wrong(plan: Plan, fresh: FreshPlans, verdict: Verdict) -> Finding | None:
    """The repaired finding if it still stands, else one about the same version that was not there before.

    A finding that only notes something counts as resolved where it no longer names the repair, or counts fewer files
    than before: those of young commits stay, for example, and so do those that a plan without loss leaves alone.
    """
    known = {(one.code, one.version): one for one in fresh.verdict.findings}
    for one in verdict.findings:
        same = (one.code, one.version) == (plan.code, plan.version)
        stands = one.state is not State.HEALTHY or plan.repair in one.repairs
        if same and stands and not _is_less(one, known.get((one.code, one.version))):
            return one
        about = plan.version is not None and one.version == plan.version and (one.code, one.version) not in known
        if about and one.state is not State.HEALTHY:
            return one
    return None


def _is_less(now: Finding, before: Finding | None) -> bool:
    """Whether fewer of the files that it counts are left; a finding without a count is never less."""
    count, was = now.evidence.get("count"), before.evidence.get("count") if before else None
    return now.code in LITTER and isinstance(count, int) and isinstance(was, int) and count < was


def _ended(end: CallOutcome, execution: Execution, verdict: Verdict) -> str:
    changed = any(one.result is Result.DONE for one in execution.outcomes) or end.result is Result.FAILED
    place = f"Stopped at call {len(execution.outcomes)} of {len(execution.plan.calls)}"
    plan = execution.plan
    holds = any((one.code, one.version) == (plan.code, plan.version) for one in verdict.findings)
    rest = "" if holds else " The table was read again: the finding no longer holds."
    return f"{place if changed else 'Stopped before any change'}: {end.sentence}{rest}"


def _versions(verdict: Verdict) -> dict[str, Any]:
    return {
        "state": verdict.state.value,
        "published_version": verdict.published_version,
        "accepted_version": verdict.accepted_version,
    }
