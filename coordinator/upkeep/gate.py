"""What has to hold before a plan of upkeep is carried out. Each refusal is one sentence, and nothing was changed."""

from typing import Any

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from coordinator.repairs.gate import PLAN_LASTS, NameNotTyped, PlanNeeded, is_read_only, require_writable
from coordinator.upkeep.wishes import Wish, is_of_store, subject_name
from dashboard.jobs.models import Job, JobState

__all__ = [
    "PLAN_KIND",
    "PlanNeeded",
    "confirmed",
    "is_read_only",
    "kind_of",
    "losing_verb",
    "require_typed",
    "require_writable",
    "verb_of",
]

PLAN_KIND = "plan-upkeep"
LOSING_VERB = "bucket.change-losing"
VERBS = {"create-store": "store.create", "change-store": "store.change", "change-bucket": "bucket.change"}


class UpkeepPlanNeeded(PlanNeeded):
    """No plan with the confirmed digest was made in the last 15 minutes."""

    def __init__(self) -> None:
        Exception.__init__(self, "This plan is older than 15 minutes or was never made: plan the change again.")


class SubjectNotTyped(NameNotTyped):
    """A change that cannot be taken back was asked for without the name of what it changes."""

    def __init__(self, name: str) -> None:
        Exception.__init__(self, f"This change cannot be taken back: type the name, {name}, to confirm it.")


def kind_of(wish: Wish) -> str:
    """The kind of job that carries a wish out."""
    if wish.ACT == "create-store":
        return wish.ACT
    return "change-store" if is_of_store(wish) else "change-bucket"


def verb_of(wish: Wish) -> str:
    """The verb that an actor needs for it."""
    return VERBS[kind_of(wish)]


def losing_verb(document: dict[str, Any]) -> str:
    """The verb that an actor needs besides for a plan that can lose something, "" for one that cannot."""
    return LOSING_VERB if document.get("can_lose") else ""


def confirmed(planned: Job, digest: str) -> dict[str, Any]:
    """The document of the plan that this job made; raises UpkeepPlanNeeded unless it has the digest and is young."""
    document = planned.result.get("plan") if planned.kind == PLAN_KIND and planned.state == JobState.SUCCEEDED else None
    at = parse_datetime(str(planned.result.get("read_at", "")))
    young = at is not None and timezone.now() - at <= PLAN_LASTS
    if not isinstance(document, dict) or document.get("digest") != digest or not young:
        raise UpkeepPlanNeeded
    return document


def require_typed(document: dict[str, Any], wish: Wish, typed: str) -> None:
    """Raise SubjectNotTyped for a plan with a danger unless the store's or bucket's name was typed."""
    if document.get("danger") and typed.strip() != subject_name(wish):
        raise SubjectNotTyped(subject_name(wish))
