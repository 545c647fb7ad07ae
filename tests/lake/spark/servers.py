"""A standalone Spark cluster and Spark Connect servers on loopback, all from the pyspark wheel."""

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

from lake.spark.jars import class_path
from lake.spark.session import SHORT_LIVED_JVM
from tests.jars_home import JARS_HOME
from tests.waiting import scaled, wait_until

START_SECONDS = 60.0
LOOPBACK = "127.0.0.1"
KEYS = {"AWS_ACCESS_KEY_ID": "sandbox", "AWS_SECRET_ACCESS_KEY": "sandbox"}


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
def connect_server(folder: Path, conf: Mapping[str, str], *, with_jars: bool = True) -> Iterator[str]:
    """A Connect server with these settings of its own; the block has the address sc://127.0.0.1:port."""
    port = _free_port()
    settings = {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.host": LOOPBACK,
        "spark.driver.extraJavaOptions": f"{SHORT_LIVED_JVM} -Dderby.system.home={folder}",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.connect.grpc.binding.address": LOOPBACK,
        "spark.connect.grpc.binding.port": str(port),
        **({"spark.driver.extraClassPath": class_path(JARS_HOME)} if with_jars else {}),
        **conf,
    }
    given = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    main = ("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", *given, "spark-internal")
    with _server("spark-submit", main, folder / "connect.log", KEYS) as is_up:
        is_up("Spark Connect server started at")
        yield f"sc://{LOOPBACK}:{port}"


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
