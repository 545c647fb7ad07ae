"""The kinds of jobs that check and change a table's coordination; those that change it go to the queue spark."""

from functools import partial

from django.utils import timezone

from changes.carrying_out import check_danger, check_shown, lake_to_change
from changes.documents import planned_result
from changes.gate import BEFORE_ANY_CHANGE, LASTS_IN_WORDS, connection_of, is_too_old, read_at
from changes.plan import ChangePlan
from coordinator.coordination.bulk import CheckManyParams, ManyParams, act_on_tables, check_tables
from coordinator.coordination.carrying_out import CHECK, READ_AGAIN, ActUnderWay, plan_now
from coordinator.coordination.checks import Operation, Preflight, differing
from coordinator.coordination.confirmed import (
    CHECK_KIND,
    CHECK_MANY_KIND,
    KINDS,
    MANY,
    REHEARSAL_KIND,
    VERBS,
    ActParams,
    CheckParams,
    change_of,
    checks_of,
)
from coordinator.coordination.rehearsing import rehearse_act
from dashboard.connections.access import lake_access
from dashboard.jobs.context import JobContext, JobFailed
from dashboard.jobs.models import Job
from dashboard.jobs.registry import job_kind
from lake.aws.access import open_lake
from lake.delta.uri import TableUri
from lake.spark.jobs import create_table, drop_coordinated_commits, enable_coordinated_commits

ENABLING = (CHECK, *enable_coordinated_commits.STEPS, READ_AGAIN)
DROPPING = (CHECK, *drop_coordinated_commits.STEPS, READ_AGAIN)
CREATING = (CHECK, *create_table.STEPS, READ_AGAIN)


@job_kind(CHECK_KIND, queue="aws", verb="table.check-coordination", changes_lake=False)
def check(context: JobContext, params: CheckParams) -> str:
    """Read one table, make every check of one act and plan it; changes nothing. The result is a `CheckResult`."""
    now, change = timezone.now(), change_of(params)
    with open_lake(lake_access(connection_of(context))) as lake, context.step("Read the table and its surroundings"):
        planned = plan_now(connection_of(context), lake, change, context.result, context.job.pk)
    context.result(planned_result(planned.made, now, lake.requests.total))
    checked = planned.checked
    if checked.may_run:
        return f"{len(checked.checks)} checks made, none failed, {len(checked.warnings)} to weigh."
    failed = ", ".join(check.name for check in checked.failures)
    return f"{len(checked.failures)} of {len(checked.checks)} checks failed: {failed}."


@job_kind(KINDS[Operation.ENABLE], queue="spark", verb=VERBS[Operation.ENABLE], steps=ENABLING)
@job_kind(KINDS[Operation.DROP], queue="spark", verb=VERBS[Operation.DROP], steps=DROPPING)
@job_kind(KINDS[Operation.CREATE], queue="spark", verb=VERBS[Operation.CREATE], steps=CREATING)
@job_kind(KINDS[Operation.LEFTOVERS], queue="spark", verb=VERBS[Operation.LEFTOVERS])
def act(context: JobContext, params: ActParams) -> str:
    """Do one act on one table, if the plan of now is the one that was confirmed."""
    shown = Job.objects.filter(pk=params["planned_by"]).first()
    if shown is None or is_too_old(read_at(shown)):
        raise JobFailed(
            "PreflightTooOld",
            f"{BEFORE_ANY_CHANGE}: the checks that were confirmed are older than {LASTS_IN_WORDS}. Check again.",
        )
    connection, confirmed = connection_of(context), partial(_confirmed, context, params, shown)
    with lake_to_change(context) as lake:
        return ActUnderWay(
            connection,
            lake,
            change_of(params),
            context.job.pk,
            context,
            context.result,
            confirmed,
            params["probe"],
        ).carry_out()


@job_kind(REHEARSAL_KIND, queue="spark", verb="table.rehearse-coordination")
def rehearse(context: JobContext, params: CheckParams) -> str:
    """Try one act on a copy of a table's log; the result is a `RehearsalResult`."""
    with lake_to_change(context) as lake:
        return rehearse_act(context, lake, change_of(params))


@job_kind(CHECK_MANY_KIND, queue="aws", verb="table.check-coordination", changes_lake=False)
def check_many(context: JobContext, params: CheckManyParams) -> str:
    """Make every check of one act on many tables; changes nothing."""
    return check_tables(context, params)


@job_kind(MANY[Operation.ENABLE], queue="spark", verb=VERBS[Operation.ENABLE])
@job_kind(MANY[Operation.DROP], queue="spark", verb=VERBS[Operation.DROP])
def act_on_many(context: JobContext, params: ManyParams) -> str:
    """Do the act of this kind on many tables."""
    operation = next(one for one, kind in MANY.items() if kind == context.job.kind)
    return act_on_tables(context, params, operation)


def _confirmed(context: JobContext, params: ActParams, shown: Job, plan: ChangePlan, checked: Preflight) -> None:
    """The plan of now has to be the one that was confirmed, by the name as typed. Raises JobFailed."""
    check_shown(plan, params["digest"], _moved(shown, checked))
    check_danger(context, params, plan, TableUri.parse(plan.subject).name, "")


def _moved(shown: Job, checked: Preflight) -> str:
    found = checks_of(shown)
    moved = differing(found["checks"] if found else (), checked)
    if not moved:
        return "what the checks rest on has changed since they were shown. Check again."
    said = " ".join(f"{check.name}: {check.sentence}" for check in moved)
    return f"a check came out otherwise than shown. {said}"
