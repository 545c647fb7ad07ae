"""The kinds of jobs that plan and repair: `plan-repair`, `repair` and `repair-many`, carried by the queue aws."""

from functools import partial

from django.utils import timezone

from changes.calls import Sending
from changes.carrying_out import carry_out, check_danger, lake_to_change, why_moved
from changes.documents import plan_document, refusal_document
from changes.gate import BEFORE_ANY_CHANGE, check_writable, connection_of
from changes.plan import ChangePlan
from coordinator.own_records import records_for
from coordinator.repairs.bulk import RepairManyParams, repair_tables
from coordinator.repairs.carrying_out import READ_AGAIN, PlanUnderWay, overtaken_before, read_again, read_and_plan
from coordinator.repairs.fresh import (
    FreshPlans,
    PlanRepairParams,
    PlanRepairResult,
    RepairParams,
    Subject,
    plan_anew,
    plans_about,
)
from dashboard.connections.access import lake_access
from dashboard.jobs.context import JobContext, JobFailed
from dashboard.jobs.models import Job
from dashboard.jobs.registry import job_kind
from lake.aws.access import open_lake
from lake.delta.uri import TableUri


@job_kind("plan-repair", queue="aws", verb="table.plan-repair", changes_lake=False)
def plan_repair(context: JobContext, params: PlanRepairParams) -> str:
    """Read one table and plan each of its repairs; the result is a `PlanRepairResult`."""
    connection = connection_of(context)
    with open_lake(lake_access(connection)) as lake, context.step("Read the table"):
        read_at = timezone.now()
        fresh = plan_anew(connection, lake, TableUri.parse(params["uri"]), params["path_scheme"])
    plans = [plan_document(plan) for plan in fresh.plans]
    refusals = [refusal_document(refusal) for refusal in fresh.refusals]
    requests = lake.requests.total
    context.result(PlanRepairResult(read_at=read_at.isoformat(), requests=requests, plans=plans, refusals=refusals))
    return _planned(len(plans), len(refusals))


@job_kind("repair", queue="aws", verb="table.repair")
def repair(context: JobContext, params: RepairParams) -> str:
    """Carry out one confirmed plan."""
    connection = connection_of(context)
    subject = Subject(params["repair"], params["code"], params["version"])
    with lake_to_change(context) as lake:
        with context.step("Read the table and plan anew") as step:
            fresh = read_and_plan(connection, lake, params["uri"], params["path_scheme"])
        plan = _confirmed(params, subject, fresh)
        step.then = (*(call.says for call in plan.calls), READ_AGAIN)
        check_danger(context, params, plan, params["name"], "table.repair-losing")
        under_way = PlanUnderWay(connection, lake, plan, fresh)
        sending = Sending(lake, check_cancelled=context.check_cancelled, records=records_for(context, connection))
        execution = carry_out(context, plan, under_way.snapshots, sending)
        now = read_again(context, under_way.snapshots, partial(under_way.prove, execution))
    return f"{plan.title}: done and proven. The table was read again, and finding {subject.finding} is resolved. {now}"


@job_kind("repair-many", queue="aws", verb="table.repair")
def repair_many(context: JobContext, params: RepairManyParams) -> str:
    """Carry out the named repairs on many tables.

    The result's `outcomes` hold one row per table. Fails at the end if a table failed.
    """
    check_writable(connection_of(context))
    return repair_tables(context, params)


def _confirmed(params: RepairParams, subject: Subject, fresh: FreshPlans) -> ChangePlan:
    """The plan of now, saving where the confirmed one said; raises what it came to if it is another one."""
    planned = Job.objects.filter(pk=params["planned_by"]).first()
    shown = next(iter(plans_about(planned, subject)), None) if planned else None
    made = fresh.made_of(subject)
    if isinstance(made, ChangePlan) and made.digest == params["digest"]:
        return made.saving_under((shown and shown["rescue_folder"]) or made.rescue_folder)
    moved = why_moved(made)
    if not fresh.was_read:
        raise JobFailed("NotRead", f"{BEFORE_ANY_CHANGE}: {moved}")
    raise overtaken_before(subject, moved, len(shown["calls"]) if shown else 0, fresh)


def _planned(plans: int, refusals: int) -> str:
    if not plans and not refusals:
        return "Nothing is to be repaired."
    named = f"{plans} repair{'s' if plans != 1 else ''} planned"
    return f"{named}, {refusals} refused with a reason." if refusals else f"{named}."
