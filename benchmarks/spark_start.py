"""Spark from nothing to its first commit to a Delta table: Levee's worker against a plain default session.

The peer is a script of its own with the same jars in `spark.jars` and nothing else set but what Delta needs. Between
the two stand the single steps, each with all of those before it, so that each one's share can be told.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.harness import ROUNDS, asked, compete, ratio_line, tell
from lake.spark import archive
from lake.spark.client import SparkWorker
from lake.spark.jars import class_path, fetch
from lake.spark.jobs import append_probe, create_table
from lake.spark.messages import SparkStep
from lake.spark.session import DELTA, LakeEndpoint
from lake.spark.settings import ROOT, Credentials, WorkerSettings, environment, session_conf

HOME = Path(os.environ.get("LEVEE_HOME") or ROOT / "var").resolve()
ENDPOINT = LakeEndpoint("us-east-1", "http://127.0.0.1:9", environment_credentials=True)
SETTINGS = WorkerSettings(ENDPOINT, "local[*]", Credentials("bench", "bench"))
PEER, PATHS, LEAN, LEVEE = "plain default session", "+ jars on the class path", "+ lean settings", "levee's worker"
SCRIPT = """
import json, sys
from pyspark import SparkConf
from pyspark.sql import SparkSession
from lake.spark.jobs import append_probe
from lake.spark.jobs.report import Report
conf, table = json.loads(sys.stdin.readline()), sys.argv[1]
spark = SparkSession.builder.config(conf=SparkConf().setAll(list(conf.items()))).getOrCreate()
found = append_probe.run(spark, {"table": table}, Report(lambda **message: None))
print("RESULT", json.dumps(found, default=str, sort_keys=True), flush=True)
"""


def main() -> None:
    """LEVEE_BENCH_ROUNDS sets another number of rounds; the archive is made first where it is not there."""
    fetch(HOME)
    archive.build(HOME)
    with tempfile.TemporaryDirectory(prefix="levee-bench-") as folder:
        table = f"file://{folder}/table"
        with SparkWorker(SETTINGS, HOME) as worker:
            outcome = worker.run(create_table.job(table, "id BIGINT, name STRING"))
            assert outcome.state == "done", outcome.error
        steps: list[SparkStep] = []
        contest = compete(_contestants(Path(folder), table, steps), rounds=asked("ROUNDS", ROUNDS))
    tell("Cold start of Spark to its first commit to a Delta table", contest)
    for name in dict.fromkeys(step.name for step in steps):
        print(f"   {name:33} {statistics.median(step.seconds for step in steps if step.name == name):9.3f}")
    for name in (PATHS, LEAN, LEVEE):
        ratio_line(contest, name, PEER, at_most=0.6 if name == LEVEE else 1.0)
    print("the last step is the class-data archive, and a process of its own that is told its work by pipe")


def _contestants(folder: Path, table: str, steps: list[SparkStep]) -> Mapping[str, Callable[[], object]]:
    jars = sorted((HOME / "jars" / "spark").glob("*.jar"))
    lean = session_conf(SETTINGS, HOME, folder / "scratch")
    return {
        PEER: lambda: _script(DELTA | {"spark.jars": ",".join(map(str, jars))}, table, folder),
        PATHS: lambda: _script(DELTA | {"spark.driver.extraClassPath": class_path(HOME)}, table, folder),
        LEAN: lambda: _script(lean, table, folder),
        LEVEE: lambda: _levee(table, steps),
    }


def _script(conf: Mapping[str, str], table: str, folder: Path) -> object:
    """Start Python and Spark in it, ask for the table, and kill both as soon as the answer is there."""
    with (folder / "script.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, table],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=folder,
            env=environment(SETTINGS) | {"PYTHONPATH": str(ROOT)},
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(dict(conf)) + "\n")
        process.stdin.flush()
        line = next((line for line in process.stdout if line.startswith("RESULT ")), "")
        process.kill()
        process.wait()
    assert line, (folder / "script.log").read_text()[-2000:]
    return _facts(json.loads(line.removeprefix("RESULT ")))


def _levee(table: str, steps: list[SparkStep]) -> object:
    """Start the worker for one job, as after its idle time; its process is killed with the answer in hand."""
    with SparkWorker(SETTINGS, HOME) as worker:
        outcome = worker.run(append_probe.job(table))
    steps += outcome.steps
    assert outcome.state == "done", outcome.error
    return _facts(dict(outcome.result))


def _facts(found: Mapping[str, object]) -> object:
    return found["operation"]


if __name__ == "__main__":
    main()
