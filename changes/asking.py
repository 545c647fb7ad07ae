"""Asking for a change that was planned and shown: one job of one plan, whoever confirms it, and however often."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from django.db.models import QuerySet
from django.utils import timezone

from changes.documents import PlanDocument
from changes.gate import LASTS, PlanNeeded, confirmation, is_too_old, permitted, read_at, require_name
from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import require
from dashboard.connections.models import Connection
from dashboard.jobs.actions import JobBusy, Target, ask
from dashboard.jobs.models import Job, JobState

Plans = Callable[[Job], Iterable[PlanDocument]]


@dataclass(frozen=True, slots=True)
class ShownPlan:
    """A plan as a job made it, and the job."""

    job: Job
    document: PlanDocument

    def key(self, prefix: str) -> str:
        """Names the one job that this plan may lead to: a second click finds the first."""
        return f"{prefix}:{self.job.pk}:{self.document['digest']}"


def newest_shown(jobs: "QuerySet[Job]", digest: str, plans: Plans) -> ShownPlan:
    """The newest plan of that digest, of jobs newest first; raises PlanNeeded where none is young enough."""
    for job in jobs.filter(state=JobState.SUCCEEDED, created_at__gte=timezone.now() - LASTS):
        found = next((one for one in plans(job) if one["digest"] == digest), None)
        if found is not None and not is_too_old(read_at(job)):
            return ShownPlan(job, found)
    raise PlanNeeded


@dataclass(frozen=True, slots=True)
class WantedChange:
    """A change that somebody may ask for: `kind` of job and `verb` it needs, what it is about, the name to be typed.

    `losing_verb` is needed besides where a commit can be lost, `prefix` begins the key of its one job, `params` are
    what its worker has to know besides the confirmation; `carried` names what it is told as the planning job was.
    """

    kind: str
    verb: str
    connection: Connection
    target: Target
    name: str
    losing_verb: str
    prefix: str
    params: Mapping[str, object] = field(default_factory=dict)
    carried: tuple[str, ...] = ()


def ask_for(
    actor: Actor,
    wanted: WantedChange,
    shown: Callable[[], ShownPlan],
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
    with permitted(actor, wanted.verb, wanted.target, wanted.connection):
        plan = shown()
        can_lose = plan.document["can_lose"]
        if can_lose:
            require(actor, wanted.losing_verb, target=wanted.target.label, connection=wanted.connection)
        if plan.document["danger"] or can_lose:
            require_name(confirm, wanted.name, can_lose=can_lose)
    job = ask(
        actor,
        wanted.kind,
        plan.document["title"],
        here=here,
        connection=wanted.connection,
        target=wanted.target,
        params={
            **wanted.params,
            **{name: plan.job.params.get(name, "") for name in wanted.carried},
            **confirmation(actor, plan.job, digest, confirm),
        },
        idempotency_key=plan.key(wanted.prefix),
        reason=reason,
    )
    if job.params.get("digest") != digest:
        raise JobBusy(job)
    return job
