"""One warm Spark on the shared sandbox for every test that needs it: a cold start takes eight seconds.

A test module asks for the `spark_lake` fixture and marks itself
`pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]`, so that parallel runs keep it in one worker.
Backups and conformance are groups of their own, `spark-backups` and `spark-conformance`: one group after another would
be the longest way through the suite.
"""

import functools
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.endings import ENDINGS
from tests.jars_home import JARS_HOME
from tests.sandboxlake import sandbox_lake

if TYPE_CHECKING:
    from sandbox.spark_tables import SparkLake


@pytest.fixture(scope="session")
def spark_lake() -> "SparkLake":
    """Return Spark and a client of the shared sandbox; tests share both and use tables of their own."""
    return _started()


@functools.cache
def _started() -> "SparkLake":
    from lake.spark.jars import class_path, fetch
    from lake.spark.session import SHORT_LIVED_JVM, LakeEndpoint, session_settings, start_session
    from sandbox.client import REGION
    from sandbox.spark_tables import SparkLake

    fetch(JARS_HOME)
    client = sandbox_lake()
    stack = ExitStack()
    ENDINGS.callback(stack.close)
    scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="levee-spark-")))
    endpoint = LakeEndpoint(REGION, client.origin, environment_credentials=True)
    settings = session_settings(endpoint, jars=class_path(JARS_HOME), scratch=scratch, java_options=SHORT_LIVED_JVM)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "sandbox")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "sandbox")
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        spark = start_session(settings, "levee-tests")
    stack.callback(spark.stop)
    return SparkLake(spark, client)
