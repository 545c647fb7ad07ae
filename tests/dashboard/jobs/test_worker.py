"""Real workers, a real Redis and a database in a file: what no test inside one process can show."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import RedisError

from dashboard.processes.redis import command as redis_command
from dashboard.processes.redis import find_server, prepare, socket_path
from tests.waiting import scaled

pytestmark = pytest.mark.process

WAIT_SECONDS = scaled(60)


class Deployment:
    """A home of its own with Redis and database; the worker is started by the test."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}},
            "LEVEE_HOME": str(home),
        }
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        with (self.home / "log.txt").open("ab") as log:
            process = subprocess.Popen(words, env=self.environment, stdout=log, stderr=log, start_new_session=True)
        self.processes.append(process)
        return process

    def start_redis(self) -> None:
        server = find_server()
        assert server is not None
        prepare(self.home)
        self.start(*redis_command(server, self.home))
        self.until(self._redis_answers)

    def start_worker(self) -> subprocess.Popen[bytes]:
        words = ("-A", "tests.dashboard.jobs.worker_app", "worker", "-Q", "aws", "-c", "1")
        return self.start(sys.executable, "-m", "celery", *words, "--without-gossip", "--without-mingle", "-l", "INFO")

    def run(self, *words: str) -> Any:
        """Run a Python program in this home and return its JSON."""
        done = subprocess.run(
            [sys.executable, *words], env=self.environment, capture_output=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout) if done.stdout else None

    def outside(self, verb: str, argument: str) -> Any:
        return self.run("-m", "tests.dashboard.jobs.outside", verb, argument)

    def job(self, job_id: str) -> dict[str, Any]:
        return self.run("manage.py", "job", job_id, "--json")

    def until(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        while not holds():
            alive = all(process.poll() in {None, 0, -signal.SIGKILL} for process in self.processes)
            assert alive and time.monotonic() < deadline, (self.home / "log.txt").read_text()[-4000:]  # noqa: PT018
            time.sleep(0.1)

    def end(self) -> None:
        for process in reversed(self.processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=scaled(10))

    def _redis_answers(self) -> bool:
        try:
            with Redis(unix_socket_path=str(socket_path(self.home))) as client:
                return bool(client.ping())
        except RedisError:
            return False


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with tempfile.TemporaryDirectory(prefix="levee-") as folder:
        made = Deployment(Path(folder))
        try:
            made.run("manage.py", "migrate", "--verbosity=0")
            made.start_redis()
            yield made
        finally:
            made.end()


def test_eight_submits_at_once_are_one_job(deployment: Deployment) -> None:
    ids = deployment.outside("submit_at_once", "test-refused")
    assert (len(ids), len(set(ids))) == (8, 1)
    assert deployment.outside("cancel", ids[0])


def test_a_worker_runs_a_job_and_obeys_a_cancel(deployment: Deployment) -> None:
    worker = deployment.start_worker()
    counting, waiting = deployment.outside("submit", "test-count"), deployment.outside("submit", "test-wait")

    deployment.until(lambda: deployment.job(counting)["state"] == "succeeded")
    document = deployment.job(counting)
    assert (document["message"], document["result"]) == ("Counted to 3.", {"counted": 3})
    assert [event["text"] for event in document["events"]] == ["Counted."]

    deployment.until(lambda: deployment.job(waiting)["state"] == "running")
    assert deployment.outside("cancel", waiting)
    deployment.until(lambda: deployment.job(waiting)["state"] == "cancelled")

    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=WAIT_SECONDS) == 0
