"""How Spark tells where an act is: as steps of its job."""

from contextlib import ExitStack

from dashboard.jobs.context import SPARK_LOG, JobContext, Step, moment_ago
from lake.spark.messages import SparkProgress


class SparkSteps(ExitStack):
    """Turns what Spark reports into steps, its cold start included; use as a context manager around the run."""

    def __init__(self, progress: JobContext) -> None:
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
