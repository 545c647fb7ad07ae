"""Which job carries a change out, which verb it needs, and the plan of it that somebody confirms."""

from typing import cast

from changes.documents import PlanDocument
from changes.gate import PlanNeeded, is_too_old, read_at
from coordinator.settings.requests import ChangeRequest, is_of_store
from dashboard.jobs.models import Job, JobState

PLAN_KIND = "plan-upkeep"
LOSING_VERB = "bucket.change-losing"
VERBS = {"create-store": "store.create", "change-store": "store.change", "change-bucket": "bucket.change"}


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


def confirmed(planned: Job, digest: str) -> PlanDocument:
    """The document of the plan that this job made; raises PlanNeeded unless it has the digest and is young."""
    document = planned.result.get("plan") if planned.kind == PLAN_KIND and planned.state == JobState.SUCCEEDED else None
    if document is None or document["digest"] != digest or is_too_old(read_at(planned)):
        raise PlanNeeded
    return cast("PlanDocument", document)
