"""Which job carries a change out, which verb it needs, and the plan of it that somebody confirms."""

from changes.asking import ShownPlan, newest_shown
from changes.documents import PlanDocument, PlannedResult, planned_by
from changes.gate import Confirmation
from coordinator.contract import RequestedChange
from coordinator.settings.requests import ChangeRequest, is_of_store
from dashboard.jobs.models import Job

PLAN_KIND = "plan-upkeep"
PLAN_KEY = "upkeep"
LOSING_VERB = "bucket.change-losing"
VERBS = {"create-store": "store.create", "change-store": "store.change", "change-bucket": "bucket.change"}


class PlanChangeParams(RequestedChange):
    """Of the job that plans a change."""


class PlanChangeResult(PlannedResult, RequestedChange):
    """The plan, and the change that it is of."""


class ChangeParams(PlanChangeParams, Confirmation):
    """Of every job that carries a change out."""


def kind_of(change: ChangeRequest) -> str:
    """The kind of job that carries a change out."""
    if change.ACT == "create-store":
        return change.ACT
    return "change-store" if is_of_store(change) else "change-bucket"


def verb_of(change: ChangeRequest) -> str:
    """The verb that an actor needs for it."""
    return VERBS[kind_of(change)]


def losing_verb(document: PlanDocument | None) -> str:
    """The verb that an actor needs besides for a plan that can lose something, "" for one that cannot."""
    return LOSING_VERB if document and document["can_lose"] else ""


def shown_plan(planned: Job, digest: str) -> ShownPlan:
    """The plan that this job made; raises PlanNeeded unless it has the digest and is young."""
    jobs = Job.objects.filter(pk=planned.pk, kind=PLAN_KIND)
    return newest_shown(jobs, digest, planned_by)
