"""The jobs of restores of many tables: `plan-restores` on the queue aws, and `restore-tables` where Spark is warm."""

import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import cast

from django.urls import reverse
from django.utils import timezone

from backups.contract import RestoredTable
from backups.destinations import overlap
from backups.models import Plan, RestorePoint
from backups.restores.actions import RESTORE_KIND, PlanRestoreParams, RestoreParams, RestoreResult
from backups.restores.calls import objects
from backups.restores.jobs import READS_AT_ONCE, planned, restore_version
from backups.restores.many import (
    MOST_TABLES,
    PLAN_MANY_KIND,
    RESTORE_MANY_KIND,
    PlanManyParams,
    PlanManyResult,
    PlannedTable,
    RestoreManyParams,
    path_below,
    points_of,
)
from changes.documents import CallDocument, PlanDocument, planned_by, planned_in_words, planned_result
from changes.gate import BEFORE_ANY_CHANGE, connection_of
from changes.many import TableState, TableStopped, one_after_the_other, outcome_of, record_of, tables_in_words
from changes.plan import ChangePlan, Refusal
from dashboard.audit.log import AuditOutcome
from dashboard.connections.access import EndpointNotAllowed, lake_access
from dashboard.jobs.actions import Target
from dashboard.jobs.context import JobCancelled, JobContext, JobFailed
from dashboard.jobs.execution import audit_action, first_sentence
from dashboard.jobs.models import Job
from dashboard.jobs.parts import PartContext
from dashboard.jobs.registry import job_kind
from lake.aws.access import Lake, open_lake
from lake.aws.errors import AwsError
from lake.delta.uri import TableUri
from lake.points.copies import is_of_one_object

logger = logging.getLogger(__name__)


@job_kind(PLAN_MANY_KIND, queue="aws", verb="backup.prove", changes_lake=False)
def plan_restores(context: JobContext, params: PlanManyParams) -> str:
    """Read the backup and plan the restore of each table; changes nothing. The result is a `PlanManyResult`."""
    plan = Plan.objects.filter(pk=params["plan"]).first()
    if plan is None:
        raise JobFailed("NoSuchPlan", "The backup plan has been removed: there is nothing to restore from.")
    tables, rows, began = points_of(plan, params["tables"]), list[PlannedTable](), timezone.now()
    with open_lake(lake_access(connection_of(context)), parallel=READS_AT_ONCE) as lake:
        with context.step("Read the restore points and list their objects"):
            for points in tables if len(tables) <= MOST_TABLES else ():
                context.check_cancelled()
                rows.append(_apart(_planned(lake, points, params, context.job), rows))
                context.progress(len(rows), len(tables))
        made = _made(plan, params, rows, _in_words(len(tables), began))
        told = planned_result(made, timezone.now(), lake.requests.total)
    if document := told["plan"]:
        plans = [(one, of_one) for one in rows if (of_one := one["plan"])]
        document["calls"] = [_call(*one) for one in plans]
        document["permissions"] = sorted({needed for _, of_one in plans for needed in of_one["permissions"]})
    context.result(PlanManyResult(**told, restores=rows, shown_at=_page(plan.name, context.job.pk)))
    return planned_in_words(told)


def _page(plan: str, job: object) -> str:
    return reverse("backup-plan-restored", args=[plan, job])


def _planned(lake: Lake, points: Sequence[RestorePoint], params: PlanManyParams, job: Job) -> PlannedTable:
    """The plan of one table by the first of its points that has what is asked for; else why none has."""
    reasons = list[str]()
    for point in points if params["moment"] else points[:1]:
        made = _by_point(lake, point, params, job)
        if not (refusal := made["refusal"]):
            return made
        reasons.append(f"Of an earlier restore point: {refusal['reason']}" if reasons else refusal["reason"])
    return _left_out(points[0].table, str(points[0].pk), " ".join(dict.fromkeys(reasons)))


def _by_point(lake: Lake, point: RestorePoint, params: PlanManyParams, job: Job) -> PlannedTable:
    to, moment, named = path_below(params["to"], point.table), params["moment"], (point.table, str(point.pk))
    if not point.proof:
        return _left_out(*named, f"The restore point is not kept in the backup. {point.not_kept or point.sentence}")
    if to and not TableUri.parse(point.table).key:
        return _left_out(*named, "The table is all of its bucket: restore it by itself.")
    of_one = PlanRestoreParams(point=str(point.pk), version=None, moment=moment, to=to)
    try:
        return cast("PlannedTable", {**planned(lake, point, of_one, job), "table": named[0], "point": named[1]})
    except AwsError as error:
        if not is_of_one_object(error):
            raise
        return _left_out(*named, str(error))


def _apart(made: PlannedTable, before: Sequence[PlannedTable]) -> PlannedTable:
    """The same, or why it cannot go where it would: in or around a table that goes there before."""
    for other in before if made["plan"] else ():
        if other["plan"] and overlap(f"{made['to']}/", f"{other['to']}/"):
            why = f"{made['to']} lies in or around {other['to']}, where {other['table']} goes: restore it by itself."
            return _left_out(made["table"], made["point"], why)
    return made


def _left_out(table: str, point: str, why: str) -> PlannedTable:
    told = planned_result(Refusal(RESTORE_KIND, table, why, title="Restore it"), timezone.now(), 0)
    return cast("PlannedTable", {**told, "table": table, "point": point})


def _in_words(tables: int, began: datetime) -> str:
    """How many fit, and when they were read."""
    if tables > MOST_TABLES:
        return f"More than {MOST_TABLES:,} tables fit, and one job restores at most so many: name fewer by a pattern."
    return f"{tables_in_words(tables)} fit, read from {began:%H:%M:%S} to {timezone.now():%H:%M:%S} UTC."


