"""What an operator may do with restore points, and what its jobs take and tell. Pages and commands both call these."""

from datetime import datetime
from functools import partial
from typing import TypedDict

from backups.contract import Verified, Ways
from backups.models import RestorePoint
from changes.asking import WantedChange, ask_for, young_plan
from changes.documents import PlannedResult, planned_by
from changes.gate import Confirmation
from dashboard.accounts.actor import Actor
from dashboard.jobs.actions import JobBusy, Target, ask
from dashboard.jobs.context import JobResult
from dashboard.jobs.models import Job
from lake.delta.uri import TableUri

PLAN_KIND = "plan-restore"
RESTORE_KIND = "restore-table"


class PlanRestoreParams(TypedDict):
    """The point, and which version: the one of a number, the newest at a moment, or the point's own."""

    point: str
    version: int | None
    moment: str | None


class PlanRestoreResult(PlannedResult, total=False):
    """`document` is the one of the point that leads to `version`; `to` is where that is to open. The plan writes so
    many `objects`, about `log_bytes`, for `usd`; the last restore of this table took `seconds`, None for none."""

    document: str
    version: int
    to: str
    objects: int
    log_bytes: int
    usd: str
    seconds: int | None


class RestoreParams(PlanRestoreParams, Confirmation):
    """What the plan led to: the version, and the document that leads to it."""

    document: str


class RestoreResult(JobResult, total=False):
    to: str
    seconds: float
    verified: Verified
    ways: Ways


def plan_restore(
    actor: Actor, point: RestorePoint, version: int | None = None, moment: datetime | None = None, *, here: bool = False
) -> Job:
    """Plan to open a version of a restore point in place; changes nothing. Raises NotAllowed; JobBusy while another
    version of it is planned."""
    params = PlanRestoreParams(point=str(point.pk), version=version, moment=moment.isoformat() if moment else None)
    job = ask(
        actor,
        PLAN_KIND,
        f"Plan to open {point.table} in place"[:200],
        here=here,
        connection=point.plan.vault_connection,
        target=target_of(point),
        params=params,
    )
    if job.params != params:
        raise JobBusy(job)
    return job


def restore(actor: Actor, planned: Job, digest: str, *, reason: str = "", here: bool = False) -> Job:
    """Carry out what this job planned, with this digest; the same plan confirmed twice is one job. Raises NotAllowed,
    ChangeRefused, and JobBusy while another version of the point is being restored. A refusal is in the audit log."""
    result: PlanRestoreResult = planned.result
    params = {"document": result.get("document", ""), "version": result.get("version"), "moment": None}
    name = TableUri.parse(planned.target_label).name
    wanted = WantedChange(planned, RESTORE_KIND, "backup.restore", name, params=params)
    shown = partial(young_plan, planned, planned_by(planned), digest)
    return ask_for(actor, wanted, shown, digest, reason=reason, here=here)


def target_of(point: RestorePoint) -> Target:
    return Target("restore-point", str(point.pk), point.table)
