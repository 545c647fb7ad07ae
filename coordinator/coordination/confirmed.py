"""What is confirmed before an act, and with it: checks of this very act, made not long ago, and what a person states.

Each refusal is one sentence, and nothing was changed.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TypedDict, cast

from django.db.models import QuerySet

from changes.documents import PlanDocument, PlannedResult, planned_by
from changes.gate import Confirmation, NotConfirmed, PlanNeeded, is_too_old, read_at
from coordinator.coordination.checks import CoordinationRequest, Operation
from coordinator.coordination.contract import PreflightDocument, RehearsalDocument
from dashboard.connections.writable import ChangeRefused
from dashboard.jobs.models import Job

CHECK_KIND = "check-coordination"
CHECK_MANY_KIND = "check-many-coordination"
REHEARSAL_KIND = "rehearse-coordination"
KINDS = {
    Operation.ENABLE: "enable-coordinated-commits",
    Operation.DROP: "drop-coordinated-commits",
    Operation.CREATE: "create-coordinated-table",
    Operation.LEFTOVERS: "remove-leftover-feature",
}
MANY = {Operation.ENABLE: "enable-many", Operation.DROP: "drop-many"}
VERBS = {
    Operation.ENABLE: "table.enable-coordination",
    Operation.DROP: "table.drop-coordination",
    Operation.CREATE: "table.create",
    Operation.LEFTOVERS: "table.drop-coordination",
}

MANY_VERBS = {Operation.ENABLE: "table.enable-many", Operation.DROP: VERBS[Operation.DROP]}
"""Who may ask for an act on many tables: it needs the password, for it cannot be taken back on any of them."""


class CheckParams(TypedDict):
    """A `CoordinationRequest` as `params_of` writes it."""

    operation: str
    uri: str
    store: str
    columns: str
    partition_by: Sequence[str]
    remove_features: Sequence[str]


class ActParams(CheckParams, Confirmation):
    stated: bool
    probe: bool


class CheckResult(PlannedResult, total=False):
    """The plan, or why there is none, and the checks that it rests on."""

    preflight: PreflightDocument


class ActResult(CheckResult, total=False):
    proofs: list[str]


class RehearsalResult(CheckResult, total=False):
    """What a rehearsal found; the checks are those that it rests on."""

    rehearsal: RehearsalDocument


def params_of(change: CoordinationRequest) -> CheckParams:
    """A change as the parameters of a job."""
    params = {name: list(one) if isinstance(one, tuple) else one for name, one in asdict(change).items()}
    return cast("CheckParams", params)


def change_of(params: CheckParams) -> CoordinationRequest:
    """The change that `params_of` wrote."""
    return CoordinationRequest(
        Operation(params["operation"]),
        params["uri"],
        store=params["store"],
        columns=params["columns"],
        partition_by=tuple(params["partition_by"]),
        remove_features=tuple(params["remove_features"]),
    )


def check_jobs(uri: str, operation: Operation) -> "QuerySet[Job]":
    """Every job that checked this act on this table, newest first."""
    jobs = Job.objects.filter(kind=CHECK_KIND, target_label=uri, params__operation=operation.value)
    return jobs.select_related("connection").order_by("-created_at")


def newest_rehearsal(connection_id: int, uri: str, operation: Operation) -> Job | None:
    """The newest rehearsal of this act on this table, finished or not."""
    jobs = Job.objects.filter(kind=REHEARSAL_KIND, connection_id=connection_id, target_label=uri)
    return jobs.filter(params__operation=operation.value).order_by("-created_at").first()


def rehearsal_of(job: Job) -> RehearsalDocument | None:
    """What a rehearsal found; None before it is done, and where it found nothing."""
    result: RehearsalResult = job.result
    return result.get("rehearsal")


def checks_of(job: Job) -> PreflightDocument | None:
    """The checks that a job made (checks.preflight_document); None before it is done."""
    result: CheckResult = job.result
    return result.get("preflight")


class PreflightNeeded(PlanNeeded):
    """No checks with the confirmed digest were made lately."""

    def __init__(self) -> None:
        super().__init__("These checks are", "check again")


class ChecksFailed(ChangeRefused):
    """The checks that were shown already refuse it."""


STATEMENTS = {
    Operation.ENABLE: "Every writer of this table is paused",
    Operation.DROP: "Every writer of this table knows how it commits afterwards",
}


def require_stated(operation: Operation, *, stated: bool) -> None:
    """Raise NotConfirmed unless the statement about the writers was made, where the act needs one."""
    if operation in STATEMENTS and not stated:
        raise NotConfirmed(f"Confirm the statement: {STATEMENTS[operation].lower()}.")


def confirmed_plan(job: Job, digest: str) -> PlanDocument:
    """The plan of this job, if it is the one shown, and young. Raises ChangeRefused."""
    found, plan = checks_of(job), next(iter(planned_by(job)), None)
    if found is None or found["digest"] != digest or is_too_old(read_at(job)):
        raise PreflightNeeded
    if not found["may_run"]:
        failed = next((one["sentence"] for one in found["checks"] if one["state"] == "failed"), "a check failed.")
        raise ChecksFailed(f"The checks refuse it: {failed}")
    if plan is None:
        raise PreflightNeeded
    return plan
