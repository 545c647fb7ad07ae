"""The JVM alone dies, as the out-of-memory killer ends it: Python outlives it, and must not be asked again.

What becomes of an act whose JVM is killed at its work is told in tests/conformance/test_enabling_amid_trouble.py.
"""

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lake.spark.client import SparkWorker
from lake.spark.jobs import append_probe, create_table, drop_coordinated_commits
from lake.spark.messages import SparkJob, SparkProgress
from lake.spark.settings import ROOT
from sandbox.ground import PROD
from sandbox.spark_tables import SparkLake
from tests.jvms import JVMS
from tests.sandboxlake import sandbox_lake
from tests.sparkworker import java_of, living, pid_of, worker_home, worker_settings
from tests.waiting import wait_until

pytestmark = pytest.mark.spark
numbers = itertools.count()
UNKNOWN = SparkJob("dance")


def new_uri() -> str:
    return f"s3a://{PROD}/tests/death/t{next(numbers)}"


def plain(lake: SparkLake) -> str:
    uri = new_uri()
    lake.create(uri, "id BIGINT")
    return uri


def test_a_job_whose_jvm_is_killed_at_its_work_is_lost_and_the_next_one_is_done_by_another(
    spark_lake: SparkLake, warm_worker: SparkWorker
) -> None:
    uris = [plain(spark_lake) for _ in range(2)]
    for uri in uris:
        spark_lake.enable(uri)

    def kill(progress: SparkProgress) -> None:
        if progress.waits_for == drop_coordinated_commits.FIRST_STEP[1]:
            os.kill(java_of(warm_worker), signal.SIGKILL)

    outcome = warm_worker.run(drop_coordinated_commits.job(uris[0]), kill)
    assert (outcome.state, outcome.began) == ("lost", True)
    assert outcome.error is not None
    assert "Java process was killed (signal 9)" in outcome.error.sentence
    assert warm_worker.run(drop_coordinated_commits.job(uris[1])).state == "done"


def test_a_jvm_that_is_killed_at_rest_takes_its_worker_along_and_the_next_job_never_notices(
    spark_lake: SparkLake, warm_worker: SparkWorker
) -> None:
    uri = plain(spark_lake)
    warm_worker.run(UNKNOWN)
    group = pid_of(warm_worker)
    os.kill(java_of(warm_worker), signal.SIGKILL)
    assert wait_until(lambda: warm_worker.pid is None and not living(group))
    outcome = warm_worker.run(append_probe.job(uri))
    assert (outcome.state, outcome.steps[0].name) == ("done", "Start Python")


def test_a_jvm_that_stands_still_is_given_up(spark_lake: SparkLake, warm_worker: SparkWorker) -> None:
    """It lives and answers nobody, as one does that collects garbage for ever."""
    uri = plain(spark_lake)
    warm_worker.run(UNKNOWN)
    stopped = java_of(warm_worker)
    os.kill(stopped, signal.SIGSTOP)
    assert warm_worker.run(append_probe.job(uri)).state == "done"
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
        assert small.run(append_probe.job(uri)).state == "done"


FULL_DISK = """
import os, shutil, sys
from pathlib import Path
from lake.spark.client import SparkWorker
from lake.spark.jobs import rehearse, remove_leftover_feature
from lake.spark.messages import SparkJob
from tests.sparkworker import worker_settings
home = Path(sys.argv[1])
scratch = f"{sys.argv[3]}-copy"
job = rehearse.job(sys.argv[3], scratch, [remove_leftover_feature.job(scratch, "inCommitTimestamp")])
with SparkWorker(worker_settings(sys.argv[2]), home) as worker:
    print(worker.run(SparkJob("dance")).state, flush=True)
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
    assert done.stdout.splitlines() == ["failed", "lost DISK_FULL False", "done"], done.stderr[-2000:]
