"""Plans, refusals and outcomes of upkeep as JSON: what a job stores, a page shows and a command prints."""

from dataclasses import asdict
from typing import Any

from coordinator.upkeep.calls import UpkeepCall, say
from coordinator.upkeep.outcome import CallOutcome
from coordinator.upkeep.plan import Refusal, UpkeepPlan


def plan_document(plan: UpkeepPlan) -> dict[str, Any]:
    """One plan with each call as it will be sent."""
    return {
        "act": plan.act,
        "subject": plan.subject,
        "title": plan.title,
        "digest": plan.digest,
        "danger": plan.danger,
        "can_lose": plan.can_lose,
        "conditions": list(plan.conditions),
        "consequences": list(plan.consequences),
        "calls": [call_document(call) for call in plan.calls],
        "equivalents": asdict(plan.equivalents),
        "permissions": list(plan.permissions),
        "beside": [list(row) for row in plan.beside],
    }


def refusal_document(refusal: Refusal) -> dict[str, str]:
    return asdict(refusal)


def call_document(call: UpkeepCall) -> dict[str, str]:
    """A call in words: the AWS operations, what it does, on which condition, and the body that is sent."""
    return asdict(say(call))


def outcome_document(outcome: CallOutcome) -> dict[str, Any]:
    """A call with what became of it."""
    return {
        **call_document(outcome.call),
        "result": outcome.result.value,
        "sentence": outcome.sentence,
        "request_ids": list(outcome.request_ids),
    }
