"""The kinds of jobs that check and change a table's coordination; those that change it go to the queue spark."""

from functools import partial

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from changes.carrying_out import check_danger, check_shown, lake_to_change
from changes.documents import planned_result
from changes.gate import BEFORE_ANY_CHANGE, LASTS_IN_WORDS, check_writable, connection_of, is_too_old
from coordinator.coordination.bulk import ManyParams, act_on_tables
from coordinator.coordination.carrying_out import Act, PlannedAct, carry_out, plan_now
from coordinator.coordination.checking_many import CHECK_MANY_KIND, CheckManyParams, check_tables
from coordinator.coordination.checks import Operation, Preflight, differing
from coordinator.coordination.confirmed import REHEARSAL_KIND, ActParams, CheckParams
from coordinator.coordination.reading import CoordinationRequest
from coordinator.coordination.rehearsing import rehearse_act
from dashboard.connections.access import lake_access
from dashboard.jobs.context import JobContext, JobFailed
from dashboard.jobs.registry import job_kind
from lake.aws.access import Lake, open_lake
from lake.delta.uri import TableUri

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


@job_kind("check-coordination", queue="aws", verb="table.check-coordination", changes_lake=False)
def check(context: JobContext, params: CheckParams) -> str:
    """Read one table, make every check of one act and plan it; changes nothing. The result is a `CheckResult`."""
    with open_lake(lake_access(connection_of(context))) as lake, context.step("Read the table and its surroundings"):
        checked = _plan(context, params, lake)
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


@job_kind(REHEARSAL_KIND, queue="spark", verb="table.rehearse-coordination")
def rehearse(context: JobContext, params: CheckParams) -> str:
    """Try one act on a copy of a table's log; the result is a `RehearsalResult`."""
    with lake_to_change(context) as lake:
        return rehearse_act(connection_of(context), lake, change_of(params), context, context.result)


@job_kind(CHECK_MANY_KIND, queue="aws", verb="table.check-coordination", changes_lake=False)
def check_many(context: JobContext, params: CheckManyParams) -> str:
    """Make every check of one act on many tables; changes nothing."""
    return check_tables(context, params)


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


def _plan(context: JobContext, params: CheckParams, lake: Lake) -> Preflight:
    """Check and plan from a reading of now, for somebody to confirm."""
    read_at, change = timezone.now(), change_of(params)
    _, checked, made = plan_now(connection_of(context), lake, change, context.result, context.job.pk)
    context.result(planned_result(made, read_at, lake.requests.total))
    return checked


def _act(context: JobContext, params: ActParams) -> str:
    with lake_to_change(context) as lake:
        if is_too_old(parse_datetime(params["checked_at"])):
            raise _too_old(context, params, lake)
        act = Act(change_of(params), partial(_confirmed, context, params), params["probe"], context.job.pk)
        return carry_out(connection_of(context), lake, act, context, context.result)


def _confirmed(context: JobContext, params: ActParams, planned: PlannedAct) -> None:
    """The plan of now has to be the one that was confirmed, by the name as typed. Raises JobFailed."""
    check_shown(planned.plan, params["digest"], _moved(params, planned.checked))
    check_danger(context, params, planned.plan, TableUri.parse(planned.plan.subject).name, "")


def _moved(params: ActParams, checked: Preflight) -> str:
    moved = differing(params["shown"], checked)
    if not moved:
        return "what the checks rest on has changed since they were shown. Check again."
    said = " ".join(f"{check.name}: {check.sentence}" for check in moved)
    return f"a check came out otherwise than shown. {said}"


def _too_old(context: JobContext, params: ActParams, lake: Lake) -> JobFailed:
    """The job waited too long in its queue: make the checks anew, for somebody to confirm again."""
    with context.step("Check again, for the checks are too old"):
        _plan(context, params, lake)
    return JobFailed(
        "PreflightTooOld",
        f"{BEFORE_ANY_CHANGE}: the checks that were confirmed are older than {LASTS_IN_WORDS}. They were made anew: "
        "confirm again on the table's page.",
    )
