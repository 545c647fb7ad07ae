"""A run's changes of state: each is one conditional UPDATE that says whether it won. See docs/decisions/004."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from backups.models import ACTIVE, Plan, Run, RunStage, RunState, Stage, StageState
from dashboard.accounts.actor import Actor
from dashboard.audit.log import AuditOutcome, record
from dashboard.jobs.models import Job
from dashboard.jobs.reaper import lose_if_silent

PRECEDING: dict[RunState, tuple[RunState, ...]] = {
    RunState.RUNNING: (RunState.WAITING_FOR_INVENTORY, RunState.WAITING_FOR_APPROVAL),
    RunState.WAITING_FOR_APPROVAL: (RunState.RUNNING,),
    RunState.CANCELLING: (RunState.WAITING_FOR_INVENTORY, RunState.RUNNING, RunState.WAITING_FOR_APPROVAL),
    RunState.COMPLETE: (RunState.RUNNING,),
    RunState.COMPLETE_WITH_GAPS: (RunState.RUNNING,),
    RunState.FAILED: ACTIVE,
    RunState.CANCELLED: (RunState.CANCELLING,),
}
"""To each state, from which it may be moved to; a run begins in the one that is missing."""

STAGES = tuple(Stage)


def acquire(run_id: UUID, job: Job) -> bool:
    """Let a job move the run; False: another job that has not ended holds it, or the run is finished.

    A holder that has been silent for 90 seconds is ended as lost here: with commands alone no reaper may be running.
    """
    seen = Run.objects.select_related("worker").filter(pk=run_id, state__in=ACTIVE).first()
    if seen is None:
        return False
    holder = seen.worker
    if holder and holder.pk != job.pk and not holder.is_finished and not lose_if_silent(holder, timezone.now()):
        return False
    # Two that saw the same holder end: the second finds that the first has taken its place.
    return _won(Run.objects.filter(pk=run_id, worker=seen.worker, state__in=ACTIVE).update(worker=job))


def release(run_id: UUID, job: Job, look_again_at: datetime | None) -> bool:
    """Leave the run to the next job, not before `look_again_at`; one that is to be cancelled waits for nothing."""
    held = Run.objects.filter(pk=run_id, worker=job)
    at_once = (RunState.CANCELLING, RunState.WAITING_FOR_APPROVAL)
    if _won(held.filter(state__in=at_once).update(worker=None)):
        return True
    return _won(held.exclude(state__in=at_once).update(worker=None, look_again_at=look_again_at))


def move(run_id: UUID, to: RunState, *, job: Job | None = None, **fields: Any) -> bool:
    """Move to another state, from whichever may precede it; with `job` only while that job holds the run.

    The end of a run is in the audit log with it, on behalf of who started it.
    """
    rows = Run.objects.filter(pk=run_id, state__in=PRECEDING.get(to, ()))
    if job is not None:
        rows = rows.filter(worker=job)
    if to in ACTIVE:
        return _won(rows.update(state=to, **fields))
    with transaction.atomic():
        ended = _won(rows.update(state=to, **{"finished_at": timezone.now(), "look_again_at": None, **fields}))
        if ended:
            run = Run.objects.select_related("plan", "requested_by").get(pk=run_id)
            outcome: AuditOutcome = "failed" if to == RunState.FAILED else "done"
            found = {"state": run.state, "objects": run.counts}
            who = Actor.worker(run.requested_by_name, run.requested_by)
            audit(who, "backup.run", run, after=found, outcome=outcome, detail=run.sentence)
    return ended


def save(run_id: UUID, job: Job, **fields: Any) -> bool:
    """Store facts of a run that is not finished, while the job holds it."""
    return _won(Run.objects.filter(pk=run_id, worker=job, state__in=ACTIVE).update(**fields))


def next_stage(run_id: UUID, job: Job, done: Stage, detail: str) -> bool:
    """Close a stage and enter the one after it."""
    following = STAGES[STAGES.index(done) + 1]
    held = Run.objects.filter(pk=run_id, worker=job, stage=done, state=RunState.RUNNING)
    with transaction.atomic():
        won = _won(held.update(stage=following, failed_attempts=0, error_code=""))
        if won:
            close_stage(run_id, done, StageState.DONE, detail)
    return won


def open_stage(run_id: UUID, job: Job, stage: Stage) -> None:
    """Show that a stage is worked on, while the job holds its run; its beginning is that of the first time."""
    rows = RunStage.objects.filter(run_id=run_id, run__worker=job, name=stage)
    rows.filter(started_at=None).update(started_at=timezone.now())
    rows.update(state=StageState.RUNNING)


def close_stage(run_id: UUID, stage: str, state: StageState, detail: str = "") -> None:
    more = {"detail": detail} if detail else {}
    RunStage.objects.filter(run_id=run_id, name=stage).update(state=state, finished_at=timezone.now(), **more)


def show_stage(run_id: UUID, job: Job, stage: Stage, **fields: Any) -> None:
    """Store progress of a stage, while the job holds its run: `done`, `total`, `detail`, `state`."""
    RunStage.objects.filter(run_id=run_id, run__worker=job, name=stage).update(**fields)


def audit(
    actor: Actor,
    action: str,
    subject: Plan | Run,
    *,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
    outcome: AuditOutcome = "done",
    detail: str = "",
) -> None:
    """Write what somebody does with a plan or a run into the audit log."""
    plan, of_run = (subject.plan, {"run": str(subject.pk)}) if isinstance(subject, Run) else (subject, {})
    record(
        actor,
        action,
        target_type="run" if of_run else "plan",
        target_id=str(subject.pk),
        target_label=plan.name,
        before=dict(before or {}),
        after={**of_run, **(after or {})},
        outcome=outcome,
        detail=detail[:500],
    )


def _won(rows: int) -> bool:
    return rows == 1
