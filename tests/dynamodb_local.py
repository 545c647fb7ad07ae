"""Amazon's own DynamoDB Local, in memory, started once for all tests of a process that want it.

A test asks for the `dynamodb_local` fixture; all that do run in one worker (tests/grouping.py). It listens on a random
port; tests share it and make tables of their own.
"""

import functools
import subprocess

import pytest
import urllib3

from dashboard.processes.lock import free_port
from lake.spark.jars import class_path, fetch, java_command
from tests.endings import ENDINGS
from tests.jars_home import JARS_HOME
from tests.waiting import scaled, wait_until

MAIN_CLASS = "software.amazon.dynamodb.services.local.main.ServerRunner"


@pytest.fixture(scope="session")
def dynamodb_local() -> str:
    """The origin of a running DynamoDB Local; any region and credentials do."""
    return _started()


@functools.cache
def _started() -> str:
    fetch(JARS_HOME, ("dynamodb-local",))
    port = free_port()
    command = [
        java_command(),
        *("-Xmx256m", f"-Djava.library.path={JARS_HOME / 'jars' / 'dynamodb-local'}"),
        *("-cp", class_path(JARS_HOME, "dynamodb-local"), MAIN_CLASS),
        *("-inMemory", "-sharedDb", "-disableTelemetry", "-port", str(port)),
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ENDINGS.callback(process.wait, timeout=scaled(10))
    ENDINGS.callback(process.kill)
    origin = f"http://127.0.0.1:{port}"
    assert wait_until(lambda: process.poll() is None and _answers(origin), 30), "DynamoDB Local does not answer."
    return origin


def _answers(origin: str) -> bool:
    """An unsigned request is refused, by a server that is up."""
    try:
        return urllib3.request("GET", origin, retries=False, timeout=scaled(2)).status >= 400
    except urllib3.exceptions.HTTPError:
        return False
