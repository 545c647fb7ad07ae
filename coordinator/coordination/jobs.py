"""The kinds of jobs that check and change a table's coordination; those that change it go to the queue spark."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from changes.gate import BEFORE_ANY_CHANGE, LASTS_IN_WORDS, check_writable, connection_of, is_too_old
from coordinator.coordination.bulk import act_on_tables
from coordinator.coordination.carrying_out import Act, carry_out
from coordinator.coordination.checks import Operation, preflight_document
from coordinator.coordination.preflight import preflight
from coordinator.coordination.progress import JobSteps
from coordinator.coordination.reading import CoordinationRequest, read_situation
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobContext, JobFailed
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


@job_kind("check-coordination", queue="aws", verb="table.check-coordination", changes_lake=False)
def check(context: JobContext) -> str:
    """Read one table and make every check of one act; changes nothing. The result holds `read_at` and `preflight`."""
    connection = connection_of(context)
    with open_lake(lake_access(connection)) as lake, context.step("Read the table and its surroundings"):
        read_at = timezone.now()
        checked = preflight(read_situation(connection, lake, change_of(context.params), own_job=context.job.pk))
    context.result(read_at=read_at.isoformat(), preflight=preflight_document(checked), requests=lake.requests.total)
    if checked.may_run:
        return f"{len(checked.checks)} checks made, none failed, {len(checked.warnings)} to weigh."
    return f"{len(checked.failures)} of {len(checked.checks)} checks failed: {checked.refusal()}"


@job_kind(KINDS[Operation.ENABLE], queue="spark", verb=VERBS[Operation.ENABLE])
def enable(context: JobContext) -> str:
    """Put one table under a commit coordinator; params as `params_of` makes them."""
    return _act(context)


@job_kind(KINDS[Operation.DROP], queue="spark", verb=VERBS[Operation.DROP])
def drop(context: JobContext) -> str:
    """Take one table from its commit coordinator."""
    return _act(context)


@job_kind(KINDS[Operation.CREATE], queue="spark", verb=VERBS[Operation.CREATE])
def create(context: JobContext) -> str:
    """Create an empty table that is coordinated from its first commit."""
    return _act(context)


@job_kind(KINDS[Operation.LEFTOVERS], queue="spark", verb=VERBS[Operation.LEFTOVERS])
def remove_leftover(context: JobContext) -> str:
    """Remove one feature that a drop left behind, where Delta allows it."""
    return _act(context)


@job_kind(MANY[Operation.ENABLE], queue="spark", verb=VERBS[Operation.ENABLE])
def enable_many(context: JobContext) -> str:
    """Enable on many tables; params: tables (primary keys), store, stop_at_first_failure."""
    check_writable(context.job.connection)
    return act_on_tables(context, Operation.ENABLE)


@job_kind(MANY[Operation.DROP], queue="spark", verb=VERBS[Operation.DROP])
def drop_many(context: JobContext) -> str:
    """Drop on many tables; params: tables (primary keys), stop_at_first_failure."""
    check_writable(context.job.connection)
    return act_on_tables(context, Operation.DROP)


def params_of(change: CoordinationRequest, **more: Any) -> dict[str, Any]:
    """A change as the parameters of a job."""
    return {**asdict(change), "operation": change.operation.value, **more}


def change_of(params: Mapping[str, Any]) -> CoordinationRequest:
    """The change that `params_of` wrote."""
    return CoordinationRequest(
        Operation(params["operation"]),
        str(params["uri"]),
        store=str(params.get("store", "")),
        columns=str(params.get("columns", "")),
        partition_by=tuple(params.get("partition_by", ())),
        remove_features=tuple(params.get("remove_features", ())),
    )


def _act(context: JobContext) -> str:
    check_writable(context.job.connection)
    connection, params = connection_of(context), context.params
    shown = params.get("shown")
    with open_lake(lake_access(connection)) as lake:
        if shown is not None and is_too_old(parse_datetime(str(params.get("checked_at", "")))):
            raise _too_old(context, connection)
        act = Act(change_of(params), shown=shown, probe=bool(params.get("probe")), job=context.job.pk)
        return carry_out(connection, lake, act, JobSteps(context), context.result)


def _too_old(context: JobContext, connection: Connection) -> JobFailed:
    """The job waited too long in its queue: make the checks anew, for somebody to confirm again."""
    with open_lake(lake_access(connection)) as lake, context.step("Check again, for the checks are too old"):
        read_at = timezone.now()
        checked = preflight(read_situation(connection, lake, change_of(context.params), own_job=context.job.pk))
    context.result(read_at=read_at.isoformat(), preflight=preflight_document(checked))
    return JobFailed(
        "PreflightTooOld",
        f"{BEFORE_ANY_CHANGE}: the checks that were confirmed are older than {LASTS_IN_WORDS}. They were made anew: "
        "confirm again on the table's page.",
    )
