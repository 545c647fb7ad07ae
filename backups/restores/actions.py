"""What an operator may do with restore points, and what its jobs take and tell. Pages and commands both call these."""

from datetime import datetime
from functools import partial
from typing import Literal, NotRequired, TypedDict
from uuid import NAMESPACE_URL, uuid5

from backups.contract import Verified, Ways
from backups.models import RestorePoint
from changes.asking import WantedChange, ask_for, young_plan
from changes.documents import PlannedResult, planned_by
from changes.gate import Confirmation, permitted
from dashboard.accounts.actor import Actor
from dashboard.connections.models import Connection
from dashboard.jobs.actions import JobBusy, Target, ask
from dashboard.jobs.context import JobResult
from dashboard.jobs.models import Job
from lake.backup.objects import place_of
from lake.delta.uri import TableUri

PLAN_KIND = "plan-restore"
RESTORE_KIND = "restore-table"
ASK_KIND = "ask-archive"
REMOVE_KIND = "remove-restored"
IN_PLACE = "backup.restore-in-place"
"""The verb of what may take versions out of a table."""
REMOVE, REMOVE_LOSING = "backup.remove-restored", "backup.remove-losing"
"""The verbs of what removes a restored copy, and of what does so without a proof that the backup has all its bytes."""
RestoreKind = Literal["instant", "full", "in_place", "remove"]
_ONE_AT_A_TIME: dict[RestoreKind, str] = {"in_place": "table-in-place", "remove": "restored-copy"}
"""Types of targets that are known by their path, whichever point is restored there."""


class PlanRestoreParams(TypedDict):
    """The point, and which version: the one of a number, the newest at a moment, or the point's own. `to` is the path
    that it is restored to, "" for one beside the original's; None, or absent in older jobs, where it is opened in
    place. `in_place`: it is put back where the table is, or was. `removes`: what was restored to `to` by this document
    of a point is removed."""

    point: str
    version: int | None
    moment: str | None
    to: NotRequired[str | None]
    in_place: NotRequired[bool]
    removes: NotRequired[str]


def kind_of(params: PlanRestoreParams) -> RestoreKind:
    """The word by which the JSON tells what is restored where."""
    if params.get("removes"):
        return "remove"
    if params.get("in_place"):
        return "in_place"
    return "instant" if params.get("to") is None else "full"


class PlanRestoreResult(PlannedResult, total=False):
    """`document` is the one of the point that leads to `version`; `to` is where that is to open. The plan writes so
    many `objects` of about `size` bytes, for `usd`, in about `seconds`, None where nothing like it was done yet. What
    stands there goes to `aside`, "" for nothing. Where some are `archived`, it asks S3 for these alone: they are the
    `objects`, of so many bytes. A plan that removes a copy removes them."""

    document: str
    version: int
    to: str
    objects: int
    size: int
    usd: str
    seconds: int | None
    aside: str
    archived: int


class RestoreParams(PlanRestoreParams, Confirmation):
    """What the plan led to: the version, and the document that leads to it."""

    document: str


class RestoreResult(JobResult, total=False):
    """`copied_in` is the part of the `seconds` that passed before readers were asked. Where S3 was `asked` for so many
    archived objects, nothing is restored."""

    to: str
    copied_in: float
    seconds: float
    asked: int
    verified: Verified
    ways: Ways


def plan_restore(
    actor: Actor,
    point: RestorePoint,
    version: int | None = None,
    moment: datetime | None = None,
    *,
    to: str | None = None,
    in_place: bool = False,
    here: bool = False,
) -> Job:
    """Plan to open a version of a restore point, to restore it to a path, or to put it back where its table is; changes
    nothing. Raises NotAllowed; JobBusy while another version of it is planned."""
    asked = moment.isoformat() if moment else None
    params = PlanRestoreParams(point=str(point.pk), version=version, moment=asked, to=to)
    if in_place:
        params |= {"to": point.table, "in_place": True}
    return _planned(actor, f"Plan to {'open' if to is None else 'restore'} {point.table}", point, params, here=here)


