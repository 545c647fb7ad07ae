"""The Spark worker: `python -m lake.spark.worker`, a child with a warm session that takes jobs as lines on stdin.

It has its stdout for itself: what libraries, Python and the JVM print goes to stderr. It ends after an idle time, and
with its whole process group as soon as stdin closes, its parent is gone, or its Spark is.
"""

import os
import select
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib import import_module
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, NoReturn, TextIO

from lake.spark.errors import SparkRefused, describe
from lake.spark.jobs.report import Report
from lake.spark.liveness import BEYOND_REPAIR, Liveness
from lake.spark.messages import Json, SparkError, decode, encode
from lake.spark.session import start_session

PARENT_EVERY_SECONDS = 1.0
TASKS_EVERY_SECONDS = 0.5
STARTING = {
    "Start Java": "A JVM starts and loads its classes; the next job finds it warm.",
    "Start Spark": "Spark's context comes up in it.",
    "Open the session": "Delta, S3A and the catalogue are loaded.",
}
"""What each long part of a cold start waits for."""
JOBS: dict[str, Any] = {
    kind: import_module(f"lake.spark.jobs.{kind}").run
    for kind in (
        "append_probe",
        "backup_copy",
        "backup_plan",
        "backup_prove",
        "backup_reconcile",
        "copy_files",
        "create_table",
        "drop_coordinated_commits",
        "enable_coordinated_commits",
        "read_table",
        "rehearse",
        "remove_leftover_feature",
        "write_once",
    )
}
"""What does each kind of job: a function of the session, the job's parameters and a Report, which returns a dict."""


class Out:
    """The pipe to the parent; many threads may send."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = Lock()

    def send(self, **message: Any) -> None:
        with self._lock:
            self._stream.write(encode(**message))
            self._stream.flush()


def main() -> int:
    """Take the settings as the first line, then one job after another; exit 1 where Spark does not start."""
    os.umask(0o077)
    out, leash = Out(_own_stdout()), Leash(_own_stdin())
    start = leash.requests.get()
    try:
        spark = start_session(
            start["conf"], step=lambda name: out.send(kind="step", name=name, waits_for=STARTING.get(name, ""))
        )
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent is to hear of it
        out.send(kind="error", error=asdict(describe(error)))
        return 1
    out.send(kind="ready")
    alive = Liveness(spark)
    alive.watch(lambda trouble: _end(out, trouble))
    while True:
        try:
            request = leash.requests.get(timeout=start["idle_seconds"])
        except Empty:
            out.send(kind="end")
            return 0
        if (trouble := alive.trouble()) is not None:
            _end(out, trouble)
        _run(spark, request, out, alive)


def _run(spark: Any, request: Json, out: Out, alive: Liveness) -> None:
    out.send(kind="began")
    report = Report(out.send)
    try:
        job = JOBS.get(request["job"])
        if job is None:
            raise SparkRefused(f"The Spark worker knows no job {request['job']!r}; it knows {', '.join(sorted(JOBS))}.")
        with reporting_tasks(spark, report):
            result = job(spark, request["params"], report)
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent is to hear of it
        told = describe(error)
        if told.condition in BEYOND_REPAIR:
            _end(out, told)
        if (trouble := alive.trouble()) is not None:
            _end(out, trouble)
        out.send(kind="error", error=asdict(told))
    else:
        out.send(kind="result", result=result)


@contextmanager
def reporting_tasks(spark: Any, report: Report) -> Iterator[None]:
    """Report how many of Spark's tasks are done, for as long as the block lasts."""
    tracker, ended = spark.sparkContext.statusTracker(), Event()

    def look() -> None:
        from py4j.protocol import Py4JError

        while not ended.wait(TASKS_EVERY_SECONDS):
            try:
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            except (Py4JError, OSError):
                return  # the JVM is gone, of which the job itself will tell
            if known := [stage for stage in stages if stage is not None]:
                report.tasks(sum(stage.numCompletedTasks for stage in known), sum(stage.numTasks for stage in known))

    thread = Thread(target=look, name="tasks", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(timeout=5)


def _end(out: Out, trouble: SparkError) -> NoReturn:
    """End with everything that was started: this Spark takes no further job, and the parent knows why."""
    with suppress(OSError):
        out.send(kind="gone", error=asdict(trouble))
    _end_group()


def _own_stdout() -> TextIO:
    """Keep the real stdout for ourselves; everyone else's, the JVM's included, becomes stderr."""
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return stream


def _own_stdin() -> int:
    """Keep the real stdin for ourselves, so that no library and no child reads a job away."""
    own, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return own


class Leash:
    """Reads stdin in a thread: queues each job, and ends this process and its JVM where there will be no more.

    A process that the parent forked later may hold the pipe open, so the parent itself is looked for too.
    """

    def __init__(self, stdin: int) -> None:
        self.requests: SimpleQueue[Json] = SimpleQueue()
        self._stdin = stdin
        self._parent = os.getppid()
        Thread(target=self._listen, name="leash", daemon=True).start()

    def _listen(self) -> None:
        rest = b""
        while os.getppid() == self._parent:
            if not select.select([self._stdin], [], [], PARENT_EVERY_SECONDS)[0]:
                continue
            data = os.read(self._stdin, 1 << 16)
            if not data:
                break
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self.requests.put(decode(line.decode()))
        _end_group()


def _end_group() -> NoReturn:
    """Take the scratch folder, which is this process's working directory, and the process group along."""
    shutil.rmtree(os.environ.get("LEVEE_SPARK_SCRATCH", ""), ignore_errors=True)
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
