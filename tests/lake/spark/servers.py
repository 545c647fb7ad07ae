"""A standalone Spark cluster on loopback, from the pyspark wheel."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from lake.spark.session import SHORT_LIVED_JVM
from tests.waiting import scaled, wait_until

START_SECONDS = 60.0
LOOPBACK = "127.0.0.1"


@contextmanager
def standalone_cluster(folder: Path) -> Iterator[str]:
    """A master and one worker of two cores; the block has the address spark://127.0.0.1:port."""
    quiet = {"SPARK_DAEMON_JAVA_OPTS": f"{SHORT_LIVED_JVM} -Dspark.master.rest.enabled=false"}
    options = ("--host", LOOPBACK, "--webui-port", "0")
    address = f"spark://{LOOPBACK}:{_free_port()}"
    master = ("org.apache.spark.deploy.master.Master", *options, "--port", address.rpartition(":")[2])
    worker = ("org.apache.spark.deploy.worker.Worker", *options, "--cores", "2", "--memory", "1g")
    with _server("spark-class", master, folder / "master.log", quiet) as is_up:
        is_up("New state: ALIVE")
        command = (*worker, "--work-dir", str(folder / "work"), address)
        with _server("spark-class", command, folder / "worker.log", quiet) as is_up:
            is_up("Successfully registered with master")
            yield address


@contextmanager
def _server(program: str, arguments: Sequence[str], log: Path, variables: Mapping[str, str]) -> Iterator["_IsUp"]:
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    home = Path(spec.origin).parent
    own = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": LOOPBACK, "PYSPARK_PYTHON": sys.executable}
    with log.open("w") as output:
        process = subprocess.Popen(
            [str(home / "bin" / program), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=log.parent,
            env={**os.environ, **own, **variables},
            start_new_session=True,
        )
    try:
        yield _IsUp(process, log)
    finally:
        # Its executors are in its group; the leader keeps its number until it is waited for.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=scaled(20))


class _IsUp:
    def __init__(self, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self._process = process
        self._log = log

    def __call__(self, words: str) -> None:
        """Wait until the log says so; AssertionError with its end where the server ends or is too slow."""
        began = time.monotonic()
        said = wait_until(lambda: self._said(words) or self._process.poll() is not None, START_SECONDS)
        assert said, f"nothing in {time.monotonic() - began:.0f} s: {self._end()}"
        assert self._said(words), self._end()

    def _said(self, words: str) -> bool:
        return re.search(words, self._log.read_text(errors="replace")) is not None

    def _end(self) -> str:
        return self._log.read_text(errors="replace")[-2000:]


def _free_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as listener:
        return int(listener.getsockname()[1])
