"""The parent's side of the Spark worker: starting it, giving it jobs, and ending it with everything it started."""

import time
from collections.abc import Callable
from pathlib import Path
from queue import Empty
from threading import Event, Lock
from typing import Any, Self

from lake.spark import archive
from lake.spark.child import Child
from lake.spark.errors import SparkRefused, describe
from lake.spark.jars import JarsError, fetch
from lake.spark.messages import Json, SparkError, SparkJob, SparkJobState, SparkOutcome, SparkProgress, SparkStep
from lake.spark.settings import WorkerSettings, require_log_store_class
from lake.spark.worker_log import LogTail, log_file

START_SECONDS = 180.0
JOB_SECONDS = 3600.0
TICK_SECONDS = 0.25
ENDED = "WorkerEnded"
"""The type of the error of a job that was lost."""

Progress = Callable[[SparkProgress], None]
CancelCheck = Callable[[], None]


class SparkWorker:
    """One warm Spark in a process group of its own, started at the first need and anew after it has ended.

    One job runs at a time; others wait. Close it, from any thread, or use it as a context manager: nothing it started
    outlives it, nor the process that holds it.
    """

    def __init__(self, settings: WorkerSettings, home: Path) -> None:
        self.settings = settings
        self.home = home
        self._turn = Lock()
        self._closing = Event()
        self._child: Child | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def is_warm(self) -> bool:
        """Whether a session is ready, so that a job begins at once."""
        child = self._child
        return child is not None and child.ready and child.alive

    @property
    def pid(self) -> int | None:
        """The process id of the child, which is its process group's too; None while there is none."""
        child = self._child
        return child.pid if child is not None and child.alive else None

    def run(
        self,
        job: SparkJob,
        on_progress: Progress = lambda progress: None,
        *,
        check: CancelCheck = lambda: None,
        timeout_seconds: float = JOB_SECONDS,
    ) -> SparkOutcome:
        """Run a job, starting Spark first where it is not warm; the job has `timeout_seconds` from when it begins.

        `check` is called every quarter of a second. Whatever it or `on_progress` raises cancels the job and is raised
        on. A worker that went idle just as the job came is replaced once.
        """
        with self._turn:
            return _Attempt(self, on_progress, check).run(job, timeout_seconds)

    def close(self) -> None:
        """End the worker and everything it started; a job that runs is cancelled."""
        self._closing.set()
        with self._turn:
            self._drop()

    def _drop(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None


class _Cancelled(Exception):
    pass


class _Attempt:
    """One call of `run`: keeps the steps and the times, and turns whatever happens into an outcome."""

    def __init__(self, worker: SparkWorker, on_progress: Progress, check: CancelCheck) -> None:
        self.worker = worker
        self.on_progress = on_progress
        self.check = check
        self.began_at = time.monotonic()
        self.began = False
        self.steps: list[SparkStep] = []
        self.step, self.step_at = "", self.began_at
        self.log = LogTail(log_file(worker.home))
        worker._closing.clear()

    def run(self, job: SparkJob, timeout_seconds: float) -> SparkOutcome:
        try:
            return self._run(job, timeout_seconds)
        except _Cancelled:
            return self._ended("cancelled", SparkError("Cancelled", "", self._cancel_sentence()))
        except (SparkRefused, JarsError) as error:
            return self._ended("failed", describe(error))
        except BaseException:
            self.worker._drop()
            raise

    def _run(self, job: SparkJob, timeout_seconds: float) -> SparkOutcome:
        for _ in range(2):
            child = self._ready_child()
            if child.give(job):
                outcome = self._follow(child, time.monotonic() + timeout_seconds)
                if outcome is not None:
                    return outcome
            self.worker._drop()
        raise SparkRefused(f"The Spark worker ended twice before it took the job up: see {log_file(self.worker.home)}.")

    def _ready_child(self) -> Child:
        child = self.worker._child
        if child is not None and child.ready and child.alive:
            return child
        if self.worker.settings.log_store is not None:
            require_log_store_class(self.worker.settings.extra_jars)
        child = self._start_child(use_archive=True)
        if self._await_ready(child):
            return child
        # A JVM that dies with the archive may live without it; the next set-up makes a new one.
        suspect, child = child.archive, self._start_child(use_archive=False)
        self._await_ready(child)
        if suspect is not None:
            suspect.unlink(missing_ok=True)
        return child

    def _start_child(self, *, use_archive: bool) -> Child:
        settings, home = self.worker.settings, self.worker.home
        self.worker._drop()
        self._begin_step("Start Python")
        fetch(home, say=lambda line: self.on_progress(SparkProgress(self.step, note=line)))
        child = Child(settings, home, archive.ready(settings, home) if use_archive else None)
        self.worker._child = child
        self.log.begin_anew()
        return child

    def _await_ready(self, child: Child) -> bool:
        """Follow the start; False where it told of an error that the archive may have caused, else SparkRefused."""
        deadline = time.monotonic() + START_SECONDS
        while (message := self._next(child, deadline)) is not None:
            if message["kind"] == "ready":
                child.ready = True
                self._end_step()
                return True
            if message["kind"] == "error":
                if child.archive is not None:
                    return False
                raise SparkRefused(f"Spark could not be started, at {self.step!r}: {message['error']['sentence']}")
            self._hear(message)
        why = f"it took over {START_SECONDS:.0f} s" if child.overdue else child.last_words()
        raise SparkRefused(f"The Spark worker ended while it started, at {self.step!r}: {why}")

    def _follow(self, child: Child, deadline: float) -> SparkOutcome | None:
        """Follow the job to its end; None where the child ended before it took the job up."""
        while (message := self._next(child, deadline)) is not None:
            kind = message["kind"]
            if kind == "began":
                self.began = True
            elif kind == "result":
                return self._outcome("done", message["result"])
            elif kind == "error":
                return self._outcome("failed", {}, SparkError(**message["error"]))
            elif kind == "gone":
                return self._lost(SparkError(**message["error"])) if self.began else None
            else:
                self._hear(message)
        if not self.began and not child.overdue:
            return None
        why = "took too long and was ended" if child.overdue else f"ended by itself ({child.last_words()})"
        return self._lost(SparkError(ENDED, "", f"The Spark worker {why}."))

    def _lost(self, why: SparkError) -> SparkOutcome:
        """The job was cut by the end of what carried it; whoever asked looks what became of its work."""
        said = f"{why.sentence} It was at {self.step!r}." if self.step else why.sentence
        return self._ended("lost", SparkError(ENDED, why.condition, said))

    def _next(self, child: Child, deadline: float) -> Json | None:
        """Wait for the next message; None at the child's end, and after the deadline, when it is killed."""
        while True:
            if self.worker._closing.is_set():
                child.kill()
                raise _Cancelled
            self.check()
            if time.monotonic() > deadline:
                child.overdue = True
                child.kill()
                return None
            try:
                return child.messages.get(timeout=TICK_SECONDS)
            except Empty:
                if self.log.is_due:
                    self._tell_log()

    def _hear(self, message: Json) -> None:
        if message["kind"] == "step":
            self._begin_step(message["name"], message.get("waits_for", ""), float(message.get("since_seconds", 0)))
        elif message["kind"] == "progress":
            known = {name: message[name] for name in ("done", "total", "note") if name in message}
            self.on_progress(SparkProgress(self.step, **known))

    def _begin_step(self, name: str, waits_for: str = "", since_seconds: float = 0.0) -> None:
        # Nothing begins before what it follows.
        at = max(time.monotonic() - max(since_seconds, 0.0), self.step_at)
        self._end_step(at)
        self.step, self.step_at = name, at
        self.on_progress(SparkProgress(name, waits_for=waits_for, since_seconds=time.monotonic() - at))

    def _end_step(self, at: float | None = None) -> None:
        self._tell_log()
        if self.step:
            ended = SparkStep(self.step, (time.monotonic() if at is None else at) - self.step_at)
            self.steps.append(ended)
            self.on_progress(SparkProgress(ended.name, seconds=ended.seconds))
        self.step = ""

    def _tell_log(self, *, last: bool = False) -> None:
        if lines := self.log.new_lines(last=last):
            self.on_progress(SparkProgress(self.step, log=lines))

    def _ended(self, state: SparkJobState, error: SparkError) -> SparkOutcome:
        self.worker._drop()
        return self._outcome(state, {}, error)

    def _outcome(self, state: SparkJobState, result: dict[str, Any], error: SparkError | None = None) -> SparkOutcome:
        self._tell_log(last=True)
        self._end_step()
        seconds = time.monotonic() - self.began_at
        return SparkOutcome(state, self.began, result, error, tuple(self.steps), seconds)

    def _cancel_sentence(self) -> str:
        if not self.began:
            return "The job was cancelled before it began: nothing was changed."
        return f"The job was cancelled at {self.step!r}: look at the table to see whether its commit was made."
