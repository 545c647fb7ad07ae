"""The real command with its real processes, without the sandbox."""

import http.client
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest
from django.conf import settings

from dashboard.processes import redis
from dashboard.processes.lock import free_port
from dashboard.web.health import redis_answers
from tests.processes.builders import in_background, processes_of, short_folder, wait_for
from tests.waiting import scaled

pytestmark = pytest.mark.process

NAMES = ("redis", "web", "worker-default", "worker-aws", "worker-spark", "beat")


def started(home, port, *options):
    environment = {**os.environ, "LEVEE_HOME": str(home), "PORT": str(port), "LEVEE_SANDBOX": "0"}
    for name in ("REDIS_URL", "DATABASE_URL"):
        environment.pop(name, None)
    words = [sys.executable, str(settings.BASE_DIR / "manage.py"), "run", *options]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        words, cwd="/", env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )


@contextmanager
def running(home, port):
    """The process of a Levee that answers."""
    process, lines = started(home, port), []
    in_background(lambda: lines.extend(iter(process.stdout.readline, "")))
    try:
        wait_for(lambda: process.poll() is not None or any("Levee is at" in line for line in lines))
        assert process.poll() is None, process.stderr.read()
        assert "Levee is at" in lines[-1]
        assert {line.split("|")[0].strip() for line in lines} == {"levee"}
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=scaled(30))


def status(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=scaled(10))
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


def test_the_processes_of_a_killed_run_end_with_it_and_the_next_starts_on_the_same_port():
    with short_folder() as home:
        port = free_port()
        with running(home, port) as process:
            wait_for(lambda: len(processes_of(home)) > len(NAMES))
            process.kill()
            process.wait(timeout=scaled(10))
        wait_for(lambda: not processes_of(home))
        wait_for(lambda: not redis_answers(redis.broker_url(home)))
        with running(home, port) as process:
            assert "Listening at" in (home / "logs" / "web.log").read_text()
            assert status(port, "/readyz") == 200
            process.terminate()
            assert process.wait(timeout=scaled(30)) == 0
        assert processes_of(home) == set()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "value"), [("LEVEE_DIGEST_HOUR", "99"), ("SPARK_MASTER", "mars"), ("PORT", "http")])
def test_a_setting_that_cannot_be_read_ends_the_start_with_one_sentence_that_names_it(name, value):
    with short_folder() as home:
        environment = {**os.environ, "LEVEE_HOME": str(home), name: value}
        words = [sys.executable, str(settings.BASE_DIR / "manage.py"), "run"]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=scaled(30), check=False)
        assert done.returncode == 1
        assert done.stderr.startswith(name)
        assert done.stderr.count("\n") == 1
