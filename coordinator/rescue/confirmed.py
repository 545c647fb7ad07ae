"""Finding the plan that somebody confirms, and what was last read of the copies of a table: from Levee's own rows."""

from collections.abc import Iterable
from typing import TypedDict

from django.db.models import QuerySet

from changes.asking import ShownPlan, newest_shown
from changes.documents import PlanDocument, PlannedResult, planned_by
from changes.gate import Confirmation
from coordinator.contract import CopyDocument, RefusedListing
from coordinator.models import DeltaTable
from dashboard.jobs.context import JobResult
from dashboard.jobs.models import Job

LIST_KIND = "list-rescue"
PLAN_KIND = "plan-rescue"
RESTORE_KIND = "restore-rescue"


class ListRescueParams(TypedDict):
    """The tables by their primary keys."""

    tables: list[int]


class ListRescueResult(JobResult, total=False):
    read_at: str
    copies: list[CopyDocument]
    not_listed: list[RefusedListing]
    left_out: int
    more: bool


class PlanRescueParams(TypedDict):
    """The table, and the copy by its id."""

    uri: str
    copy: str


class PlanRescueResult(PlannedResult, total=False):
    """`command` puts an item back, "" where there is none."""

    command: str


class RestoreRescueParams(PlanRescueParams, Confirmation):
    name: str


def list_jobs(table: DeltaTable) -> "QuerySet[Job]":
    """Every job that listed the copies of one table, newest first."""
    return _jobs(table, LIST_KIND)


def plan_jobs(table: DeltaTable) -> "QuerySet[Job]":
    """Every job that planned to put a copy of a table back, newest first."""
    return _jobs(table, PLAN_KIND)


def shown_plan(table: DeltaTable, copy: str, digest: str) -> ShownPlan:
    """The newest plan of that copy and digest; raises PlanNeeded where none was made in the last 15 minutes."""

    def of_it(job: Job) -> Iterable[PlanDocument]:
        params: PlanRescueParams = job.params
        return planned_by(job) if params["copy"] == copy else ()

    return newest_shown(plan_jobs(table), digest, of_it)


def _jobs(table: DeltaTable, kind: str) -> "QuerySet[Job]":
    return Job.objects.filter(kind=kind, target_type="table", target_id=str(table.pk)).order_by("-created_at")
