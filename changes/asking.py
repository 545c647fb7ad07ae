"""Asking for a change that was planned and shown: one job of one plan, whoever confirms it, and however often."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from changes.documents import PlanDocument
from changes.gate import PlanNeeded, confirmation, is_too_old, permitted, read_at, require_name
from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import require
from dashboard.jobs.actions import JobBusy, Target, ask
from dashboard.jobs.models import Job, JobState


def young_plan(planned: Job, plans: Iterable[PlanDocument], digest: str) -> PlanDocument:
    """The one of a job's plans with that digest; raises PlanNeeded where there is none, or not from lately."""
    found = next((one for one in plans if one["digest"] == digest), None)
    if found is None or is_too_old(read_at(planned)):
        raise PlanNeeded
    return found


def led_to(planned: Job, plan: PlanDocument | None) -> Job | None:
    """The one job that a plan has led to already."""
    return Job.objects.filter(idempotency_key=_key(planned, plan["digest"])).first() if plan else None


def _key(planned: Job, digest: str) -> str:
    """Names the one job that a plan may lead to: a second click finds the first."""
    return f"plan:{planned.pk}:{digest}"


@dataclass(frozen=True, slots=True)
class WantedChange:
    """A change that somebody may ask for: the job that planned it, the kind of job that makes it, the verb it needs.

    `name` is what is typed to confirm a danger, and `losing_verb` is needed besides where a commit can be lost. Its
    worker is told what the planning job was, the confirmation, and `params`. `target` is what it works on where that
    may be known by another name than when it was planned.
    """

    planned: Job
    kind: str
    verb: str
    name: str
    losing_verb: str = ""
    params: Mapping[str, object] = field(default_factory=dict)
    target: Target | None = None


def ask_for(
    actor: Actor,
    wanted: WantedChange,
    shown: Callable[[], PlanDocument],
    digest: str,
    *,
    confirm: str = "",
    reason: str = "",
    here: bool = False,
) -> Job:
    """Have a plan carried out that `shown` finds; the same plan confirmed twice is one job.

    A plan with a danger takes the name as typed. Raises NotAllowed, ChangeRefused, what `shown` raises, and JobBusy
    while another change of the same thing is under way. A refusal is in the audit log.
    """
    planned, connection = wanted.planned, wanted.planned.connection
    if connection is None or planned.state != JobState.SUCCEEDED:
        raise PlanNeeded
    target = wanted.target or Target(planned.target_type, planned.target_id, planned.target_label)
    with permitted(actor, wanted.verb, target, connection):
        plan = shown()
        can_lose = plan["can_lose"]
        if can_lose:
            require(actor, wanted.losing_verb, target=target.label, connection=connection)
        if plan["danger"] or can_lose:
            require_name(confirm, wanted.name, can_lose=can_lose)
    job = ask(
        actor,
        wanted.kind,
        plan["title"],
        here=here,
        connection=connection,
        target=target,
        params={**planned.params, **wanted.params, **confirmation(actor, planned, digest, confirm)},
        idempotency_key=_key(planned, digest),
        reason=reason,
    )
    if job.params.get("digest") != digest:
        raise JobBusy(job)
    return job
