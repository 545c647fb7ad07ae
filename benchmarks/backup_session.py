"""One warm Spark in a child process, asked by name for Levee's own jobs or for a contestant of the benchmarks.

`s3a://bench/…` is a folder of this machine (a Hadoop mount table), as DuckDB reads no S3 here: what is compared is the
work on the rows. What Levee's executors send to S3 themselves goes to the stand-in at the session's endpoint.
"""

import importlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any, Self

from lake.spark.deployment import Deployment
from lake.spark.jars import class_path, fetch
from lake.spark.session import LakeEndpoint, delta_settings
from lake.spark.settings import ROOT, Credentials, WorkerSettings, environment, session_conf

JARS_HOME = Path(os.environ.get("LEVEE_HOME") or ROOT / "var").resolve()
MEGABYTE = 1024.0**2
SAMPLE_SECONDS = 0.2


def settings(origin: str, master: str = "local[*]") -> WorkerSettings:
    endpoint = LakeEndpoint("us-east-1", origin, environment_credentials=True)
    return WorkerSettings(endpoint, Deployment(master), Credentials("bench", "bench"))


def mounted(bucket: str, folder: Path) -> dict[str, str]:
    """Settings that make `s3a://bucket/` that folder."""
    mount = f"spark.hadoop.fs.viewfs.mounttable.{bucket}"
    return {
        "spark.hadoop.fs.s3a.impl": "org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme",
        "spark.hadoop.fs.viewfs.overload.scheme.target.s3a.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
        f"{mount}.linkFallback": f"file://{folder}",
        # S3A's own committer takes no other file system.
        "spark.hadoop.mapreduce.outputcommitter.factory.scheme.s3a": (
            "org.apache.hadoop.mapreduce.lib.output.FileOutputCommitterFactory"
        ),
    }


def levee_conf(origin: str, scratch: Path) -> dict[str, str]:
    """What Levee's worker starts Spark with."""
    return session_conf(settings(origin), JARS_HOME, scratch)


def plain_conf(scratch: Path) -> dict[str, str]:
    """Spark's defaults, with as many cores and as much memory."""
    return delta_settings() | {
        "spark.master": "local[*]",
        "spark.driver.memory": levee_conf("", scratch)["spark.driver.memory"],
        "spark.driver.extraClassPath": class_path(JARS_HOME),
        "spark.local.dir": str(scratch),
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
    }


class Session:
    """The child as its parent holds it; use it as a context manager."""

    def __init__(self, conf: Mapping[str, str], scratch: Path, origin: str = "") -> None:
        fetch(JARS_HOME)
        scratch.mkdir(parents=True, exist_ok=True)
        paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        with (scratch / "session.log").open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.backup_session"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=scratch,
                env=environment(settings(origin)) | {"PYTHONPATH": paths},
                start_new_session=True,
            )
        self._log = scratch / "session.log"
        self._say(dict(conf))
        self._hear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        os.killpg(self._process.pid, 9)
        self._process.wait(timeout=20)

    def call(self, name: str, params: Mapping[str, Any]) -> Any:
        """Have "module:function" called with the session and `params`; its answer, as JSON can carry it."""
        self._say([name, params])
        return self._hear()

    @property
    def pid(self) -> int:
        """Its process id, which is its process group's too."""
        return self._process.pid

    def _say(self, what: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()

    def _hear(self) -> Any:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("ANSWER "):
                return json.loads(line.removeprefix("ANSWER "))
        raise AssertionError(self._log.read_text()[-6000:])


class Peak:
    """The most resident memory of a session's processes while the block lasts, in MB: JVM and Python workers."""

    def __init__(self, session: Session) -> None:
        self._pid = session.pid
        self._done = Event()
        self._thread = Thread(target=self._watch, daemon=True)
        self.megabytes = 0.0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(SAMPLE_SECONDS):
            self.megabytes = max(self.megabytes, resident(self._pid))


def resident(pid: int) -> float:
    """Resident MB of a process and all below it; what forked ones share counts once for each."""
    return sum(int(fields[21]) for fields in _family(pid)) * resource.getpagesize() / MEGABYTE


def cpu_seconds(pid: int) -> float:
    """User and system seconds of a process and all below it, with those that they waited for."""
    return sum(sum(map(int, fields[11:15])) for fields in _family(pid)) / os.sysconf("SC_CLK_TCK")


def _family(pid: int) -> list[list[str]]:
    """The fields of /proc/…/stat behind the name; Spark's Python workers are in process groups of their own."""
    found: dict[int, list[str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                found[int(entry.name)] = (entry / "stat").read_text().rpartition(")")[2].split()
    family, grew = {pid}, True
    while grew:
        more = {one for one, fields in found.items() if int(fields[1]) in family} - family
        family, grew = family | more, bool(more)
    return [found[one] for one in family if one in found]


def levee_job(spark: Any, params: Mapping[str, Any]) -> Any:
    """Run Levee's job `kind` as its worker does."""
    from lake.spark.jobs.registry import JOBS
    from lake.spark.jobs.report import Report

    steps: list[tuple[str, float]] = []

    def send(**message: Any) -> None:
        if message.get("kind") == "step":
            steps.append((str(message["name"]), time.perf_counter()))

    result = JOBS[params["kind"]](spark, params["params"], Report(send))
    ended = [at for _, at in steps[1:]] + [time.perf_counter()]
    told = [(name, end - at) for (name, at), end in zip(steps, ended, strict=True)]
    return {"result": result, "steps": told}


def serve() -> None:
    """The child: open the session, then answer one call after another."""
    from lake.spark.session import start_session

    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    spark = start_session(json.loads(sys.stdin.readline()))
    print("ANSWER true", file=out, flush=True)
    for line in sys.stdin:
        (name, params) = json.loads(line)
        module, _, function = name.partition(":")
        answer = getattr(importlib.import_module(module), function)(spark, params)
        print("ANSWER", json.dumps(answer, default=str), file=out, flush=True)


if __name__ == "__main__":
    serve()
