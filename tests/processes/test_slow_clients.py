"""The real web server with more clients than it has threads, each of which keeps one waiting."""

import socket
import subprocess
import time
from collections.abc import Iterator

import pytest
from django.conf import settings

from dashboard.processes import programs
from dashboard.processes.lock import free_port
from tests.processes.builders import wait_for
from tests.waiting import scaled

pytestmark = pytest.mark.process

CLIENTS = 2 * programs.WEB_THREADS
LARGE = """
from dashboard.web import patient_worker

patient_worker.WAIT_SECONDS = 1
del patient_worker.PatientWorker.load_wsgi  # it makes a page of the console, which this application has not

def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return (b"x" * 65536 for _ in range(2000 if environ["PATH_INFO"] == "/export" else 1))
"""


@pytest.fixture
def port(tmp_path) -> Iterator[int]:
    """A server started as `levee run` starts its own, with an application of pages and of long exports."""
    (tmp_path / "plain.py").write_text(LARGE)
    port = free_port()
    # Of one worker, since nothing tells which of two takes a connection.
    instead = {"dashboard.wsgi": "plain", f"--workers={programs.WEB_WORKERS}": "--workers=1"}
    words = [instead.get(word, word) for word in programs.web(port).command]
    process = subprocess.Popen(
        [*words, f"--pythonpath={tmp_path},{settings.BASE_DIR}"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PYTHONPATH": str(settings.BASE_DIR), "PATH": ""},
    )
    try:
        wait_for(lambda: answers(port, timeout=5))
        yield port
    finally:
        process.terminate()
        process.wait(timeout=scaled(30))


def answers(port: int, timeout: float) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=timeout) as asked:
            asked.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            return asked.recv(12) == b"HTTP/1.1 200"
    except OSError:
        return False


@pytest.mark.parametrize(
    "said",
    [b"GET / HTTP/1.1\r\nHost: 127", b"GET /export HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"],
    ids=["half a request", "an export that nobody takes"],
)
def test_clients_that_keep_every_thread_waiting_are_let_go(port: int, said: bytes) -> None:
    clients = [socket.create_connection(("127.0.0.1", port), timeout=scaled(10)) for _ in range(CLIENTS)]
    try:
        for client in clients:
            client.sendall(said)
        time.sleep(1)

        assert answers(port, timeout=scaled(15))
    finally:
        for client in clients:
            client.close()
