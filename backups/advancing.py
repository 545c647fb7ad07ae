"""Which job advances a run next, submitted to the workers or run here and now."""

import time
from collections.abc import Callable
from typing import TypedDict

from backups.models import Plan, Run, RunState, Stage
from dashboard.accounts.actor import Actor
from dashboard.jobs.actions import Submission, Target, run_in_foreground, submit
from dashboard.jobs.following import follow, worker_answers
from dashboard.jobs.models import Job, JobState

CANCEL_KIND = "backup-cancel"
DATA_KIND = "backup-data"
POLL_SECONDS = 2.0
LONGEST_WAIT_SECONDS = 60.0
LONGEST_JOB_SECONDS = 24 * 3600.0


class AdvanceParams(TypedDict):
    """The run by its primary key."""

    run: str


def needs_spark(run: Run) -> bool:
    """Whether the next thing to do with a run is Spark's."""
    if run.state == RunState.CANCELLING:
        return False
    if run.stage in {Stage.MANIFEST, Stage.RECONCILE, Stage.PROVE}:
        return True
    if run.stage != Stage.COPY:
        return False
    rows = list(run.copy_jobs.all())
    batch_to_begin = any(row.engine == Plan.Engine.S3_BATCH and row.status == "Suspended" for row in rows)
    return not batch_to_begin and any(row.engine == Plan.Engine.SPARK and not row.is_over for row in rows)


def submit_advance(run: Run) -> Job:
    """Queue the next job of a run; the one under way is returned instead of a second.

    The audit log has the run itself, its start, approvals and end; its many jobs are the schedule's.
    """
    kind, title, details = _next_job(run)
    return submit(Actor.schedule(), kind, title, **details)


def advance_here(run: Run, say: Callable[[str], None] = lambda sentence: None, *, own_spark: bool = False) -> Run:
    """Advance a run in this process until it is finished or waits for approval; returns it as it is then.

    Waits for what the run waits for, and for what another process does with it; tries again after a trouble, as the
    tick would but sooner. `say` is told each new sentence of the run. A running Levee does in its warm Spark what needs
    one, where a worker answers, unless with `own_spark`.
    """
    said = ""
    while True:
        job = _work_on(run, say, own_spark=own_spark)
        run.refresh_from_db()
        if run.is_finished or run.state == RunState.WAITING_FOR_APPROVAL:
            return run
        if job.state == JobState.CANCELLED and run.state != RunState.CANCELLING:
            return run
        if run.sentence != said:
            said = run.sentence
            say(said)
        if run.look_again_at is not None:
            time.sleep(min(POLL_SECONDS * 2**run.failed_attempts, LONGEST_WAIT_SECONDS))
        elif run.worker_id is not None:
            # A job of the other kind holds the run, in another process.
            time.sleep(POLL_SECONDS)


def _work_on(run: Run, say: Callable[[str], None], *, own_spark: bool) -> Job:
    """Do the run's next work here; what needs Spark by a running Levee that has a warm one, where a worker answers."""
    kind, title, details = _next_job(run)
    if kind == DATA_KIND and not own_spark and worker_answers("spark"):
        return follow(submit(Actor.schedule(), kind, title, **details), say)
    return run_in_foreground(Actor.schedule(), kind, title, **details, wait_seconds=LONGEST_JOB_SECONDS)


def _next_job(run: Run) -> tuple[str, str, Submission]:
    """The kind and title of the run's next job, and what it is about."""
    kind = CANCEL_KIND if run.state == RunState.CANCELLING else DATA_KIND if needs_spark(run) else "backup-run"
    details: Submission = {
        "connection": run.plan.vault_connection,
        "target": Target("run", str(run.pk), run.plan.name),
        "params": AdvanceParams(run=str(run.pk)),
    }
    return kind, f"Back up {run.plan.name}", details
