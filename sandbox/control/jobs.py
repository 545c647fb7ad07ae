"""The jobs of S3 Batch Operations: their states, who may change them, and how long they are remembered.

States: S3 User Guide, "Tracking job status and completion reports".
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Condition
from uuid import uuid4
from xml.etree.ElementTree import Element

from sandbox.control.rules import RuleBook
from sandbox.control.xml import Refusal

ENDED = frozenset({"Complete", "Failed", "Cancelled"})
CANCELLABLE = frozenset({"New", "Preparing", "Suspended", "Ready", "Active", "Pausing", "Paused"})
WAITING_OR_COPYING = frozenset({"Ready", "Active", "Pausing", "Paused"})
MOST_TAGS = 50


@dataclass(slots=True)
class Job:
    """One job. `request` is its <CreateJobRequest>, `digest` what makes another request another one."""

    account: str
    token: str
    digest: str
    request: Element
    priority: int
    role_arn: str
    description: str
    needs_confirmation: bool
    created_at: datetime
    tags: dict[str, str]
    id: str = field(default_factory=lambda: str(uuid4()))
    status: str = "New"
    total: int = 0
    succeeded: int = 0
    failed: int = 0
    active_seconds: float = 0.0
    ended_at: datetime | None = None
    suspended_at: datetime | None = None
    reason: str = ""
    failures: list[tuple[str, str]] = field(default_factory=list)

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED


class Jobs:
    """All jobs of the sandbox; every change happens under one lock, and wakes those who wait for one."""

    def __init__(self, rules: RuleBook) -> None:
        self.rules = rules
        self._jobs: dict[str, Job] = {}
        self._changed = Condition()

    def add(self, job: Job) -> tuple[Job, bool]:
        """The job and whether it is new; a token that was used for the same request gives that request's job.

        Raises Refusal IdempotencyException where it was used for another.
        """
        with self._changed:
            self._forget()
            for known in self._jobs.values():
                if (known.account, known.token) == (job.account, job.token):
                    if known.digest != job.digest:
                        message = "The ClientRequestToken was used for a request with other parameters."
                        raise Refusal("IdempotencyException", message)
                    return known, False
            self._jobs[job.id] = job
            return job, True

    def find(self, account: str, job_id: str) -> Job:
        """Raises Refusal NoSuchJob."""
        with self._changed:
            self._forget()
            job = self._jobs.get(job_id)
        if job is None or job.account != account:
            raise Refusal("NoSuchJob", "The specified job does not exist.", 404)
        return job

    def all(self, account: str, statuses: frozenset[str]) -> list[Job]:
        """Newest first, of all statuses where none is named."""
        with self._changed:
            self._forget()
            found = [job for job in self._jobs.values() if job.account == account]
        wanted = [job for job in found if not statuses or job.status in statuses]
        return sorted(wanted, key=lambda job: (job.created_at, job.id), reverse=True)

    def request_status(self, job: Job, wanted: str, reason: str) -> None:
        """Confirm with "Ready", cancel with "Cancelled". Raises Refusal JobStatusException from every other state."""
        with self._changed:
            allowed = job.status == "Suspended" if wanted == "Ready" else job.status in CANCELLABLE
            if not allowed:
                raise Refusal("JobStatusException", f"A job that is {job.status} cannot become {wanted}.")
            job.status, job.reason = "Cancelling" if wanted == "Cancelled" else wanted, reason
            self._changed.notify_all()

    def set_priority(self, job: Job, priority: int) -> None:
        """Raises Refusal JobStatusException where the job has ended."""
        with self._changed:
            if job.has_ended:
                raise Refusal("JobStatusException", f"A job that is {job.status} has no priority any more.")
            job.priority = priority
            self._changed.notify_all()

    def move(self, job: Job, status: str, *, out_of: frozenset[str]) -> bool:
        """One step of the job's own; False where somebody has asked for something else meanwhile."""
        with self._changed:
            if job.status not in out_of:
                return False
            job.status = status
            if status == "Suspended":
                job.suspended_at = self.rules.time()
            if status in ENDED:
                job.ended_at = self.rules.time()
            self._changed.notify_all()
            return True

    def fail(self, job: Job, code: str, sentence: str) -> None:
        with self._changed:
            job.failures.append((code[:64], sentence[:256]))
            job.status = "Failing"
            self._changed.notify_all()

    def wait_while(self, job: Job, status: str) -> None:
        """Until the job has another status."""
        with self._changed:
            self._changed.wait_for(lambda: job.status != status)

    def pause(self, seconds: float, job: Job) -> None:
        """So many seconds, or until somebody asks for the job's end."""
        with self._changed:
            self._changed.wait_for(lambda: job.status == "Cancelling", timeout=seconds)

    def take_turn(self, job: Job) -> bool:
        """Wait until the job is among those that may copy at once, by priority; False where it is to end."""
        with self._changed:
            while job.status in WAITING_OR_COPYING:
                if job in self._first():
                    job.status = "Active"
                    return True
                job.status = "Ready" if job.status == "Ready" else "Paused"
                self._changed.wait(1)
            return False

    def done(self, job: Job, *, succeeded: bool) -> None:
        with self._changed:
            job.succeeded += succeeded
            job.failed += not succeeded

    def _first(self) -> list[Job]:
        wanting = (job for job in self._jobs.values() if job.status in WAITING_OR_COPYING)
        return sorted(wanting, key=lambda job: (-job.priority, job.created_at))[: self.rules.now.active_jobs]

    def _forget(self) -> None:
        oldest = self.rules.time() - timedelta(days=self.rules.now.kept_days)
        for job in list(self._expired(oldest)):
            del self._jobs[job.id]

    def _expired(self, oldest: datetime) -> Iterator[Job]:
        return (job for job in self._jobs.values() if job.ended_at and job.ended_at < oldest)
