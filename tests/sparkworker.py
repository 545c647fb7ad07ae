"""A Spark worker on the shared sandbox, and what tests ask of its processes."""

import functools
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lake.spark.client import SparkWorker
from lake.spark.session import SHORT_LIVED_JVM, LakeEndpoint
from lake.spark.settings import Credentials, WorkerSettings
from sandbox.client import REGION
from tests.endings import ENDINGS
from tests.jars_home import link_jars, make_archive
from tests.jvms import JVMS
from tests.living import living
from tests.sandboxlake import sandbox_lake


@functools.cache
def worker_home() -> Path:
    """Return a home of the tests' own that has the jars of set-up."""
    stack = ExitStack()
    ENDINGS.callback(stack.close)
    home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="levee-worker-")))
    make_archive()
    link_jars(home)
    return home


def worker_settings(origin: str = "", **changes: Any) -> WorkerSettings:
    """Settings for the shared sandbox, or for another origin, on two cores and with the quick compiler."""
    endpoint = LakeEndpoint(REGION, origin or sandbox_lake().origin, environment_credentials=True)
    credentials = Credentials("sandbox", "sandbox")
    settings = WorkerSettings(endpoint, "local[2]", credentials, java_options=SHORT_LIVED_JVM)
    return replace(settings, **changes)


@pytest.fixture
def warm_worker() -> SparkWorker:
    """Return a worker for every test that does not end it."""
    return shared_worker("warm worker")


def shared_worker(name: str, **changes: Any) -> SparkWorker:
    """A worker that stays from test to test, until another JVM needs its room."""

    def start() -> tuple[SparkWorker, Callable[[], None]]:
        worker = SparkWorker(worker_settings(**changes), worker_home())
        return worker, worker.close

    worker: SparkWorker = JVMS.shared(name, start)
    return worker


def java_of(worker: SparkWorker) -> int:
    """The process id of its JVM; it has one."""
    return next(one.number for one in living(pid_of(worker)) if one.name == "java")


def pid_of(worker: SparkWorker) -> int:
    """Its child's process id; it has one."""
    assert worker.pid is not None
    return worker.pid


__all__ = ["java_of", "living", "pid_of", "shared_worker", "warm_worker", "worker_home", "worker_settings"]
