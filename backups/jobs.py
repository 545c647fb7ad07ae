"""The kinds of jobs that advance a run: `backup-run` and `backup-cancel` on aws, `backup-data` where Spark is warm."""

from contextlib import ExitStack

from django.urls import reverse
from django.utils import timezone

from backups import lifecycle
from backups.advancing import CANCEL_KIND, DATA_KIND, AdvanceParams
from backups.models import Run, RunState
from backups.runs.batch_engine import S3BatchEngine
from backups.runs.driver import advance, note_failed_start
from backups.runs.ports import Pipeline
from backups.runs.spark_pipeline import SparkPipeline
from backups.runs.work import Work
from dashboard.connections.access import lake_access
from dashboard.connections.owners import keep_owner
from dashboard.jobs.context import JobContext, JobFailed
from dashboard.jobs.registry import job_kind
from lake.aws.access import Lake, open_lake
from lake.aws.batch_operations import BatchOperations
from lake.backup.objects import place_of
from lake.points.proving import REQUESTS_AT_ONCE


@job_kind("backup-run", queue="aws", verb="backup.run")
def advance_run(context: JobContext, params: AdvanceParams) -> str:
    """Advance a run in all that needs no Spark."""
    return _advance(context, params, has_spark=False)


@job_kind(DATA_KIND, queue="spark", verb="backup.run")
def advance_data(context: JobContext, params: AdvanceParams) -> str:
    """Advance a run with Spark at hand."""
    return _advance(context, params, has_spark=True)


@job_kind(CANCEL_KIND, queue="aws", verb="backup.run", changes_lake=False)
def advance_cancelling(context: JobContext, params: AdvanceParams) -> str:
    """Stop the copies of a run that is to end, also where nothing may be changed: it stops changes."""
    if not Run.objects.filter(pk=params["run"], state=RunState.CANCELLING).exists():
        return "The run is not to be cancelled, or has ended."
    return _advance(context, params, has_spark=False)


def _advance(context: JobContext, params: AdvanceParams, *, has_spark: bool) -> str:
    run = (
        Run.objects.select_related("plan__connection", "plan__vault_connection", "retry_of")
        .filter(pk=params["run"])
        .first()
    )
    if run is None:
        raise JobFailed("NoSuchRun", "The run has been removed: nothing to do.")
    if not lifecycle.acquire(run.pk, context.job):
        return "The run is finished, or another job moves it."
    with ExitStack() as stack:
        try:
            vault = stack.enter_context(open_lake(lake_access(run.plan.vault_connection), parallel=REQUESTS_AT_ONCE))
        except Exception as error:
            note_failed_start(run, context, error)
            raise
        if run.started_at is None:
            keep_owner(run.plan.vault_connection, vault, place_of(run.plan.destination).bucket)
        pipeline, batch = parts(run, context, vault)

        def open_source() -> Lake:
            return stack.enter_context(open_lake(lake_access(run.plan.connection), parallel=REQUESTS_AT_ONCE))

        answer = advance(Work(run, context, vault, pipeline, batch, has_spark, timezone.now, open_source))
    run.refresh_from_db()
    if run.state == RunState.FAILED:
        raise JobFailed(run.error_code or "RunFailed", run.sentence)
    if not run.is_finished:
        context.result({"begun": reverse("backup-run", args=[run.pk])})
    return answer.sentence


def parts(run: Run, context: JobContext, vault: Lake) -> tuple[Pipeline, S3BatchEngine]:
    """Who works on the data of a run, and who copies for it."""
    return SparkPipeline(run.plan.vault_connection, vault, context), S3BatchEngine(BatchOperations(vault))
