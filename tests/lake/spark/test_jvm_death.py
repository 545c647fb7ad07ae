"""The JVM alone dies, as the out-of-memory killer ends it: Python outlives it, and must not be asked again."""

import itertools
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lake.spark.client import SparkWorker
from lake.spark.jobs import (
    create_table,
    describe_table,
    drop_coordinated_commits,
    enable_coordinated_commits,
    rehearse,
)
from lake.spark.messages import SparkJob, SparkOutcome, SparkProgress
from lake.spark.settings import ROOT
from sandbox.ground import DELTA_COMMITS, PROD
from sandbox.spark_tables import SparkLake
from tests.dynamodb_local import dynamodb_local
from tests.jvms import JVMS
from tests.lake.spark.backupground import open_ground
from tests.sandboxlake import sandbox_lake
from tests.sparksession import spark_lake
from tests.sparkworker import java_of, living, pid_of, warm_worker, worker_home, worker_settings
from tests.waiting import wait_until

__all__ = ["dynamodb_local", "spark_lake", "warm_worker"]
pytestmark = pytest.mark.spark
numbers = itertools.count()


def new_uri() -> str:
    return f"s3a://{PROD}/tests/death/t{next(numbers)}"


def plain(lake: SparkLake) -> str:
    uri = new_uri()
    lake.create(uri, "id BIGINT")
    return uri


def coordinated(lake: SparkLake) -> str:
    uri = plain(lake)
    lake.enable(uri)
    return uri


def enabling(lake: SparkLake) -> SparkJob:
    return enable_coordinated_commits.job(plain(lake), DELTA_COMMITS, lake.client.dynamodb_origin)


def rehearsing(lake: SparkLake) -> SparkJob:
    """The rehearsal of a drop, which has every step."""
    table, scratch = coordinated(lake), new_uri()
    prepare = enable_coordinated_commits.job(scratch, DELTA_COMMITS, lake.client.dynamodb_origin)
    return rehearse.job(table, scratch, [drop_coordinated_commits.job(scratch)], prepare)


STEPS = {
    drop_coordinated_commits.KIND: (
        drop_coordinated_commits.FIRST,
        drop_coordinated_commits.SECOND,
        "Read what stays behind",
    ),
    enable_coordinated_commits.KIND: ("Make the conversion commit", "Read the table's properties"),
    rehearse.KIND: (
        rehearse.CLONE,
        rehearse.PREPARED,
        "Read the protocol before",
        drop_coordinated_commits.FIRST,
        drop_coordinated_commits.SECOND,
        "Read what stays behind",
        "Read the protocol after",
    ),
    "backup_copy": ("Read the manifest", "Copy"),
}
CHANGING = {
    drop_coordinated_commits.KIND: drop_coordinated_commits.FIRST,
    enable_coordinated_commits.KIND: "Make the conversion commit",
    rehearse.KIND: drop_coordinated_commits.FIRST,
    "backup_copy": "Copy",
}
"""The step in which a job changes something, of the kinds that change most."""
STARTING = {"Start Python", "Load pyspark", "Start Java", "Start Spark", "Open the session"}


def end_java(worker: SparkWorker, *, by: int = signal.SIGKILL) -> None:
    os.kill(java_of(worker), by)


def cut(worker: SparkWorker, job: SparkJob, step: str) -> SparkOutcome:
    """Run it and end the JVM, and nothing else, the moment that the step begins."""
    ended: list[int] = []

    def hear(progress: SparkProgress) -> None:
        if progress.step == step and progress.seconds is None and not ended:
            ended.append(java_of(worker))
            os.kill(ended[0], signal.SIGKILL)

    outcome = worker.run(job, hear)
    assert ended, f"There was no step {step!r}."
    return outcome


def lost_at(outcome: SparkOutcome) -> str:
    """The step at which it says that its JVM was killed, "" where it says anything else."""
    said = outcome.error.sentence if outcome.error else ""
    found = re.search(r"Java process was killed \(signal 9\).* It was at '(.+)'\.$", said)
    return found[1] if found and (outcome.state, outcome.began) == ("lost", True) else ""


def steps_of(outcome: SparkOutcome) -> tuple[str, ...]:
    return tuple(one.name for one in outcome.steps if one.name not in STARTING)


def copying(worker: SparkWorker) -> SparkJob:
    """The copy of a few planned objects."""
    ground = open_ground(worker)
    ground.put(["t/_delta_log/00000000000000000000.json", *(f"t/{number}" for number in range(5))])
    params = ground.params()
    [manifest, *_] = ground.run("backup_plan", params)["manifests"]
    report = {"bucket": ground.evidence, "prefix": f"{params['folder']['prefix']}report/{manifest['lane']}/"}
    return SparkJob("backup_copy", {**params, "manifest": manifest, "report": report, "token": "t1"})