def plan_removal(actor: Actor, point: RestorePoint, copy: PlanRestoreParams, *, here: bool = False) -> Job:
    """Plan to remove what was restored to a path of its own, as `removing` names it; changes nothing. Raises as
    `plan_restore`."""
    return _planned(actor, f"Plan to remove {copy.get('to')}", point, copy, here=here)


def removing(point: str, restored: PlanRestoreResult) -> PlanRestoreParams:
    """What a plan has restored to a path of its own, of a point by its primary key."""
    version, to = restored["version"], restored["to"]
    return PlanRestoreParams(point=point, version=version, moment=None, to=to, removes=restored["document"])


def _planned(actor: Actor, title: str, point: RestorePoint, params: PlanRestoreParams, *, here: bool) -> Job:
    connection, target = point.plan.vault_connection, target_of(point)
    job = ask(actor, PLAN_KIND, title[:200], here=here, connection=connection, target=target, params=params)
    if job.params != params:
        raise JobBusy(job)
    return job


def restore(
    actor: Actor,
    point: RestorePoint,
    planned: Job,
    digest: str,
    *,
    confirm: str = "",
    reason: str = "",
    here: bool = False,
) -> Job:
    """Carry out what this job planned, with this digest; the same plan confirmed twice is one job. Raises NotAllowed,
    ChangeRefused, and JobBusy while another version of the point is being restored. A refusal is in the audit log.

    What is written to the bucket of the original, or removed there, has to be allowed on its connection too."""
    result: PlanRestoreResult = planned.result
    verb, target = verb_of(planned.params), _locked(planned) or target_of(point)
    losing = REMOVE_LOSING if verb == REMOVE else verb
    params = {"document": result.get("document", ""), "version": result.get("version"), "moment": None}
    if planned.params.get("to") is not None:
        params["to"] = to = result.get("to", "")
        if (source := source_written_to(point, to)) is not None:
            can_lose = any(one["can_lose"] for one in planned_by(planned))
            with permitted(actor, losing if can_lose else verb, target, source):
                pass  # a refusal is raised, and in the audit log
    name = TableUri.parse(subject_of(planned.params, planned.target_label)).name
    kind = REMOVE_KIND if verb == REMOVE else ASK_KIND if result.get("archived") else RESTORE_KIND
    wanted = WantedChange(planned, kind, verb, name, losing_verb=losing, params=params, target=target)
    shown = partial(young_plan, planned, planned_by(planned), digest)
    return ask_for(actor, wanted, shown, digest, confirm=confirm, reason=reason, here=here)


def _locked(planned: Job) -> Target | None:
    """What only one change at a time may be about: in place the table, whichever point it comes from, and a copy that
    is removed; None for the point."""
    kind = kind_of(planned.params)
    return target_at(kind, subject_of(planned.params, planned.target_label)) if kind in _ONE_AT_A_TIME else None


def target_at(kind: RestoreKind, uri: str) -> Target:
    return Target(_ONE_AT_A_TIME[kind], str(uuid5(NAMESPACE_URL, uri)), uri)


def subject_of(params: PlanRestoreParams, table: str) -> str:
    """The URI of the table that is changed: that of the point, or the copy that is removed."""
    return str(params.get("to")) if kind_of(params) == "remove" else table


def verb_of(params: PlanRestoreParams) -> str:
    verbs: dict[RestoreKind, str] = {"in_place": IN_PLACE, "remove": REMOVE}
    return verbs.get(kind_of(params), "backup.restore")


def source_written_to(point: RestorePoint, to: str) -> Connection | None:
    """The connection of the original, where something is written to its bucket."""
    is_there = place_of(to).bucket == place_of(point.table).bucket
    return point.plan.connection if is_there else None


def target_of(point: RestorePoint) -> Target:
    return Target("restore-point", str(point.pk), point.table)
