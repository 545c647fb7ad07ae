"""The worker's life: warm between jobs, ended with everything it started, replaced after that."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest

from lake.spark.client import SparkWorker
from lake.spark.jobs import append_probe, create_table
from lake.spark.messages import SparkJob, SparkProgress
from lake.spark.settings import ROOT, LogStore
from lake.spark.worker_log import log_file
from sandbox.ground import PROD
from tests.jvms import JVMS
from tests.sandboxlake import sandbox_lake
from tests.sparkworker import living, pid_of, shared_worker, worker_home, worker_settings
from tests.waiting import scaled, wait_until

pytestmark = pytest.mark.spark

START = ["Start Python", "Start Java", "Start Spark", "Open the session"]
ABSENT = f"s3a://{PROD}/tests/worker/absent"
UNKNOWN = SparkJob("dance")


@pytest.fixture
def worker():
    with JVMS.room(), SparkWorker(worker_settings(), worker_home()) as made:
        yield made


@pytest.fixture
def mortal():
    """A worker that tests may end, and that may have a child from the test before: each start costs seconds."""
    return shared_worker("mortal worker")


def scratch_folders() -> set[Path]:
    return set((worker_home() / "spark").glob("worker-*/"))


def killing_at(worker: SparkWorker, step: str, killed: list[int]):
    """Kill the child, not its JVM, the moment it enters a step."""

    def hear(progress: SparkProgress) -> None:
        if progress.step == step and progress.seconds is None and not killed:
            killed.append(pid_of(worker))
            os.kill(killed[0], signal.SIGKILL)

    return hear


def test_the_first_job_tells_the_steps_of_the_start(mortal: SparkWorker) -> None:
    heard: list[SparkProgress] = []
    outcome = mortal.run(UNKNOWN, heard.append)
    assert [step.name for step in outcome.steps] == START
    assert [one.step for one in heard if one.seconds is None and not one.log] == START
    assert all(step.seconds >= 0 for step in outcome.steps)


def test_a_job_nobody_knows_fails_by_name_and_the_next_one_finds_the_session_warm(warm_worker: SparkWorker) -> None:
    outcome = warm_worker.run(UNKNOWN)
    assert outcome.state == "failed"
    assert outcome.error is not None
    assert "knows no job 'dance'" in outcome.error.sentence
    pid = pid_of(warm_worker)
    assert warm_worker.run(append_probe.job(ABSENT)).steps[0].name == "Append no rows"
    assert (warm_worker.pid, warm_worker.is_warm) == (pid, True)


@pytest.mark.parametrize("step", ["Start Java", "Start Spark"])
def test_a_worker_killed_while_it_starts_fails_the_job_and_leaves_no_jvm(worker: SparkWorker, step: str) -> None:
    killed: list[int] = []
    outcome = worker.run(UNKNOWN, killing_at(worker, step, killed))
    assert (outcome.state, outcome.began) == ("failed", False)
    assert outcome.error is not None
    assert f"at {step!r}: signal 9" in outcome.error.sentence
    assert wait_until(lambda: not living(killed[0]))


def test_a_worker_killed_in_a_job_loses_it_and_the_next_job_has_another_worker(mortal: SparkWorker) -> None:
    killed: list[int] = []
    outcome = mortal.run(append_probe.job(ABSENT), killing_at(mortal, "Append no rows", killed))
    assert (outcome.state, outcome.began) == ("lost", True)
    assert outcome.error is not None
    assert "ended by itself (signal 9). It was at 'Append no rows'" in outcome.error.sentence
    assert wait_until(lambda: not living(killed[0]))
    assert mortal.run(UNKNOWN).began
    assert pid_of(mortal) != killed[0]


def test_a_closed_worker_ends_its_job_at_once_with_everything_that_ran_and_leaves_nothing_but_the_log(
    mortal: SparkWorker,
) -> None:
    mortal.run(UNKNOWN)
    group, at, folders = pid_of(mortal), time.monotonic(), scratch_folders()

    outcome = mortal.run(append_probe.job(ABSENT), lambda _: Thread(target=mortal.close).start())
    assert outcome.state == "cancelled"
    assert time.monotonic() - at < scaled(5)
    assert wait_until(lambda: not living(group))
    assert len(folders - scratch_folders()) == 1
    assert log_file(worker_home()).exists()


def test_what_the_check_raises_cancels_the_job_and_is_raised_on(worker: SparkWorker) -> None:
    def stop() -> None:
        if worker.pid:
            groups.append(worker.pid)
            raise KeyError("stop")

    groups: list[int] = []
    with pytest.raises(KeyError):
        worker.run(UNKNOWN, check=stop)
    assert wait_until(lambda: not living(groups[0]))
    assert not worker.is_warm


def test_a_job_that_takes_too_long_is_lost(mortal: SparkWorker) -> None:
    outcome = mortal.run(append_probe.job(ABSENT), timeout_seconds=0)
    assert (outcome.state, mortal.pid) == ("lost", None)
    assert outcome.error is not None
    assert "took too long" in outcome.error.sentence


def test_a_worker_ends_after_its_idle_time_and_the_next_job_starts_another() -> None:
    heard: list[SparkProgress] = []

    def enough() -> None:
        if heard:
            raise KeyError("enough")

    before = scratch_folders()
    with JVMS.room(), SparkWorker(worker_settings(idle_seconds=0.2), worker_home()) as worker:
        worker.run(UNKNOWN)
        group = pid_of(worker)
        assert wait_until(lambda: worker.pid is None and not living(group))
        with pytest.raises(KeyError):
            worker.run(UNKNOWN, heard.append, check=enough)
    assert heard[0].step == START[0]
    assert scratch_folders() == before


PARENT = """
import sys, time
from pathlib import Path
from tests.sparkworker import worker_settings
from lake.spark.client import SparkWorker
from lake.spark.messages import SparkJob
worker = SparkWorker(worker_settings(sys.argv[2]), Path(sys.argv[1]))
def say(progress):
    if progress.seconds is None:
        print(progress.step, worker.pid, flush=True)
worker.run(SparkJob("dance"), say)
print("ready", worker.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("stage", ["Start Java", "ready"])
def test_a_worker_ends_with_a_parent_that_is_killed(stage: str) -> None:
    before = scratch_folders()
    command = [sys.executable, "-c", PARENT, str(worker_home()), sandbox_lake().origin]
    with JVMS.room(), subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as parent:
        assert parent.stdout is not None
        line = next(line for line in parent.stdout if line.startswith(stage))
        group = int(line.split()[-1])
        assert living(group)
        parent.kill()
    assert wait_until(lambda: not living(group))
    assert wait_until(lambda: scratch_folders() == before)


def test_a_table_behind_the_log_store_is_refused_where_its_class_is_missing() -> None:
    with SparkWorker(worker_settings(log_store=LogStore("delta_log", "us-west-2")), worker_home()) as worker:
        outcome = worker.run(create_table.job(ABSENT, "id INT"))
    assert (outcome.state, outcome.began, outcome.steps) == ("failed", False, ())
    assert outcome.error is not None
    assert "io.delta:delta-storage-s3-dynamodb:4.4.0" in outcome.error.sentence
