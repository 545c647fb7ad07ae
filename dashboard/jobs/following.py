"""A job that a command line waits for: done by a running Levee where a worker answers, else in this process."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

from django.utils import timezone

from dashboard.jobs.beats import SILENT_AFTER, last_signs
from dashboard.jobs.context import going_on
from dashboard.jobs.execution import execute, this_process
from dashboard.jobs.models import Job
from dashboard.jobs.queries import StepRow, steps_of
from dashboard.jobs.reaper import lose_if_silent
from dashboard.refusals import Refused

POLL_SECONDS = 0.5
TAKEN_WITHIN_SECONDS = 15.0
"""A worker that is idle takes a job within a second; one that is busy, or gone without a sign, does not."""
REMIND_SECONDS = 10.0

Tell = Callable[[str], object]


def worker_answers(queue: str) -> bool:
    """Whether a worker of this queue showed life lately, so that what is queued is taken up."""
    at = last_signs().get(queue)
    return at is not None and timezone.now() - at < SILENT_AFTER


class GoesOn(Refused):
    """Whoever waited has left, and the job has not."""

    def __init__(self, job: Job) -> None:
        super().__init__(f"{job.title} goes on in its worker: `levee job {job.pk}` tells how it ends.")


def follow(job: Job, tell: Tell) -> Job:
    """Wait until a queued job has ended, telling its steps; return it as it is then.

    Where no worker takes it within TAKEN_WITHIN_SECONDS it is done here: a claim is one conditional UPDATE, so that
    only one of both does it. Raises GoesOn where the wait is broken off.
    """
    told, deadline = StepsTold(tell), time.monotonic() + TAKEN_WITHIN_SECONDS
    try:
        while not job.is_finished:
            if job.started_at is None and time.monotonic() > deadline and execute(job.pk, this_process()):
                tell("No worker had taken it: it was done here.")
            time.sleep(POLL_SECONDS)
            job.refresh_from_db()
            told.look(job)
            lose_if_silent(job, timezone.now())
    except KeyboardInterrupt as error:
        raise GoesOn(job) from error
    return job


@contextmanager
def reporting_steps(tell: Tell) -> Iterator[None]:
    """Tell the steps of every job that this process does within the block."""
    told: dict[UUID, StepsTold] = {}

    def look(job: Job, **_: object) -> None:
        told.setdefault(job.pk, StepsTold(tell)).look(job)

    going_on.connect(look)
    try:
        yield
    finally:
        going_on.disconnect(look)


class StepsTold:
    """Says each step as it begins, every ten seconds that it lasts, and as it ends with its seconds."""

    def __init__(self, tell: Tell, clock: Callable[[], float] = time.monotonic) -> None:
        self._tell = tell
        self._clock = clock
        self._ended: set[int] = set()
        self._said: dict[int, float] = {}

    def look(self, job: Job) -> None:
        """Say what is new in the job's steps."""
        for place, step in enumerate(steps_of(job)):
            if place in self._ended or step.state == "next":
                continue
            if step.state == "running":
                self._running(place, step)
            else:
                self._ended.add(place)
                state = "" if step.state == "done" else f", {step.state}"
                self._tell(f"{step.name}: {seconds_of(step)}{state}. {step.detail}".rstrip())

    def _running(self, place: int, step: StepRow) -> None:
        said = self._said.get(place)
        if said is None:
            self._said[place] = self._clock()
            self._tell(f"{step.name} … {step.detail}".rstrip())
        elif self._clock() - said >= REMIND_SECONDS:
            self._said[place] = self._clock()
            self._tell(f"{step.name}: {seconds_of(step)} so far. {step.detail}".rstrip())


def steps_in_words(steps: Sequence[StepRow]) -> list[str]:
    """One line a step, with its seconds."""
    return [f"{step.state:9} {seconds_of(step):>8}  {step.name}  {step.detail}".rstrip() for step in steps]


def seconds_of(step: StepRow) -> str:
    return "" if step.elapsed is None else f"{step.elapsed.total_seconds():,.1f} s"
