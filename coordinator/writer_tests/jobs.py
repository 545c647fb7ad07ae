"""The kind of job that looks at a self-test of a writer, carried by the queue aws."""

from changes.gate import connection_of
from coordinator.models import WriterTest
from coordinator.writer_tests.actions import CHECK_KIND, CheckWriterTestParams
from coordinator.writer_tests.looking import look_at
from dashboard.connections.access import lake_access
from dashboard.jobs.context import JobContext, JobFailed, JobResult
from dashboard.jobs.registry import job_kind
from lake.aws.access import open_lake


class CheckWriterTestResult(JobResult):
    state: str
    evidence: dict[str, object]


@job_kind(CHECK_KIND, queue="aws", verb="lake.observe", changes_lake=False)
def check_writer_test(context: JobContext, params: CheckWriterTestParams) -> str:
    """Read the scratch table's log and the items of the stores, and say what they show."""
    connection = connection_of(context)
    test = WriterTest.objects.filter(connection=connection, token=params["token"]).first()
    if test is None:
        raise JobFailed("Gone", "Levee knows no writer test of this token any more.")
    with open_lake(lake_access(connection)) as lake, context.step("Read the scratch table's log and the items"):
        outcome = look_at(test, lake)
    context.result(
        CheckWriterTestResult(state=outcome.state.value, evidence=outcome.evidence, requests=lake.requests.total)
    )
    return outcome.sentence
