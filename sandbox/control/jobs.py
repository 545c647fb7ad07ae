"""The jobs of S3 Batch Operations: how they are asked for, their states, and who may change them.

States: S3 User Guide, "Tracking job status and completion reports".
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Condition
from uuid import uuid4

from sandbox.control.xml import Document, Refusal, text

ENDED = frozenset({"Complete", "Failed", "Cancelled"})
CANCELLABLE = frozenset({"New", "Preparing", "Suspended", "Ready", "Active"})
COPY_LIMIT = 5 * 1024**3


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules of S3, scaled down where somebody asks for it. Sizes in bytes, times in seconds.

    `copy_limit` stands for the 5 GB of CopyObject. A job fails once `failure_tasks` tasks have run and more than half
    of them failed. `paces` is how long the tasks of keys with a prefix take at least. `denied_roles` are those that S3
    can no longer take. `delivery_seconds` is the wait for a configuration's first inventory.
    """

    copy_limit: int = COPY_LIMIT
    failure_tasks: int = 1000
    paces: Mapping[str, float] = field(default_factory=dict)
    denied_roles: Collection[str] = ()
    delivery_seconds: float = 5.0

    def seconds(self, key: str) -> float:
        """How long the task of a key takes at least."""
        return max((one for prefix, one in self.paces.items() if key.startswith(prefix)), default=0)


@dataclass(slots=True)
class RuleBook:
    """The rules that hold now."""

    now: Rules = field(default_factory=Rules)


@dataclass(slots=True)
class Job:
    """One job of an account; `request` is its <CreateJobRequest>."""

    account: str
    request: Document
    priority: int
    id: str = field(default_factory=lambda: str(uuid4()))
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    status: str = "New"
    total: int = 0
    succeeded: int = 0
    failed: int = 0
    active_seconds: float = 0.0
    ended_at: datetime | None = None
    failures: list[tuple[str, str]] = field(default_factory=list)


class Jobs:
    """All jobs of the sandbox; every change happens under one lock, and wakes those who wait for one."""

    def __init__(self, rules: RuleBook) -> None:
        self.rules = rules
        self._jobs: dict[str, Job] = {}
        self._changed = Condition()

    def add(self, account: str, request: Document) -> tuple[Job, bool]:
        """The job and whether it is new; a token that was used for the same request gives that request's job.

        Raises Refusal IdempotencyException where it was used for another.
        """
        with self._changed:
            for known in self.all(account):
                if text(known.request, "ClientRequestToken") == text(request, "ClientRequestToken"):
                    if known.request != request:
                        message = "The ClientRequestToken was used for a request with other parameters."
                        raise Refusal("IdempotencyException", message)
                    return known, False
            job = Job(account, request, int(text(request, "Priority")))
            self._jobs[job.id] = job
            return job, True

    def find(self, account: str, job_id: str) -> Job:
        """Raises Refusal NoSuchJob."""
        job = self._jobs.get(job_id)
        if job is None or job.account != account:
            raise Refusal("NoSuchJob", "The specified job does not exist.", 404)
        return job

    def all(self, account: str) -> list[Job]:
        return [job for job in list(self._jobs.values()) if job.account == account]

    def request_status(self, job: Job, wanted: str) -> None:
        """Confirm with "Ready", cancel with "Cancelled". Raises Refusal JobStatusException from every other state."""
        with self._changed:
            allowed = job.status == "Suspended" if wanted == "Ready" else job.status in CANCELLABLE
            if not allowed:
                raise Refusal("JobStatusException", f"A job that is {job.status} cannot become {wanted}.")
            job.status = "Cancelling" if wanted == "Cancelled" else wanted
            self._changed.notify_all()

    def set_priority(self, job: Job, priority: int) -> None:
        """Raises Refusal JobStatusException where the job has ended."""
        if job.status in ENDED:
            raise Refusal("JobStatusException", f"A job that is {job.status} has no priority any more.")
        job.priority = priority

    def move(self, job: Job, status: str, *, out_of: str) -> bool:
        """One step of the job's own; False where somebody has asked for something else meanwhile."""
        with self._changed:
            if job.status != out_of:
                return False
            job.status = status
            if status in ENDED:
                job.ended_at = datetime.now(UTC)
            self._changed.notify_all()
            return True

    def fail(self, job: Job, code: str, sentence: str) -> None:
        with self._changed:
            job.failures.append((code, sentence[:256]))
            job.status = "Failing"

    def wait_while(self, job: Job, status: str, seconds: float | None = None) -> None:
        """Until the job has another status, or so many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: job.status != status, timeout=seconds)
