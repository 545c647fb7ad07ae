"""The real command with its real processes, without the sandbox."""

import http.client
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest
from django.conf import settings

from dashboard.processes import redis
from dashboard.processes.lock import free_port, is_free
from dashboard.processes.strays import MARK, strays
from tests.processes.builders import in_background, short_folder, wait_for
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
    """A Levee that answers; gives its process and the lines it has printed so far."""
    process, lines = started(home, port), []
    in_background(lambda: lines.extend(iter(process.stdout.readline, "")))
    try:
        wait_for(lambda: process.poll() is not None or any("Levee is at" in line for line in lines))
        assert process.poll() is None, process.stderr.read()
        yield process, lines
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


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_everything_comes_up_and_nothing_is_left_behind(number):
    with short_folder() as home:
        port = free_port()
        with running(home, port) as (process, lines):
            assert status(port, "/readyz") == 200
            assert f"levee          | Levee is at http://127.0.0.1:{port}/\n" in lines
            wait_for(lambda: len(strays(home)) >= len(NAMES) - 1)  # redis-server hides its environment
            process.send_signal(number)
            assert process.wait(timeout=scaled(30)) == 0
        assert strays(home) == set()
        assert not redis.answers(home)


@pytest.mark.slow
def test_a_second_run_in_the_same_home_is_refused():
    with short_folder() as home, running(home, free_port()):
        second = started(home, free_port())
        _, sentence = second.communicate(timeout=scaled(30))
        assert second.returncode == 1
        assert sentence.startswith(f"Levee already runs in {home}")


def test_the_processes_of_a_killed_run_end_with_it_and_the_next_starts_on_the_same_port():
    with short_folder() as home:
        port = free_port()
        with running(home, port) as (process, _):
            process.kill()
            process.wait(timeout=scaled(10))
        wait_for(lambda: not strays(home))
        wait_for(lambda: not redis.answers(home))
        with running(home, port) as (process, _):
            assert status(port, "/readyz") == 200
            process.terminate()
            assert process.wait(timeout=scaled(30)) == 0
        assert strays(home) == set()


@pytest.mark.slow
def test_what_an_earlier_run_left_on_the_port_is_ended_first():
    with short_folder() as home:
        port = free_port()
        environment = {**os.environ, MARK: str(home.resolve())}
        words = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]
        left = subprocess.Popen(words, cwd=home, env=environment, stderr=subprocess.DEVNULL)
        wait_for(lambda: not is_free(port))
        with running(home, port) as (_, lines):
            assert left.wait(timeout=scaled(10)) == -signal.SIGTERM
            assert any("that an earlier run left behind" in line for line in lines)


@pytest.mark.slow
def test_a_taken_port_ends_the_start_with_one_sentence():
    with short_folder() as home, socket.create_server(("127.0.0.1", 0)) as taken:
        process = started(home, taken.getsockname()[1])
        printed, sentence = process.communicate(timeout=scaled(30))
        assert process.returncode == 1
        assert printed == ""
        assert sentence.count("\n") == 1
        assert "is taken" in sentence


UNFIT = {
    "LEVEE_DEBUG": "maybe",
    "LEVEE_SANDBOX": "perhaps",
    "PORT": "http",
    "LEVEE_OBSERVE_EVERY_SECONDS": "0",
    "LEVEE_DIGEST_HOUR": "99",
    "LEVEE_SMTP_URL": "banana",
    "LEVEE_BACKUP_PRICES": "copy_thousand",
    "SPARK_MASTER": "mars",
    "LEVEE_HOME": "/dev/null",
    "DATABASE_URL": "oracle://db/levee",
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "value"), UNFIT.items())
def test_a_setting_that_cannot_be_read_ends_the_start_with_one_sentence_that_names_it(name, value):
    with short_folder() as home:
        environment = {**os.environ, "LEVEE_HOME": str(home), name: value}
        words = [sys.executable, str(settings.BASE_DIR / "manage.py"), "run"]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=scaled(30), check=False)
        assert done.returncode == 1
        assert done.stderr.startswith(name)
        assert done.stderr.count("\n") == 1
