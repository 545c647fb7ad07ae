"""The same jobs where Spark is not the worker's own: on a standalone cluster and behind Spark Connect servers."""

import itertools
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from lake.spark.client import SparkWorker
from lake.spark.deployment import Deployment
from lake.spark.jobs import append_probe, drop_coordinated_commits, enable_coordinated_commits
from lake.spark.messages import SparkOutcome
from lake.spark.session import LakeEndpoint, delta_settings, s3a_settings
from lake.spark.settings import LogStore, server_conf
from lake.spark.sql import delta_path
from sandbox.coordinated import registration
from sandbox.ground import DELTA_COMMITS, PROD
from sandbox.spark_tables import SparkLake
from tests.jvms import JVMS
from tests.lake.spark.servers import connect_server, standalone_cluster
from tests.sandboxlake import sandbox_lake
from tests.sparksession import shared_spark_lake, spark_lake
from tests.sparkworker import worker_home, worker_settings

__all__ = ["spark_lake"]
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


@pytest.fixture
def behind_connect(tmp_path_factory) -> SparkWorker:
    """A worker behind a server that has all it needs; the server is the JVM."""

    def start() -> tuple[SparkWorker, Callable[[], None]]:
        stack = ExitStack()
        remote = stack.enter_context(connect_server(tmp_path_factory.mktemp("connect"), server_conf(worker_settings())))
        return stack.enter_context(worker_behind(remote)), stack.close

    worker: SparkWorker = JVMS.shared("connect server", start)
    return worker


def worker_behind(remote: str, **changes: Any) -> SparkWorker:
    return SparkWorker(worker_settings(deployment=Deployment(remote=remote), **changes), worker_home())


def enable_append_and_drop(worker: SparkWorker, lake: SparkLake, uri: str) -> None:
    enabled = done(worker.run(enable_coordinated_commits.job(uri, DELTA_COMMITS, lake.client.dynamodb_origin)))
    item = registration(lake.client, uri)
    assert (enabled.result["table_id"], item["tableVersion"]["N"]) == (item["tableId"]["S"], "2")
    assert enabled.result["properties"][FEATURE] == "supported"
    assert done(worker.run(append_probe.job(uri))).result == {"version": 3, "operation": "WRITE"}
    lake.insert(uri, "id")
    dropped = done(worker.run(drop_coordinated_commits.job(uri))).result
    assert [commit["version"] for commit in dropped["commits"]] == [5, 6]
    assert dropped["left_behind"] == ["vacuumProtocolCheck", "inCommitTimestamp"]
    assert registration(lake.client, uri)["acceptingCommits"]["BOOL"] is False
    lake.insert(uri, "id")
    assert lake.spark.table(delta_path(uri)).count() == 60


def done(outcome: SparkOutcome) -> SparkOutcome:
    assert outcome.state == "done", outcome
    return outcome


def refusal(worker: SparkWorker, uri: str) -> str:
    """The sentence of a job that never began, and left the table alone."""
    outcome = worker.run(append_probe.job(uri))
    assert (outcome.state, outcome.began) == ("failed", False)
    assert outcome.error is not None
    return outcome.error.sentence


def test_executors_of_their_own_enable_append_and_drop(uri, monkeypatch) -> None:
    """A cluster within the driver, whose executor is a JVM of its own and gets its classes as on any cluster."""
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    there = worker_settings(deployment=Deployment("local-cluster[1,2,1024]"))
    with JVMS.room(2), SparkWorker(there, worker_home()) as worker:
        enabled = done(worker.run(enable_coordinated_commits.job(uri, DELTA_COMMITS, sandbox_lake().origin)))
        appended = [done(worker.run(append_probe.job(uri))).result["version"] for _ in range(2)]
        dropped = done(worker.run(drop_coordinated_commits.job(uri))).result
    assert (enabled.result["properties"][FEATURE], appended) == ("supported", [3, 4])
    assert [commit["version"] for commit in dropped["commits"]] == [5, 6]
    lake = shared_spark_lake()
    lake.insert(uri, "id")
    assert lake.spark.table(delta_path(uri)).count() == 40


@pytest.mark.slow
def test_a_standalone_cluster_enables_appends_and_drops(spark_lake, uri, tmp_path, monkeypatch) -> None:
    """Master, worker, driver and executor: more JVMs than the suite has room for."""
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    with standalone_cluster(tmp_path) as master:
        there = worker_settings(deployment=Deployment(master))
        with SparkWorker(there, worker_home()) as worker:
            enable_append_and_drop(worker, spark_lake, uri)


def test_a_connect_server_enables_appends_and_drops(spark_lake, uri, behind_connect) -> None:
    enable_append_and_drop(behind_connect, spark_lake, uri)


def test_a_connect_servers_own_error_keeps_its_condition(spark_lake, uri, behind_connect) -> None:
    outcome = behind_connect.run(drop_coordinated_commits.job(uri))
    assert outcome.error is not None
    assert outcome.error.condition == "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT"
    assert "\n" not in outcome.error.sentence


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (
            {"endpoint": LakeEndpoint("us-west-2", "http://127.0.0.1:9")},
            "spark.hadoop.fs.s3a.endpoint=http://127.0.0.1:9",
        ),
        ({"log_store": LogStore("delta_log", "us-west-2")}, "spark.delta.logStore.s3a.impl="),
    ],
)
def test_what_a_connect_server_lacks_is_named_with_its_value_and_where_to_set_it(
    uri, behind_connect, change, named
) -> None:
    with worker_behind(behind_connect.settings.deployment.remote, **change) as worker:
        told = refusal(worker, uri)
    assert f"must be started with {named}" in told
    assert told.endswith("set it in its spark-defaults.conf or with --conf, and start it anew.")


def test_a_connect_server_without_the_jars_is_told_apart(uri, tmp_path) -> None:
    """Its settings are right, and the classes they name are not there."""
    conf = delta_settings() | s3a_settings(worker_settings().endpoint)
    with (
        JVMS.room(),
        connect_server(tmp_path, conf, with_jars=False) as remote,
        worker_behind(remote) as worker,
    ):
        outcome = worker.run(append_probe.job(uri))
    assert outcome.state == "failed"
    assert outcome.error is not None
    assert "class path" in outcome.error.sentence
    assert "Spark Connect server" in outcome.error.sentence


def test_a_connect_server_that_is_not_there_is_named(uri) -> None:
    with worker_behind("sc://127.0.0.1:9") as worker:
        assert refusal(worker, uri).endswith(
            "No Spark Connect server answers at sc://127.0.0.1:9 (Connection refused): "
            "start it, or correct SPARK_REMOTE."
        )
