"""Fourth stage: S3 Batch Operations copies by itself while the run looks on, Spark in the run's own job."""

from django.db.models import Sum

from backups.models import CopyJob, Plan, Stage
from backups.outcomes import OVER
from backups.runs import prices
from backups.runs.stages.cost_gate import items_of
from backups.runs.work import Done, Elsewhere, StageAnswer, Waiting, Work

WAIT_SECONDS = 30.0


def advance(work: Work) -> StageAnswer:
    for row in work.run.copy_jobs.filter(engine=Plan.Engine.S3_BATCH):
        _follow(work, row)
    for row in work.run.copy_jobs.filter(engine=Plan.Engine.SPARK).exclude(status__in=OVER):
        if not work.has_spark:
            return Elsewhere()
        work.context.check_cancelled()
        work.save_status(row, work.pipeline.copy(row))
    return _summary(work)


def cancel(work: Work) -> StageAnswer:
    """Ask every copy job to end and wait until each has."""
    waiting = 0
    work.run.copy_jobs.filter(engine=Plan.Engine.SPARK).exclude(status__in=OVER).update(status="Cancelled")
    for row in work.run.copy_jobs.filter(engine=Plan.Engine.S3_BATCH):
        if not row.aws_job_id:
            # The job may stand at AWS although its id was never stored; the token finds it.
            work.save_status(row, work.batch.create(row))
        if not row.is_over:
            work.batch.cancel(row)
            work.save_status(row, work.batch.look(row))
        waiting += not row.is_over
    if waiting:
        return Waiting(WAIT_SECONDS, f"Waits for the end of {waiting} copy jobs.")
    return Done("Cancelled. What was copied until then stays where it is.")


def _follow(work: Work, row: CopyJob) -> None:
    """Confirm a suspended job, and see where it stands."""
    if row.is_over:
        return
    if row.status == "Suspended":
        work.batch.begin(row)
    work.context.check_cancelled()
    status = work.batch.look(row)
    if status.priority != row.priority and status.status not in OVER:
        work.batch.set_priority(row)
    work.save_status(row, status)


def _summary(work: Work) -> StageAnswer:
    rows = list(work.run.copy_jobs.all())
    done = sum(row.done + row.failed for row in rows)
    total = work.run.copy_jobs.aggregate(total=Sum("total"))["total"] or 0
    work.show(Stage.COPY, done=done, total=total)
    work.context.progress(done, total)
    if any(not row.is_over for row in rows):
        words = ", ".join(f"{row.number}: {row.status}" for row in rows if not row.is_over)
        return Waiting(WAIT_SECONDS, f"Copies {total:,} objects, {done:,} done (copy job {words}).")
    # What was tried is what AWS bills; its prices are those of the estimate.
    work.save(actual_usd=prices.total(items_of(work.run)))
    failed = sum(row.failed for row in rows)
    return Done(f"{done - failed:,} of {total:,} tasks succeeded, {failed:,} failed." if rows else "Nothing to copy.")
