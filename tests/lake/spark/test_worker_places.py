"""The same jobs where Spark is not the worker's own, but on executors of their own."""

import itertools

import pytest

from lake.spark.client import SparkWorker
from lake.spark.jobs import append_probe, drop_coordinated_commits, enable_coordinated_commits
from lake.spark.messages import SparkOutcome
from lake.spark.sql import delta_path
from sandbox.ground import DELTA_COMMITS, PROD
from sandbox.spark_tables import SparkLake
from tests.jvms import JVMS
from tests.sandboxlake import sandbox_lake
from tests.sparksession import shared_spark_lake
from tests.sparkworker import worker_home, worker_settings

pytestmark = pytest.mark.spark

FEATURE = "delta.feature.coordinatedCommits-preview"
numbers = itertools.count()


@pytest.fixture
def uri(spark_lake: SparkLake) -> str:
    """A table with two commits."""
    made = f"s3a://{PROD}/tests/places/t{next(numbers)}"
    spark_lake.create(made, "id BIGINT")
    spark_lake.insert(made, "id")
    return made


def done(outcome: SparkOutcome) -> SparkOutcome:
    assert outcome.state == "done", outcome
    return outcome


def test_executors_of_their_own_enable_append_and_drop(uri, monkeypatch) -> None:
    """A cluster within the driver, whose executor is a JVM of its own and gets its classes as on any cluster."""
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    there = worker_settings(master="local-cluster[1,2,1024]")
    with JVMS.room(2), SparkWorker(there, worker_home()) as worker:
        enabled = done(worker.run(enable_coordinated_commits.job(uri, DELTA_COMMITS, sandbox_lake().origin)))
        appended = [done(worker.run(append_probe.job(uri))).result["version"] for _ in range(2)]
        dropped = done(worker.run(drop_coordinated_commits.job(uri))).result
    assert (enabled.result["properties"][FEATURE], appended) == ("supported", [3, 4])
    assert [commit["version"] for commit in dropped["commits"]] == [5, 6]
    lake = shared_spark_lake()
    lake.insert(uri, "id")
    assert lake.spark.table(delta_path(uri)).count() == 40
