"""One warm Spark on the shared sandbox for every test that needs it: a cold start takes eight seconds.

A test module asks for the `spark_lake` fixture and marks itself `pytestmark = pytest.mark.spark`; all tests so marked
run in one worker.
"""

import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.jars_home import JARS_HOME
from tests.jvms import JVMS
from tests.sandboxlake import sandbox_lake
from tests.waiting import scaled

if TYPE_CHECKING:
    from sandbox.spark_tables import SparkLake


@pytest.fixture
def spark_lake() -> "SparkLake":
    """Return Spark and a client of the shared sandbox; tests share both and use tables of their own."""
    return shared_spark_lake()


def shared_spark_lake() -> "SparkLake":
    """The same, for fixtures of a wider scope; a test that uses it later asks anew, since another may have ended it."""
    lake: SparkLake = JVMS.shared("session", _start)
    return lake


def _start() -> tuple["SparkLake", Callable[[], None]]:
    from lake.spark.jars import class_path, fetch
    from lake.spark.session import SHORT_LIVED_JVM, LakeEndpoint, session_settings, start_session
    from sandbox.client import REGION
    from sandbox.spark_tables import SparkLake

    fetch(JARS_HOME)
    client = sandbox_lake()
    stack = ExitStack()
    scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="levee-spark-", ignore_cleanup_errors=True)))
    endpoint = LakeEndpoint(REGION, client.origin, environment_credentials=True)
    settings = session_settings(endpoint, jars=class_path(JARS_HOME), scratch=scratch, java_options=SHORT_LIVED_JVM)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "sandbox")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "sandbox")
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_PYTHON", sys.executable)  # what a job of Python runs in
        spark = start_session(settings, "levee-tests")
    stack.callback(_end_jvm)
    stack.callback(spark.stop)
    return SparkLake(spark, client), stack.close


def _end_jvm() -> None:
    """End the JVM of this process's session, which outlives the session, and let pyspark forget it."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(timeout=scaled(15))
    SparkContext._gateway = SparkContext._jvm = None