def _made(plan: Plan, params: PlanManyParams, rows: Sequence[PlannedTable], found: str) -> ChangePlan | Refusal:
    """One plan of all the tables that can be restored, or why there is none."""
    digests = tuple(one["plan"]["digest"] for one in rows if one["plan"])
    verb, where = ("Open", "in the backup") if params["to"] is None else ("Restore", "to paths of their own")
    if not digests:
        reasons = [f"{one['table']}: {one['refusal']['reason']}" for one in rows if one["refusal"]]
        reason = " ".join([found, *(["None of them can be restored.", reasons[0]] if reasons else [])])
        return Refusal(RESTORE_MANY_KIND, plan.name, reason, title=f"{verb} tables {where}")
    as_of = "Each table is restored in the version of its newest restore point: these are of different moments."
    if params["moment"]:
        at = f"{datetime.fromisoformat(params['moment']).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
        as_of = (
            f"Each table is restored as its log was at {at}, by S3's times of its commits. What was accepted by then "
            "and published later is not in it."
        )
    going_on = (
        "Nothing that exists is changed. Each is planned anew when its turn comes, and opened by Spark, and by "
        "deltalake where that can, before it is called restored. One that is not as shown here any more, or fails, "
        "does not stop the others."
    )
    asking = sum(1 for one in rows if one["plan"] and one["archived"])
    ready, of = len(digests) - asking, f"what is archived of {tables_in_words(asking)}"
    titles = ([f"{verb} {tables_in_words(ready)} {where}"] if ready else []) + ([f"ask S3 for {of}"] if asking else [])
    title = " and ".join(titles)
    said = [f"{as_of} {found}", going_on] if ready else [found]
    if asking:
        said.append(f"S3 is asked for {of}, of which nothing is restored yet: plan again when it has the objects.")
    return ChangePlan(
        RESTORE_MANY_KIND, plan.name, title[:1].upper() + title[1:], (), consequences=tuple(said), rests_on=digests
    )


def _call(one: PlannedTable, plan: PlanDocument) -> CallDocument:
    to = f"for which S3 is asked for {objects(one['archived'])} first" if one["archived"] else f"to {one['to']}"
    return {
        "operation": f"{objects(one['objects'])}, about {one['size']:,} bytes",
        "says": f"{one['table']} at version {one['version']:,}, {to}",
        "condition": "",
        "request": "\n".join((*plan["consequences"], *plan["conditions"])),
    }


@job_kind(RESTORE_MANY_KIND, queue="spark", verb="backup.restore")
def restore_tables(context: JobContext, params: RestoreManyParams) -> str:
    """Restore each table of a plan, one after the other, whatever becomes of the others."""
    by = Job.objects.filter(pk=params["planned_by"]).first()
    if by is None or params["digest"] not in [one["digest"] for one in planned_by(by)]:
        raise JobFailed("PlanGone", f"{BEFORE_ANY_CHANGE}: the plan that was confirmed is not there any more.")
    result: PlanManyResult = by.result
    context.result({"shown_at": _page(by.target_label, by.pk)})
    asking_first = sorted(result["restores"], key=lambda row: not row.get("archived"))  # S3 takes hours
    restores = any(row["plan"] and not row.get("archived") for row in asking_first)
    act = "Restore" if restores else "Ask S3 for what is archived of"
    return one_after_the_other(context, asking_first, act, partial(_restored, context, params))


def _restored(context: JobContext, params: RestoreManyParams, row: PlannedTable) -> RestoredTable:
    """Restore one table, and write it to the audit log, however it ends."""
    part, target = PartContext(context, row["table"]), Target("restore-point", row["point"], row["table"])
    if (plan := row["plan"]) is None:
        why = row["refusal"]["reason"] if row["refusal"] else ""
        return {**outcome_of(target, (TableState.REFUSED, why)), "verified": None}
    of_one: RestoreParams = {
        "point": row["point"],
        "version": row["version"],
        "moment": None,
        "to": None if params["to"] is None else row["to"],
        "document": row["document"],
        "digest": plan["digest"],
        "planned_by": params["planned_by"],
        "confirm": "",
        "confirmed_by": params["confirmed_by"],
        "source": params["source"],
    }
    state, sentence, stopped = TableState.FAILED, "", None
    try:
        sentence = restore_version(part, of_one)
        state = TableState.ASKED if "asked" in part.results else TableState.DONE
    except JobCancelled as by:
        stopped = by
        begun = f"Stopped on the way: {row['to']} is not whole, or not verified. Plan and apply it again to end it."
        if row.get("archived"):
            begun = "Stopped on the way: S3 may have been asked for some of what is archived. Plan it again."
        sentence = begun if "before" in part.results else f"{BEFORE_ANY_CHANGE}."
    except (AwsError, EndpointNotAllowed, JobFailed) as error:
        sentence = str(error)
    except Exception as error:  # whatever it is, it is of one table
        logger.exception("Restoring %s in job %s failed", row["table"], context.job.pk)
        sentence = first_sentence(error)
    audited: AuditOutcome = "failed" if state is TableState.FAILED else "done"
    record_of(context, target, audit_action(context.job.kind), part.results, audited, sentence)
    requests = [*context.results.get("aws_request_ids", []), *part.results.get("aws_request_ids", [])]
    context.result({"aws_request_ids": requests})
    verified = cast("RestoreResult", part.results).get("verified")
    outcome: RestoredTable = {**outcome_of(target, (state, sentence)), "verified": verified}
    if stopped is not None:
        raise TableStopped(outcome, stopped) from stopped
    return outcome