def maker_of(kind: str, lake: SparkLake, worker: SparkWorker) -> Callable[[], SparkJob]:
    """What makes a job of this kind, once more each time."""
    if kind == "backup_copy":
        job = copying(worker)
        return lambda: job
    makers: dict[str, Callable[[SparkLake], SparkJob]] = {
        drop_coordinated_commits.KIND: lambda lake: drop_coordinated_commits.job(coordinated(lake)),
        enable_coordinated_commits.KIND: enabling,
        rehearse.KIND: rehearsing,
    }
    return lambda: makers[kind](lake)


@pytest.mark.parametrize("kind", CHANGING)
def test_a_job_whose_jvm_is_killed_at_its_work_is_lost_and_the_next_one_is_done_by_another(
    spark_lake: SparkLake, warm_worker: SparkWorker, kind: str
) -> None:
    make, steps = maker_of(kind, spark_lake, warm_worker), STEPS[kind]
    at = steps.index(CHANGING[kind])
    assert lost_at(cut(warm_worker, make(), steps[at])) in steps[at:]
    outcome = warm_worker.run(make())
    assert outcome.state == "done", outcome
    assert steps_of(outcome) == steps


def test_a_jvm_that_is_killed_at_rest_takes_its_worker_along_and_the_next_job_never_notices(
    spark_lake: SparkLake, warm_worker: SparkWorker
) -> None:
    uri = plain(spark_lake)
    warm_worker.start()
    group = pid_of(warm_worker)
    end_java(warm_worker)
    assert wait_until(lambda: warm_worker.pid is None and not living(group))
    outcome = warm_worker.run(describe_table.job(uri))
    assert (outcome.state, outcome.steps[0].name) == ("done", "Start Python")


def test_a_jvm_that_stands_still_is_given_up(spark_lake: SparkLake, warm_worker: SparkWorker) -> None:
    """It lives and answers nobody, as one does that collects garbage for ever."""
    uri = plain(spark_lake)
    warm_worker.start()
    stopped = java_of(warm_worker)
    os.kill(stopped, signal.SIGSTOP)
    assert warm_worker.run(describe_table.job(uri)).state == "done"
    assert not Path(f"/proc/{stopped}").exists()


def test_a_heap_that_is_exhausted_ends_the_worker_and_says_so(spark_lake: SparkLake) -> None:
    """A JVM goes on after an OutOfMemoryError with threads missing; nobody could say which."""
    uri = plain(spark_lake)
    vast = f"id BIGINT COMMENT '{'x' * 100_000_000}'"
    with JVMS.room(), SparkWorker(worker_settings(java_options="-XX:MaxHeapSize=512m"), worker_home()) as small:
        outcome = small.run(create_table.job(new_uri(), vast))
        assert (outcome.state, small.is_warm) == ("lost", False)
        assert outcome.error is not None
        assert outcome.error.condition == "OUT_OF_MEMORY"
        assert small.run(describe_table.job(uri)).state == "done"


FULL_DISK = """
import os, shutil, sys
from pathlib import Path
from lake.spark.client import SparkWorker
from lake.spark.jobs import describe_table
from tests.sparkworker import worker_settings
home = Path(sys.argv[1])
job = describe_table.job(sys.argv[3])
with SparkWorker(worker_settings(sys.argv[2]), home) as worker:
    print(worker.start().state, flush=True)
    filler = os.open(home / "filler", os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(filler, bytes(4096))
    except OSError:
        os.close(filler)
    outcome = worker.run(job)
    print(outcome.state, outcome.error and outcome.error.condition, worker.is_warm, flush=True)
    os.remove(home / "filler")
    print(worker.run(job).state, flush=True)
"""


def test_a_scratch_disk_that_is_full_ends_the_worker_and_the_next_job_has_an_empty_folder(
    spark_lake: SparkLake, tmp_path: Path
) -> None:
    uri = plain(spark_lake)
    spark_lake.insert(uri, "id", times=12)
    (tmp_path / "home").mkdir()
    script = (
        f'mount -t tmpfs -o size=16m tmpfs "{tmp_path}/home" && ln -s "{worker_home()}/jars" "{tmp_path}/home/jars" '
        '&& exec "$0" -c "$1" "$2" "$3" "$4"'
    )
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script]
    with JVMS.room():
        done = subprocess.run(
            [*command, sys.executable, FULL_DISK, str(tmp_path / "home"), sandbox_lake().origin, uri],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.stdout.splitlines() == ["done", "lost DISK_FULL False", "done"], done.stderr[-2000:]
