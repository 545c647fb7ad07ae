"""Work of the coordinator app: the kinds of jobs and the tick that looks at the lake."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TypedDict

from celery import shared_task
from django.conf import settings

from coordinator.kept import compact, keep
from coordinator.observation.passes import PassResult, Progress, looked_at, observe_connection, observe_one_table
from coordinator.writer_tests.places import scratch_places
from dashboard.accounts.actor import Actor
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobContext, JobFailed, JobResult
from dashboard.jobs.registry import job_kind
from lake.aws.access import open_lake
from lake.delta.uri import TableUri


class ObserveParams(TypedDict, total=False):
    in_full: bool


class RecountParams(TypedDict):
    pass


class ObserveResult(JobResult):
    read_units: float
    problems: list[str]


class ObserveTableParams(TypedDict):
    uri: str


@job_kind("observe", queue="aws", verb="lake.observe", changes_lake=False)
def observe(context: JobContext, params: ObserveParams) -> str:
    """One look at a whole connection."""
    connection = _connection(context)
    access = lake_access(connection)
    with open_lake(access, parallel=settings.OBSERVE_THREADS) as lake, pass_steps(context) as steps:
        result = observe_connection(
            connection,
            lake,
            threads=settings.OBSERVE_THREADS,
            in_full=params.get("in_full", False),
            progress=steps,
        )
    compact()
    problems = list(result.problems)
    context.result(ObserveResult(requests=result.requests, read_units=result.read_units, problems=problems))
    for problem in result.problems:
        context.log(problem, level="WARN")
    return sentence(result)


@job_kind("observe-table", queue="aws", verb="lake.observe", changes_lake=False)
def observe_table(context: JobContext, params: ObserveTableParams) -> str:
    """One look at one table in full."""
    connection, uri = _connection(context), TableUri.parse(params["uri"])
    if (uri.bucket, uri.key) in scratch_places():
        raise JobFailed(
            "WriterTest", f"{uri.s3a} is the scratch table of a writer's self-test, and no table of anybody."
        )
    with open_lake(lake_access(connection)) as lake, context.step("Read the table"):
        reading = observe_one_table(connection, lake, uri)
    context.result({"requests": lake.requests.total})
    if reading.error is not None:
        raise reading.error.cause
    return reading.verdict.summary if reading.verdict else "Nothing is there: no log, and no entry in a commit store."


@job_kind("recount", verb="lake.observe", changes_lake=False)
def recount_tables(context: JobContext, params: RecountParams) -> str:
    """The counts of tables that the database keeps, against the tables."""
    if differing := keep():
        raise JobFailed(
            "CountsDiffer",
            f"{differing} counts of tables differed from the tables. They are right again; this is a defect of Levee.",
        )
    return "The counts of tables agree with the tables."


@shared_task  # type: ignore[untyped-decorator]
def observe_tick() -> None:
    """Submit a look at every connection that has something to look at; one under way already is not doubled."""
    from coordinator.actions import observe_lake

    for connection in looked_at():
        observe_lake(Actor.schedule(), connection)


@shared_task  # type: ignore[untyped-decorator]
def recount_tick() -> None:
    from coordinator.actions import recount

    recount(Actor.schedule())


@contextmanager
def pass_steps(context: JobContext) -> Iterator[Progress]:
    """Gives the progress of a pass that tells it as steps of its job, and stops the pass when the job is cancelled."""
    name = ""

    def tell(step: str, done: int, total: int | None) -> None:
        nonlocal name
        context.check_cancelled()
        if step != name:
            running.close()
            running.enter_context(context.step(step))
            name = step
        context.progress(done, total)

    with ExitStack() as running:
        yield tell


def sentence(result: PassResult) -> str:
    """Say in one sentence what a pass did."""
    failed = f", {result.tables_failed:,} could not be read" if result.tables_failed else ""
    return (
        f"Looked at {result.tables_seen:,} tables: {result.tables_changed:,} read anew{failed}; "
        f"{result.requests:,} requests to AWS."
    )


def _connection(context: JobContext) -> Connection:
    connection = context.job.connection
    if connection is None:
        raise LookupError("The connection of this job has been removed: nothing to look at.")
    return connection
