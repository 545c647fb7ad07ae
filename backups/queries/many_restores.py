"""Restores of many tables as their page shows them and their command prints them, from what jobs have stored."""

import shlex
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from django.urls import reverse

from backups.contract import ManyRestoresJob, RestorePlan, TablesRestoreJson
from backups.models import Plan
from backups.queries.restores import document_of
from backups.restores.actions import RestoreKind
from backups.restores.many import MOST_TABLES, PlanManyParams, PlanManyResult, tables_of
from changes.commands import job_document
from changes.documents import RefusalDocument
from changes.pages import PlanPage
from dashboard.jobs.models import Job
from lake.points.moments import BEGINNING, apart


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesRestorePage(PlanPage):
    """The page of a plan to restore many tables."""

    told: RestorePlan | None
    left_out: list[RefusalDocument]
    is_open: bool
    asking: int

    @property
    def ready(self) -> int:
        """Tables that can be restored now; of the others in the plan S3 is asked for archived objects."""
        return len(self.plan["calls"]) - self.asking if self.plan else 0


def tables_restore_page(plan: Plan, job: Job) -> TablesRestorePage:
    result: PlanManyResult = job.result
    is_open = job.params["to"] is None
    return TablesRestorePage(
        job=job,
        plan=result.get("plan"),
        refusal=result.get("refusal"),
        command=command_line(plan, job.params),
        name=plan.name,
        place=job.params["tables"] or plan.source,
        back=reverse("backup-plan-restore", args=[plan.name]),
        called="Open tables in the backup" if is_open else "Restore tables to paths of their own",
        told=_plan(job),
        left_out=[why for one in result.get("restores", ()) if (why := one["refusal"])],
        is_open=is_open,
        asking=sum(1 for one in tables_of(job) if one.get("archived")),
    )


def command_line(plan: Plan, params: PlanManyParams) -> str:
    tables, to = params["tables"], params["to"]
    words = ["levee", "restore", *([tables] if tables else []), "--plan", plan.name]
    words += ["--instant"] if to is None else ["--to", to] if to else []
    words += ["--at", params["moment"]] if params["moment"] else []
    return shlex.join([*words, "--apply"])


def tables_restore_document(plan: Plan, planned: Job, job: Job | None = None) -> TablesRestoreJson:
    """A plan, or why there is none, and the job that carried it out."""
    params: PlanManyParams = planned.params
    kind: RestoreKind = "instant" if params["to"] is None else "full"
    result: PlanManyResult = planned.result
    done: ManyRestoresJob | None = {**job_document(job), "outcomes": job.result.get("outcomes", [])} if job else None
    return {
        "backup": plan.name,
        "tables": params["tables"],
        "at": datetime.fromisoformat(params["moment"]) if params["moment"] else None,
        "kind": kind,
        "restores": [document_of(one["table"], one["point"], kind, one) for one in result.get("restores", ())],
        "plan": _plan(planned),
        "refusal": result.get("refusal"),
        "job": done,
    }


def _plan(planned: Job) -> RestorePlan | None:
    """The plan with the sums over its tables; the time is not known where that of one is not."""
    result: PlanManyResult = planned.result
    rows, plan = tables_of(planned), result.get("plan")
    if not plan:
        return None
    ready = [one["seconds"] for one in rows if not one.get("archived")]
    seconds = [one for one in ready if one is not None]
    return {
        **plan,
        "archived": sum(one.get("archived", 0) for one in rows),
        "objects": sum(one["objects"] for one in rows),
        "bytes": sum(one["size"] for one in rows),
        "cost": str(sum((Decimal(one["usd"]) for one in rows), Decimal(0))),
        "seconds": sum(seconds) if len(seconds) == len(ready) > 0 else None,
    }


class OfferedMoment(NamedTuple):
    """A moment as of which `restorable` of the `tables` of a plan can be restored; None where none is offered."""

    moment: datetime | None
    restorable: int
    tables: int


def offered_moment(plan: Plan) -> OfferedMoment:
    """The moment as of which most tables can be restored from the points that are kept, the newest of those."""
    newest = plan.points.filter(earlier="")
    if (tables := newest.count()) > MOST_TABLES:
        return OfferedMoment(None, 0, tables)
    kept = newest.exclude(proof="").values_list("moments", flat=True)
    of_tables = ([(datetime.fromisoformat(start), datetime.fromisoformat(end)) for start, end in one] for one in kept)
    # Before its first commit there is nothing of a table to restore.
    spans = [span for one in of_tables for span in apart(span for span in one if span[0] != BEGINNING)]
    starts, ends = (sorted(span[side] for span in spans) for side in (0, 1))
    covering = ((bisect_right(starts, end) - bisect_left(ends, end), end) for end in ends)
    restorable, moment = max(covering, default=(0, None))
    return OfferedMoment(moment, restorable, tables)
