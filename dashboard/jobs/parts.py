"""What stands for the context of a job where it works on one of many things."""

from collections.abc import Iterator
from contextlib import contextmanager

from dashboard.jobs.context import JobContext, Step


class PartContext(JobContext):
    """Its steps are lines of the job's log that name the thing, and its results are its own; the job's own progress
    counts things."""

    def __init__(self, whole: JobContext, label: str) -> None:
        super().__init__(whole.job)
        self._whole = whole
        self._label = label

    @contextmanager
    def step(self, name: str, waits_for: str = "", *, since_seconds: float = 0.0) -> Iterator[Step]:
        self.check_cancelled()
        self.log(name)
        step = Step(name)
        yield step
        if step.detail:
            self.log(step.detail)

    def log(self, text: str, level: str = "INFO", step: str = "table", **data: object) -> None:
        self._whole.log(f"{self._label}: {text}", level=level, step=step, **data)

    def progress(self, done: int, total: int | None) -> None:
        """The tasks of one thing would only confuse the count of things."""

    def check_cancelled(self) -> None:
        self._whole.check_cancelled()
