"""The jobs of S3 Batch Operations: how they are asked for, their states, and who may change them.

States: S3 User Guide, "Tracking job status and completion reports".
"""

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Condition
from uuid import uuid4
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from sandbox.control.rules import RuleBook
from sandbox.control.xml import Refusal, read, text

ENDED = frozenset({"Complete", "Failed", "Cancelled"})
CANCELLABLE = frozenset({"New", "Preparing", "Suspended", "Ready", "Active"})


@dataclass(slots=True)
class Job:
    """One job. `request` is its <CreateJobRequest>, `digest` what makes another request another one."""

    account: str
    token: str
    digest: str
    request: Element
    priority: int
    created_at: datetime
    id: str = field(default_factory=lambda: str(uuid4()))
    status: str = "New"
    total: int = 0
    succeeded: int = 0
    failed: int = 0
    active_seconds: float = 0.0
    ended_at: datetime | None = None
    failures: list[tuple[str, str]] = field(default_factory=list)


def read_job(data: bytes, account: str) -> Job:
    """A job as it is asked for. Raises Refusal where S3 would not take what Levee can get wrong."""
    request = read(data, "CreateJobRequest")
    if request.find("Operation/S3PutObjectCopy") is None or request.find("Manifest") is None:
        raise Refusal("InvalidRequest", "The sandbox plays S3PutObjectCopy of a manifest only.")
    if not 0 < len(text(request, "ClientRequestToken")) <= 64:
        raise Refusal("InvalidRequest", "The ClientRequestToken has 1 to 64 characters.")
    if len(text(request, "Description")) > 256:
        raise Refusal("InvalidRequest", "The Description has at most 256 characters.")
    written = ElementTree.canonicalize(ElementTree.tostring(request, encoding="unicode"), strip_text=True)
    return Job(
        account=account,
        token=text(request, "ClientRequestToken"),
        digest=hashlib.sha256(written.encode()).hexdigest(),
        request=request,
        priority=int(text(request, "Priority")),
        created_at=datetime.now(UTC),
    )


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
        job = self._jobs.get(job_id)
        if job is None or job.account != account:
            raise Refusal("NoSuchJob", "The specified job does not exist.", 404)
        return job

    def all(self, account: str) -> list[Job]:
        """Newest first."""
        found = [job for job in list(self._jobs.values()) if job.account == account]
        return sorted(found, key=lambda job: (job.created_at, job.id), reverse=True)

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
            job.failures.append((code[:64], sentence[:256]))
            job.status = "Failing"
            self._changed.notify_all()

    def wait_while(self, job: Job, status: str, seconds: float | None = None) -> None:
        """Until the job has another status, or so many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: job.status != status, timeout=seconds)
