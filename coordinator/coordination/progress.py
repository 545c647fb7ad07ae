"""How an act tells where it is: as steps of its own job, or as lines in the log of a job on many tables."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from dashboard.jobs.context import SPARK_LOG, JobContext, Step, moment_ago
from lake.spark.messages import SparkProgress


class LogLines:
    """Each step is a line of the log that names the table; the job's own progress counts tables."""

    def __init__(self, context: JobContext, label: str) -> None:
        self._context = context
        self._label = label

    @contextmanager
    def step(self, name: str, waits_for: str = "", *, since_seconds: float = 0.0) -> Iterator[Step]:
        self._context.check_cancelled()
        self.log(name)
        step = Step(name)
        yield step
        if step.detail:
            self.log(step.detail)

    def log(self, text: str, level: str = "INFO", step: str = "table") -> None:
        self._context.log(f"{self._label}: {text}", level=level, step=step)

    def progress(self, done: int, total: int) -> None:
        """One table's tasks would only confuse the count of tables."""

    def check_cancelled(self) -> None:
        self._context.check_cancelled()


ActProgress = JobContext | LogLines
"""A job's own context, or what stands for it."""


class SparkSteps(ExitStack):
    """Turns what Spark reports into steps, its cold start included; use as a context manager around the run."""

    def __init__(self, progress: ActProgress) -> None:
        super().__init__()
        self.last = ""
        self._progress = progress
        self._step: Step | None = None

    def fail(self) -> None:
        """Say that the step that runs did not come to its end."""
        if self._step is not None:
            self._step.state = "failed"

    def __call__(self, reported: SparkProgress) -> None:
        if reported.step and reported.step != self.last:
            if self._step is not None:
                self._step.ended = moment_ago(reported.since_seconds)
            self.close()
            self._step = self.enter_context(
                self._progress.step(reported.step, reported.waits_for, since_seconds=reported.since_seconds)
            )
            self.last = reported.step
        for line in reported.log:
            self._progress.log(line, step=SPARK_LOG)
        if reported.note:
            self._progress.log(reported.note)
            if self._step is not None:
                self._step.detail = reported.note
        if reported.total:
            self._progress.progress(reported.done, reported.total)
