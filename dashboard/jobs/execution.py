"""One job from claim to outcome, the same for a worker and for a command in the foreground."""

import logging
import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from uuid import UUID

from django.db import Error as DatabaseError
from django.db import close_old_connections, connection

from dashboard.accounts.actor import Actor
from dashboard.audit.log import AuditOutcome, record
from dashboard.connections.access import EndpointNotAllowed
from dashboard.connections.writable import ReadOnlyMode, require_writable
from dashboard.jobs import lifecycle
from dashboard.jobs.context import JobCancelled, JobContext, JobFailed, JobInterrupted, JobOvertaken
from dashboard.jobs.models import Job, JobState
from dashboard.jobs.registry import changes_lake, kind_named
from dashboard.web.states import look_of
from lake.aws.errors import AwsError

HEARTBEAT_SECONDS = 10.0
OUTCOMES: Mapping[str, AuditOutcome] = {JobState.SUCCEEDED: "done", JobState.OVERTAKEN: "overtaken"}
"""What the audit log says of a job that ended so; every other end is failed."""

logger = logging.getLogger(__name__)


def this_process() -> str:
    """What a job calls its worker where it is done by a command."""
    return f"{socket.gethostname()}/{os.getpid()}"


def execute(job_id: UUID, worker: str) -> bool:
    """Claim, run and record the outcome; False: somebody else has the job. Raises only what ends the process."""
    if not lifecycle.claim(job_id, worker):
        return False
    job = Job.objects.get(pk=job_id)
    context = JobContext(job, changes_lake=changes_lake(job.kind))
    try:
        with heartbeat(job_id):
            kind = kind_named(job.kind)
            _check_writable(job)
            kind.check(job.params)
            message = kind.run(context, job.params)
    except JobCancelled as reason:
        lifecycle.stop(job_id, reason.message, **context.closing_fields())
    except (KeyboardInterrupt, SystemExit):
        lifecycle.stop(job_id, JobInterrupted.message, **context.closing_fields())
        record_outcome(job_id)
        raise
    except JobOvertaken as told:
        context.result({"overtaken": told.facts})
        context.log(str(told), level="WARN")
        lifecycle.overtake(job_id, str(told), **context.closing_fields())
    except Exception as error:  # noqa: BLE001 - whatever a job raises is its outcome
        _fail(context, error)
    else:
        lifecycle.finish(job_id, message, **context.closing_fields())
    record_outcome(job_id)
    return True


def _check_writable(job: Job) -> None:
    """Refuse what was queued before the switch to read-only, or by a process that does not know of it."""
    if not changes_lake(job.kind):
        return
    try:
        require_writable(job.connection)
    except ReadOnlyMode as refusal:
        raise JobFailed(type(refusal).__name__, f"Stopped before any change: {refusal}") from refusal


def record_outcome(job_id: UUID) -> None:
    """Write the end of a job to the audit log, if its beginning stands there; the schedule's own looks do not."""
    job = Job.objects.select_related("requested_by").get(pk=job_id)
    if job.requested_by_name == Actor.schedule().name and job.requested_by is None:
        return
    record(
        Actor.worker(job.requested_by_name, job.requested_by),
        audit_action(job.kind),
        target_type=job.target_type,
        target_id=job.target_id,
        target_label=job.target_label,
        before=job.result.get("before"),
        after=job.result.get("after"),
        outcome=OUTCOMES.get(job.state, "failed"),
        detail=f"{look_of(job.shown_state).word}: {job.message}",
        job=job,
        aws_request_ids=job.result.get("aws_request_ids", []),
    )


def audit_action(kind: str) -> str:
    """Return what the audit log calls a kind, also one that this release does not know."""
    try:
        return kind_named(kind).action
    except LookupError:
        return f"job.{kind}"


def _fail(context: JobContext, error: Exception) -> None:
    if isinstance(error, AwsError):
        code, text = error.code, str(error)
        told = context.results.get("aws_request_ids", [])
        context.result({"aws_request_ids": [*told, error.request_id] if error.request_id else told})
    elif isinstance(error, JobFailed):
        code, text = error.code, str(error)
    elif isinstance(error, EndpointNotAllowed):
        code, text = type(error).__name__, str(error)
        logger.warning("Job %s (%s) failed: %s", context.job.pk, context.job.kind, text)
    else:
        logger.exception("Job %s (%s) failed", context.job.pk, context.job.kind)
        code, text = type(error).__name__, first_sentence(error)
    context.log(text, level="ERROR")
    lifecycle.fail(context.job.pk, code, text, **context.closing_fields())


def first_sentence(error: Exception) -> str:
    """Return an exception's first line, ended by a full stop; its type where it says nothing."""
    lines = str(error).strip().splitlines()
    text = lines[0].strip()[:500] if lines else f"{type(error).__name__} without a message"
    return text if text.endswith((".", "!", "?")) else f"{text}."


@contextmanager
def heartbeat(job_id: UUID) -> Iterator[None]:
    """Keep a job's heartbeat fresh from a thread of its own, so that one long step does not look like death."""
    stopped = threading.Event()
    thread = threading.Thread(target=_beat, args=(job_id, stopped), name=f"heartbeat-{job_id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join(timeout=HEARTBEAT_SECONDS)


def _beat(job_id: UUID, stopped: threading.Event) -> None:
    try:
        while not stopped.wait(HEARTBEAT_SECONDS) and _beat_once(job_id):
            pass
    finally:
        connection.close()


def _beat_once(job_id: UUID) -> bool:
    try:
        close_old_connections()
        return lifecycle.heartbeat(job_id)
    except DatabaseError as error:  # the next beat tries again; nine may fail before the job counts as lost
        logger.warning("Heartbeat of job %s failed: %s", job_id, error)
        return True
