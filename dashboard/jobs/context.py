"""What a running job holds: its parameters, and ways to say what it does and to hear that it should stop."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, TypedDict

from django.dispatch import Signal
from django.utils import timezone

from dashboard.connections.writable import why_not_writable
from dashboard.jobs import lifecycle
from dashboard.jobs.models import Job, JobEvent, JobState

WRITE_EVERY_SECONDS = 1.0

SPARK_LOG = "spark"
"""The step of those lines of a job's log that Spark has written."""

going_on = Signal()
"""Sent with `job`, its steps as they are, as a step begins or ends, and about once a second in a job that looks."""

# Set when this process has been told to end: its jobs stop at their next safe place instead of being killed at one.
process_is_ending = threading.Event()


class JobCancelled(Exception):
    """The job was asked to stop, or was given up, and stops here."""

    message = "Cancelled before it was done."


class JobFailed(Exception):
    """The work cannot be done, for a reason that is no fault of the program: a code and one sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class JobOvertaken(Exception):
    """Somebody else changed what the job was about before it did, and it stopped.

    One sentence says what it had done by then; `facts` say it for programs, and are kept in the result as `overtaken`.
    """

    def __init__(self, sentence: str, facts: Mapping[str, object]) -> None:
        super().__init__(sentence)
        self.facts = facts


class JobInterrupted(JobCancelled):
    """The process that runs the job has been told to end."""

    message = "Interrupted: the process that ran it was stopped."


class JobForbidden(JobCancelled):
    """The lake became read-only while the job changed it."""

    message = "Stopped at a safe place: nothing may be changed through its connection any more."


class JobResult(TypedDict, total=False):
    """What a job's page and the audit log know of a result; what else a kind tells, it declares in one of its own.

    `begun` is the address of the page that shows what goes on after the job has ended, `leads_to` that on which
    somebody can act on what it found, `shown_at` that on which it is seen. `rows`, `bytes` and `sha256` are of the file
    that it made.
    """

    before: Mapping[str, object] | None
    after: Mapping[str, object]
    outcomes: Sequence[Mapping[str, object]]
    overtaken: Mapping[str, object]
    aws_request_ids: list[str]
    requests: int
    begun: str
    leads_to: str
    shown_at: str
    rows: int
    bytes: int
    sha256: str


@dataclass
class Step:
    """One line of the list of steps; `detail` may be set at any time while it runs.

    `then` names the steps that come after it, where it finds out which these are: of a job that carries out a plan.
    """

    name: str
    state: str = "running"
    detail: str = ""
    started: str = ""
    ended: str = ""
    then: tuple[str, ...] = ()


class JobContext:
    """Handed to the function of a job's kind. Use it from the thread that runs the job: it writes to the database.

    `job` is the row as it was claimed. Steps are few: each is stored at once.
    `changes_lake`: the job stops once nothing may be changed.
    """

    def __init__(self, job: Job, *, changes_lake: bool = False) -> None:
        self.job = job
        self._changes_lake = changes_lake
        self.results: JobResult = {}
        self._steps: list[Step] = []
        self._counters: dict[str, object] = {}
        self._written_at = float("-inf")
        self._asked_at = float("-inf")

    @contextmanager
    def step(self, name: str, waits_for: str = "", *, since_seconds: float = 0.0) -> Iterator[Step]:
        """Declare a step as it begins, or began so long ago; it ends as what the block set, else as done, or as failed
        if that raises. `waits_for` is its detail while it runs and nothing else is.
        """
        self.check_cancelled()
        step = Step(name, detail=waits_for, started=moment_ago(since_seconds))
        self._steps.append(step)
        self._store()
        end = "failed"
        try:
            yield step
            end = "done"
        finally:
            step.state = end if step.state == "running" else step.state
            step.detail = "" if step.detail == waits_for else step.detail
            step.ended = step.ended or moment_ago()
            self._store()

    def progress(self, done: int, total: int | None) -> None:
        """Say how far the work is; written at most once a second and at the end of each step. `total` None: unknown."""
        self._counters = {"done": done, "total": total}
        if time.monotonic() - self._written_at >= WRITE_EVERY_SECONDS:
            self._store()

    def say(self, message: str) -> None:
        """Set the sentence that stands above the progress while the job runs; written with the next progress."""
        self._counters = {**self._counters, "message": message}

    def log(self, text: str, level: str = "INFO", step: str = "", **data: Any) -> None:
        """Add a line to the visible log; `level` is INFO, WARN or ERROR, `step` a short word of at most 16 letters."""
        JobEvent.objects.create(
            job_id=self.job.pk, at=timezone.now(), level=level[:5], step=step[:16], text=text, data=data
        )

    def check_cancelled(self) -> None:
        """Raise JobCancelled if someone asked to stop, the job was given up, its process is to end, or nothing may be
        changed any more.

        The database is asked at most once a second.
        """
        if process_is_ending.is_set():
            raise JobInterrupted
        if time.monotonic() - self._asked_at < WRITE_EVERY_SECONDS:
            return
        state = Job.objects.values_list("state", flat=True).filter(pk=self.job.pk).first()
        if state != JobState.RUNNING:
            raise JobCancelled
        if self._changes_lake and why_not_writable(self.job.connection):
            raise JobForbidden
        self._asked_at = time.monotonic()
        self._tell()

    def result(self, told: JobResult) -> None:
        """Add to the result that is stored when the job ends, whichever way it ends."""
        self.results.update(told)

    def closing_fields(self) -> dict[str, object]:
        """Return what is to be stored together with the final state."""
        counters = {name: value for name, value in self._counters.items() if name != "message"}
        return {**counters, "steps": self._steps_as_json(), "result": self.results}

    def _store(self) -> None:
        self._written_at = time.monotonic()
        lifecycle.save_progress(self.job.pk, steps=self._steps_as_json(), **self._counters)
        self._tell()

    def _tell(self) -> None:
        self.job.steps = self._steps_as_json()
        going_on.send_robust(None, job=self.job)

    def _steps_as_json(self) -> list[dict[str, object]]:
        return [asdict(step) for step in self._steps]


def moment_ago(seconds: float = 0.0) -> str:
    """So many seconds ago, as a step keeps a moment."""
    at = timezone.now() - timedelta(seconds=seconds)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
