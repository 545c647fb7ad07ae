"""The same jobs where Spark is not the worker's own: on executors of their own and on a standalone cluster."""

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from dashboard.processes.lock import free_port
from lake.spark.client import SparkWorker
from lake.spark.jobs import append_probe, drop_coordinated_commits, enable_coordinated_commits
from lake.spark.messages import SparkOutcome
from lake.spark.session import SHORT_LIVED_JVM
from lake.spark.sql import delta_path
from sandbox.ground import DELTA_COMMITS, PROD
from sandbox.spark_tables import SparkLake
from tests.jvms import JVMS
from tests.sandboxlake import sandbox_lake
from tests.sparksession import shared_spark_lake
from tests.sparkworker import worker_home, worker_settings
from tests.waiting import wait_until

pytestmark = pytest.mark.spark

LOOPBACK = "127.0.0.1"
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


def enable_append_and_drop(uri: str, master: str) -> None:
    with SparkWorker(worker_settings(master=master), worker_home()) as worker:
        enabled = done(worker.run(enable_coordinated_commits.job(uri, DELTA_COMMITS, sandbox_lake().origin)))
        appended = [done(worker.run(append_probe.job(uri))).result["version"] for _ in range(2)]
        dropped = done(worker.run(drop_coordinated_commits.job(uri))).result
    assert (enabled.result["properties"][FEATURE], appended) == ("supported", [3, 4])
    assert [commit["version"] for commit in dropped["commits"]] == [5, 6]


def require_readable(uri: str) -> None:
    lake = shared_spark_lake()
    lake.insert(uri, "id")
    assert lake.spark.table(delta_path(uri)).count() == 40


def test_executors_of_their_own_enable_append_and_drop(uri, monkeypatch) -> None:
    """A cluster within the driver, whose executor is a JVM of its own and gets its classes as on any cluster."""
    monkeypatch.setenv("SPARK_LOCAL_IP", LOOPBACK)
    with JVMS.room(2):
        enable_append_and_drop(uri, "local-cluster[1,2,1024]")
    require_readable(uri)


@pytest.mark.slow
def test_a_standalone_cluster_enables_appends_and_drops(uri, tmp_path, monkeypatch) -> None:
    """Master, worker, driver and executor: more JVMs than the suite has room for."""
    monkeypatch.setenv("SPARK_LOCAL_IP", LOOPBACK)
    with standalone_cluster(tmp_path) as master:
        enable_append_and_drop(uri, master)
    require_readable(uri)


@contextmanager
def standalone_cluster(folder: Path) -> Iterator[str]:
    """A master and one worker of two cores, from the pyspark wheel; the block has the master's address."""
    address = f"spark://{LOOPBACK}:{free_port()}"
    options = ("--host", LOOPBACK, "--webui-port", "0")
    with ExitStack() as running:
        master = (*options, "--port", address.rpartition(":")[2])
        running.enter_context(spark_server(folder, "master.Master", master, "New state: ALIVE"))
        worker = (*options, "--cores", "2", "--memory", "1g", "--work-dir", str(folder / "work"), address)
        running.enter_context(spark_server(folder, "worker.Worker", worker, "Successfully registered with master"))
        yield address


@contextmanager
def spark_server(folder: Path, name: str, arguments: tuple[str, ...], ready: str) -> Iterator[None]:
    """A server of Spark's own from when its log says that it is ready; its executors are in its process group."""
    spec, log = find_spec("pyspark"), folder / f"{name}.log"
    assert spec is not None
    home = Path(str(spec.origin)).parent
    own = {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable, "SPARK_DAEMON_JAVA_OPTS": SHORT_LIVED_JVM}
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
    with log.open("w") as output:
        server = subprocess.Popen(
            command, stdout=output, stderr=output, cwd=folder, env=os.environ | own, start_new_session=True
        )
    try:
        assert wait_until(lambda: ready in log.read_text(errors="replace"), 60), log.read_text(errors="replace")[-2000:]
        yield
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
