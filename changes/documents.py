"""Plans, refusals and outcomes as JSON: what a job stores, a page shows and a command prints."""

from datetime import datetime
from typing import Annotated, NotRequired, TypedDict

from changes.calls import Call
from changes.execution import CallOutcome
from changes.plan import ChangePlan, Refusal
from dashboard.jobs.context import JobResult
from dashboard.jobs.models import Job


class CallDocument(TypedDict):
    """A call in words: the AWS operations, what it does, on which condition, and the body that is sent."""

    operation: Annotated[str, "s3:GetObject, s3:PutObject"]
    says: str
    condition: str
    request: str


class OutcomeDocument(CallDocument):
    """A call with what became of it."""

    outcome: Annotated[str, "done | already | stopped | failed"]
    sentence: str
    request_ids: list[str]


class SubjectDocument(TypedDict):
    """What a change is about, as in `ChangePlan`; `version` is None and `code` "" for what repairs no finding."""

    kind: str
    subject: str
    code: str
    version: int | None
    title: str


class EquivalentsDocument(TypedDict):
    """The same change by other tools, "" where there is none; `not_offered` says why there are no commands."""

    aws_cli: Annotated[str, "…"]
    terraform: Annotated[str, "…"]
    not_offered: Annotated[str, ""]


class PlanDocument(SubjectDocument):
    """One plan with each call as it will be sent."""

    digest: str
    danger: str
    can_lose: bool
    asks: str
    conditions: list[str]
    consequences: list[str]
    calls: list[CallDocument]
    permissions: Annotated[list[str], ["s3:PutObject on arn:aws:s3:::lake/*"]]
    rescue_folder: str
    equivalents: EquivalentsDocument
    beside: Annotated[list[list[str]], [["TTL", "Off", "On expireTime"]]]


class RefusalDocument(SubjectDocument):
    """One change that must not be made, with its reason."""

    reason: str
    why: Annotated[str, "nothing-to-do | …"]
    asks: str


class OvertakenDocument(TypedDict):
    """Where a job stopped (0: before the first call), what it had written by then, and of a repair, whether its
    finding is left.
    """

    call: int
    of: int
    reason: str
    written: list[str]
    finding_holds: NotRequired[bool]


class PlannedResult(JobResult, total=False):
    """What a job that plans one change stores; of `plan` and `refusal` one is None."""

    read_at: str
    plan: PlanDocument | None
    refusal: RefusalDocument | None


def planned_result(made: ChangePlan | Refusal, read_at: datetime, requests: int) -> PlannedResult:
    return {
        "read_at": read_at.isoformat(),
        "requests": requests,
        "plan": plan_document(made) if isinstance(made, ChangePlan) else None,
        "refusal": refusal_document(made) if isinstance(made, Refusal) else None,
    }


def planned_in_words(told: PlannedResult) -> str:
    """What a job says that planned one change."""
    plan, refusal = told["plan"], told["refusal"]
    return f"Planned: {plan['title']}." if plan else refusal["reason"] if refusal else ""


def planned_by(job: Job) -> tuple[PlanDocument, ...]:
    """The plan that a job made, none where it was refused or could not be read."""
    result: PlannedResult = job.result
    plan = result.get("plan")
    return (plan,) if plan else ()


def plan_document(plan: ChangePlan) -> PlanDocument:
    return {
        **_subject(plan),
        "digest": plan.digest,
        "danger": plan.danger,
        "can_lose": plan.can_lose,
        "asks": plan.asks,
        "conditions": list(plan.conditions),
        "consequences": list(plan.consequences),
        "calls": [call_document(call) for call in plan.calls],
        "permissions": list(plan.permissions),
        "rescue_folder": plan.rescue_folder,
        "equivalents": {
            "aws_cli": plan.equivalents.aws_cli,
            "terraform": plan.equivalents.terraform,
            "not_offered": plan.equivalents.not_offered,
        },
        "beside": [list(row) for row in plan.beside],
    }


def refusal_document(refusal: Refusal) -> RefusalDocument:
    return {**_subject(refusal), "reason": refusal.reason, "why": refusal.why, "asks": refusal.asks}


def call_document(call: Call) -> CallDocument:
    return {
        "operation": call.operation,
        "says": call.says,
        "condition": call.condition,
        "request": call.request,
    }


def outcome_document(outcome: CallOutcome) -> OutcomeDocument:
    return {
        **call_document(outcome.call),
        "outcome": outcome.result.value,
        "sentence": outcome.sentence,
        "request_ids": list(outcome.request_ids),
    }


def _subject(thing: ChangePlan | Refusal) -> SubjectDocument:
    return {
        "kind": thing.kind,
        "subject": thing.subject,
        "code": thing.code,
        "version": thing.version,
        "title": thing.title,
    }
