"""What an operator may do with the tables of a plan at once: have their restores planned, and have them restored one
after the other. Pages and commands both call these."""

import re
from collections.abc import Iterator
from datetime import datetime
from fnmatch import translate
from functools import partial
from typing import TypedDict

from backups.models import Plan, RestorePoint
from backups.restores.actions import RESTORE_KIND, PlanRestoreResult
from changes.asking import WantedChange, ask_for, young_plan
from changes.documents import PlannedResult, planned_by
from changes.gate import Confirmation, permitted
from dashboard.accounts.actor import Actor
from dashboard.connections.models import Connection
from dashboard.jobs.actions import JobBusy, Target, ask
from dashboard.jobs.models import ACTIVE, Job
from lake.backup.objects import place_of
from lake.delta.uri import TableUri

PLAN_MANY_KIND = "plan-restores"
RESTORE_MANY_KIND = "restore-tables"
MOST_TABLES = 500
"""That one job restores."""


class PlanManyParams(TypedDict):
    """The plan by its primary key, and a pattern of URIs, "" for all its tables; `moment` and `to` as in
    `PlanRestoreParams`, but `to` is the prefix below which each table gets the path that it has in its bucket."""

    plan: int
    tables: str
    moment: str | None
    to: str | None


class PlannedTable(PlanRestoreResult):
    """The plan of one table, or why there is none; `point` is the point that it is from."""

    table: str
    point: str


class PlanManyResult(PlannedResult, total=False):
    restores: list[PlannedTable]


class RestoreManyParams(PlanManyParams, Confirmation):
    """What the job `planned_by` led to."""


def points_of(plan: Plan, pattern: str) -> list[list[RestorePoint]]:
    """The points of each table of a plan whose URI fits a pattern, by name: the newest first, then what earlier runs
    have kept, as of another table at that place. In a pattern a `*` stands for any characters."""
    fits = re.compile(translate(re.sub(r"([?[])", r"[\1]", pattern or "*"))).match
    names = [one for one in plan.points.order_by("table").values_list("table", flat=True).distinct() if fits(one)]
    found: dict[str, list[RestorePoint]] = {name: [] for name in names[: MOST_TABLES + 1]}
    points = RestorePoint.objects.select_related("plan__connection", "plan__vault_connection").filter(plan=plan)
    for point in points.filter(table__in=found).order_by("-proven_at", "earlier"):
        found[point.table].append(point)
    return list(found.values())


def path_below(to: str | None, table: str) -> str | None:
    """Where a table goes of those that are restored below a prefix; None, and "", say the same as for one table."""
    return f"{to.rstrip('/')}/{TableUri.parse(table).key}" if to else to


def plan_restores(
    actor: Actor, plan: Plan, pattern: str, moment: datetime | None = None, *, to: str | None, here: bool = False
) -> Job:
    """Plan to restore the tables that fit, as they were at a moment or in their newest restorable version; changes
    nothing. Raises NotAllowed; JobBusy while others are planned."""
    asked = moment.isoformat() if moment else None
    pattern = re.sub("^s3n?://", "s3a://", pattern)
    params = PlanManyParams(plan=plan.pk, tables=pattern, moment=asked, to=to)
    job = ask(
        actor,
        PLAN_MANY_KIND,
        f"Plan to {'open' if to is None else 'restore'} tables of {plan.name}",
        here=here,
        connection=plan.vault_connection,
        target=Target("plan", str(plan.pk), plan.name),
        params=params,
    )
    if job.params != params:
        raise JobBusy(job)
    return job


def restore_many(actor: Actor, plan: Plan, planned: Job, digest: str, *, reason: str = "", here: bool = False) -> Job:
    """Carry out what this job planned, with this digest; the same plan confirmed twice is one job. Raises NotAllowed,
    ChangeRefused, and JobBusy while tables of the plan are being restored. A refusal is in the audit log."""
    verb, target = "backup.restore", Target("plan", str(plan.pk), plan.name)
    for source in sources_written_to(plan, planned):
        with permitted(actor, verb, target, source):
            pass  # a refusal is raised, and in the audit log
    wanted = WantedChange(planned, RESTORE_MANY_KIND, verb, plan.name)
    shown = partial(young_plan, planned, planned_by(planned), digest)
    return ask_for(actor, wanted, shown, digest, reason=reason, here=here)


def sources_written_to(plan: Plan, planned: Job) -> Iterator[Connection]:
    """The connection of the originals, where something is written to their bucket."""
    if planned.params["to"] is not None:
        places = ((place_of(one["to"]), place_of(one["table"])) for one in tables_of(planned))
        if any(to.bucket == source.bucket for to, source in places):
            yield plan.connection


def restoring(to: str) -> Job | None:
    """The job that is restoring to a path, alone or with others, or waits to."""
    active = Job.objects.filter(state__in=ACTIVE)
    for job in active.filter(kind=RESTORE_MANY_KIND):
        planned = Job.objects.filter(pk=job.params["planned_by"]).first()
        if planned and any(one["to"] == to for one in tables_of(planned)):
            return job
    return active.filter(kind=RESTORE_KIND, params__to=to).first()


def tables_of(planned: Job) -> list[PlannedTable]:
    """The tables that a job has planned to restore."""
    result: PlanManyResult = planned.result
    return [one for one in result.get("restores", ()) if one["plan"]]
