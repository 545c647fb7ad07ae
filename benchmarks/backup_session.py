"""One warm Spark in a child process, asked by name for Levee's own work.

`s3a://bench/…` is a folder of this machine (a Hadoop mount table), as DuckDB reads no S3 here: what is compared is the
work on the rows. What Levee's executors send to S3 themselves goes to the stand-in at the session's endpoint.
"""

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from lake.spark.jars import fetch
from lake.spark.session import LakeEndpoint
from lake.spark.settings import ROOT, Credentials, WorkerSettings, environment, session_conf

JARS_HOME = Path(os.environ.get("LEVEE_HOME") or ROOT / "var").resolve()


def settings(origin: str, master: str = "local[*]") -> WorkerSettings:
    endpoint = LakeEndpoint("us-east-1", origin, environment_credentials=True)
    return WorkerSettings(endpoint, master, Credentials("bench", "bench"))


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


def levee_job(spark: Any, params: Mapping[str, Any]) -> Any:
    """Run Levee's job `kind` as its worker does."""
    from lake.spark.jobs.report import Report
    from lake.spark.worker import JOBS

    return JOBS[params["kind"]](spark, params["params"], Report(lambda **message: None))


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
