"""Advances a run as far as it goes without waiting: the stages in order, failed attempts, and the end."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial

from django.db import transaction
from django.utils import timezone

from backups import lifecycle
from backups.models import Plan, Run, RunState, Stage, StageState
from backups.outcomes import COPY_REFUSED, cure_of
from backups.runs.stages import copying, cost_gate, inventory, manifest, prove, reconcile
from backups.runs.work import Done, Elsewhere, GivenUp, RunFailed, StageAnswer, Waiting, Work
from dashboard.jobs.context import JobCancelled, JobContext, JobFailed
from dashboard.jobs.execution import first_sentence
from lake.aws.errors import AwsError

MOST_FAILED_ATTEMPTS = 5
RECKONED = "Reckoned before anything is copied."
STAGES: dict[Stage, Callable[[Work], StageAnswer]] = {
    Stage.INVENTORY: inventory.advance,
    Stage.MANIFEST: manifest.advance,
    Stage.COST_GATE: cost_gate.advance,
    Stage.COPY: copying.advance,
    Stage.RECONCILE: reconcile.advance,
    Stage.PROVE: prove.advance,
}


def advance(work: Work) -> StageAnswer:
    """Go on until the run waits, belongs to the other queue, or is finished (Done). Releases the run in the end.

    Raises what a stage raised, after the run has kept it: it is tried again later, the sixth failure in a row ends it.
    """
    look_again: float = 0
    try:
        answer = _go(work)
        look_again = answer.seconds if isinstance(answer, Waiting) else 0
        return answer
    except GivenUp:
        return Elsewhere()
    except JobCancelled:
        raise
    except RunFailed as failure:
        _fail(work, failure.code, str(failure))
        return Done(str(failure))
    except Exception as error:
        look_again = _note_failed_attempt(work.run, work.context, error, partial(_fail, work))
        raise
    finally:
        later = work.now() + timedelta(seconds=look_again) if look_again else None
        lifecycle.release(work.run.pk, work.context.job, later)


def _go(work: Work) -> StageAnswer:
    while True:
        run = work.run
        run.refresh_from_db()
        if run.is_finished:
            return Done(run.sentence)
        if run.worker_id != work.context.job.pk:
            raise GivenUp
        if run.state == RunState.CANCELLING:
            return _cancel(work)
        if run.state == RunState.WAITING_FOR_APPROVAL:
            return Waiting(0, run.sentence)
        answer = _stage(work, Stage(run.stage))
        if not isinstance(answer, Done):
            return answer


def _stage(work: Work, stage: Stage) -> StageAnswer:
    lifecycle.open_stage(work.run.pk, work.context.job, stage)
    with work.context.step(stage.label) as step:
        if work.has_spark and work.run.plan.engine == Plan.Engine.SPARK:
            # Where S3 copies, nobody knows which stage the job leaves to a later one.
            step.then = tuple(one.label for one in lifecycle.STAGES[lifecycle.STAGES.index(stage) + 1 :])
        try:
            answer = STAGES[stage](work)
        except RunFailed as failure:
            if failure.code != COPY_REFUSED:
                raise
            # Copy jobs are created while the cost is reckoned: it is the copy that S3 refuses.
            step.state, step.detail = "done", RECKONED
            with work.context.step(Stage.COPY.label):
                raise
        if not isinstance(answer, Elsewhere):
            step.detail = answer.sentence
        if isinstance(answer, Waiting):
            step.state = "waiting"
    if isinstance(answer, Waiting) and work.run.state != RunState.WAITING_FOR_APPROVAL:
        work.save(sentence=answer.sentence, failed_attempts=0, error_code="")
        work.show(stage, state=StageState.WAITING, detail=answer.sentence)
    if isinstance(answer, Done) and not work.run.is_finished:
        _close(work, stage, answer.sentence)
    return answer


def _close(work: Work, stage: Stage, detail: str) -> None:
    if not lifecycle.next_stage(work.run.pk, work.context.job, stage, detail):
        # Somebody asked to cancel meanwhile: the next look at the state finds it.
        work.run.refresh_from_db()
        if work.run.state != RunState.CANCELLING:
            raise GivenUp


def _cancel(work: Work) -> StageAnswer:
    answer = copying.cancel(work)
    if isinstance(answer, Done):
        with transaction.atomic():
            if not lifecycle.move(work.run.pk, RunState.CANCELLED, job=work.context.job, sentence=answer.sentence):
                raise GivenUp
            _skip_the_rest(work.run)
    elif isinstance(answer, Waiting):
        work.save(sentence=answer.sentence)
    return answer


def _fail(work: Work, code: str, sentence: str) -> None:
    """End the run; its copy jobs too, unless what ends it keeps them from being ended as well."""
    with suppress(AwsError, JobFailed, RunFailed, GivenUp):
        copying.cancel(work)
    _end_failed(work.run, work.context, code, sentence)


def _end_failed(run: Run, context: JobContext, code: str, sentence: str) -> None:
    with transaction.atomic():
        at = Stage(Run.objects.values_list("stage", flat=True).get(pk=run.pk))
        stage = Stage.COPY if code == COPY_REFUSED else at
        told = {"stage": stage, "sentence": sentence, "error_code": code[:128]}
        if lifecycle.move(run.pk, RunState.FAILED, job=context.job, **told):
            if stage != at:
                lifecycle.close_stage(run.pk, at, StageState.DONE, RECKONED)
            lifecycle.close_stage(run.pk, stage, StageState.FAILED, sentence)
            _skip_the_rest(run)


def _skip_the_rest(run: Run) -> None:
    waiting = (StageState.NEXT, StageState.WAITING, StageState.RUNNING)
    run.stages.filter(state__in=waiting).update(state=StageState.SKIPPED)


def note_failed_start(run: Run, context: JobContext, error: Exception) -> None:
    """Keep why a run could not be taken up at all, and release it; it is a failed attempt like any other."""
    seconds = _note_failed_attempt(run, context, error, partial(_end_failed, run, context))
    lifecycle.release(run.pk, context.job, timezone.now() + timedelta(seconds=seconds) if seconds else None)


def _note_failed_attempt(run: Run, context: JobContext, error: Exception, fail: Callable[[str, str], None]) -> float:
    """Keep the reason, and say in how many seconds to try again; the sixth in a row ends the run by `fail`."""
    code = error.code if isinstance(error, AwsError | JobFailed) else type(error).__name__
    said = first_sentence(error)
    sentence = f"{said} {cure_of(code)}".strip()
    failed_attempts = run.failed_attempts + 1
    if failed_attempts > MOST_FAILED_ATTEMPTS:
        fail(code, f"{sentence} It went wrong {failed_attempts} times in a row.")
        return 0
    minutes = 1 << (failed_attempts - 1)
    again = f"{sentence} Tried again in {minutes} minute{'s' if minutes > 1 else ''}."
    if lifecycle.save(run.pk, context.job, failed_attempts=failed_attempts, sentence=again, error_code=code[:128]):
        lifecycle.show_stage(run.pk, context.job, Stage(run.stage), state=StageState.WAITING, detail=again)
    return 60.0 * minutes
