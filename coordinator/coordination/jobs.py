"""The kinds of jobs that check and change a table's coordination; those that change it go to the queue spark."""

from collections.abc import Sequence
from functools import partial
from typing import TypedDict, Unpack

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from changes.gate import BEFORE_ANY_CHANGE, LASTS_IN_WORDS, Confirmation, check_writable, connection_of, is_too_old
from coordinator.contract import CheckDocument, PreflightDocument
from coordinator.coordination.bulk import ManyParams, act_on_tables
from coordinator.coordination.carrying_out import Act, carry_out
from coordinator.coordination.checks import Operation, preflight_document
from coordinator.coordination.preflight import preflight
from coordinator.coordination.progress import JobSteps
from coordinator.coordination.reading import CoordinationRequest, read_situation
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobContext, JobFailed, JobResult
from dashboard.jobs.registry import job_kind
from lake.aws.access import open_lake

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


class CheckParams(TypedDict):
    """A `CoordinationRequest` as `params_of` writes it."""

    operation: str
    uri: str
    store: str
    columns: str
    partition_by: Sequence[str]
    remove_features: Sequence[str]


class ActParams(CheckParams, Confirmation):
    """`shown` are the checks that were confirmed, `checked_at` when they were made."""

    shown: list[CheckDocument] | None
    checked_at: str
    stated: bool
    probe: bool


class CheckResult(JobResult, total=False):
    read_at: str
    preflight: PreflightDocument


class ActResult(CheckResult, total=False):
    proofs: list[str]


@job_kind("check-coordination", queue="aws", verb="table.check-coordination", changes_lake=False)
def check(context: JobContext, params: CheckParams) -> str:
    """Read one table and make every check of one act; changes nothing. The result is a `CheckResult`."""
    connection = connection_of(context)
    with open_lake(lake_access(connection)) as lake, context.step("Read the table and its surroundings"):
        read_at = timezone.now()
        checked = preflight(read_situation(connection, lake, change_of(params), own_job=context.job.pk))
    context.result(CheckResult(read_at=read_at.isoformat(), preflight=preflight_document(checked)))
    context.result({"requests": lake.requests.total})
    if checked.may_run:
        return f"{len(checked.checks)} checks made, none failed, {len(checked.warnings)} to weigh."
    return f"{len(checked.failures)} of {len(checked.checks)} checks failed: {checked.refusal()}"


@job_kind(KINDS[Operation.ENABLE], queue="spark", verb=VERBS[Operation.ENABLE])
def enable(context: JobContext, params: ActParams) -> str:
    """Put one table under a commit coordinator."""
    return _act(context, params)


@job_kind(KINDS[Operation.DROP], queue="spark", verb=VERBS[Operation.DROP])
def drop(context: JobContext, params: ActParams) -> str:
    """Take one table from its commit coordinator."""
    return _act(context, params)


@job_kind(KINDS[Operation.CREATE], queue="spark", verb=VERBS[Operation.CREATE])
def create(context: JobContext, params: ActParams) -> str:
    """Create an empty table that is coordinated from its first commit."""
    return _act(context, params)


@job_kind(KINDS[Operation.LEFTOVERS], queue="spark", verb=VERBS[Operation.LEFTOVERS])
def remove_leftover(context: JobContext, params: ActParams) -> str:
    """Remove one feature that a drop left behind, where Delta allows it."""
    return _act(context, params)


@job_kind(MANY[Operation.ENABLE], queue="spark", verb=VERBS[Operation.ENABLE])
def enable_many(context: JobContext, params: ManyParams) -> str:
    """Enable on many tables."""
    check_writable(context.job.connection)
    return act_on_tables(context, params, Operation.ENABLE)


@job_kind(MANY[Operation.DROP], queue="spark", verb=VERBS[Operation.DROP])
def drop_many(context: JobContext, params: ManyParams) -> str:
    """Drop on many tables."""
    check_writable(context.job.connection)
    return act_on_tables(context, params, Operation.DROP)


def params_of(change: CoordinationRequest) -> CheckParams:
    """A change as the parameters of a job."""
    return {
        "operation": change.operation.value,
        "uri": change.uri,
        "store": change.store,
        "columns": change.columns,
        "partition_by": change.partition_by,
        "remove_features": change.remove_features,
    }


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


def _act(context: JobContext, params: ActParams) -> str:
    check_writable(context.job.connection)
    connection = connection_of(context)
    shown = params["shown"]
    with open_lake(lake_access(connection)) as lake:
        if shown is not None and is_too_old(parse_datetime(params["checked_at"])):
            raise _too_old(context, params, connection)
        act = Act(change_of(params), shown=shown, probe=params["probe"], job=context.job.pk)
        return carry_out(connection, lake, act, JobSteps(context), partial(_keep, context))


def _keep(context: JobContext, **told: Unpack[ActResult]) -> None:
    context.result(told)


def _too_old(context: JobContext, params: ActParams, connection: Connection) -> JobFailed:
    """The job waited too long in its queue: make the checks anew, for somebody to confirm again."""
    with open_lake(lake_access(connection)) as lake, context.step("Check again, for the checks are too old"):
        read_at = timezone.now()
        checked = preflight(read_situation(connection, lake, change_of(params), own_job=context.job.pk))
    context.result(CheckResult(read_at=read_at.isoformat(), preflight=preflight_document(checked)))
    return JobFailed(
        "PreflightTooOld",
        f"{BEFORE_ANY_CHANGE}: the checks that were confirmed are older than {LASTS_IN_WORDS}. They were made anew: "
        "confirm again on the table's page.",
    )
