"""Plans, refusals and outcomes as JSON: what a job stores, a page shows and `levee repair --json` prints."""

from typing import Any

from coordinator.protocols.verdict import Finding
from coordinator.repairs.calls import Call
from coordinator.repairs.permissions import iam_actions
from coordinator.repairs.plan import Plan, Refusal
from coordinator.repairs.wording import say


def plan_document(plan: Plan) -> dict[str, Any]:
    """One plan with each call as it will be sent (docs/architecture.md, Command line)."""
    return _subject(plan) | {
        "digest": plan.digest,
        "can_lose": plan.can_lose,
        "loses": plan.loses,
        "consequences": list(plan.consequences),
        "calls": [call_document(call) for call in plan.calls],
        "rescue_folder": plan.rescue_folder,
        "permissions": list(iam_actions(plan.calls)),
        "asks": plan.asks,
    }


def refusal_document(refusal: Refusal) -> dict[str, Any]:
    """One repair that must not be made, with its reason."""
    return _subject(refusal) | {"reason": refusal.reason, "asks": refusal.asks}


def call_document(call: Call) -> dict[str, str]:
    """A call in words: the AWS operations, what it does, on which condition."""
    text = say(call)
    return {"operation": text.operation, "says": text.says, "condition": text.condition}


def finding_image(finding: Finding) -> dict[str, Any]:
    """A finding with what was read, for the audit log."""
    return {
        "code": finding.code,
        "version": finding.version,
        "state": finding.state.value,
        "summary": finding.summary,
        "evidence": dict(finding.evidence),
    }


def _subject(thing: Plan | Refusal) -> dict[str, Any]:
    return {
        "repair": thing.repair.value,
        "code": thing.code,
        "version": thing.version,
        "uri": thing.uri,
        "title": thing.title,
    }
