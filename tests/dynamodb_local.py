"""Amazon's own DynamoDB Local, in memory, started once for all tests of a process that want it.

A test asks for the `dynamodb_local` fixture; all that do run in one worker (tests/grouping.py). It listens on a random
port; tests share it and make tables of their own.
"""

import functools
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import ExitStack

import pytest

from lake.spark.jars import class_path, fetch, java_command
from tests.endings import ENDINGS
from tests.jars_home import JARS_HOME
from tests.waiting import scaled

MAIN_CLASS = "software.amazon.dynamodb.services.local.main.ServerRunner"
START_SECONDS = scaled(30)
ATTEMPTS = 3


@pytest.fixture(scope="session")
def dynamodb_local() -> str:
    """The origin of a running DynamoDB Local; any region and credentials do."""
    return _started()


@functools.cache
def _started() -> str:
    fetch(JARS_HOME, ("dynamodb-local",))
    for _ in range(ATTEMPTS):
        port = _free_port()
        process = _start(port)
        stack = ExitStack()
        stack.callback(_end, process)
        if _answers(process, port):
            ENDINGS.callback(stack.close)
            return f"http://127.0.0.1:{port}"
        stack.close()
    raise RuntimeError(f"DynamoDB Local did not start in {ATTEMPTS} attempts of up to {START_SECONDS} s.")


def _start(port: int) -> subprocess.Popen[bytes]:
    command = [
        java_command(),
        *("-Xmx256m", f"-Djava.library.path={JARS_HOME / 'jars' / 'dynamodb-local'}"),
        *("-cp", class_path(JARS_HOME, "dynamodb-local"), MAIN_CLASS),
        *("-inMemory", "-sharedDb", "-disableTelemetry", "-port", str(port)),
    ]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _answers(process: subprocess.Popen[bytes], port: int) -> bool:
    """Whether it takes requests; False where it has ended, as it does when another program took the port first."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=scaled(2)):
                return True
        except urllib.error.HTTPError:
            return True  # an unsigned request is refused, by a server that is up
        except OSError:
            time.sleep(0.1)
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=scaled(10))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(timeout=scaled(10))


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
