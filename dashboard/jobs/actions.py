"""What may be done with jobs: submit one, run one in the foreground, cancel one."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypedDict, Unpack

from django.db import IntegrityError, transaction
from django.utils import timezone

from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import require
from dashboard.audit.log import AuditOutcome, record
from dashboard.connections.models import Connection
from dashboard.connections.writable import ReadOnlyMode, require_writable
from dashboard.jobs import lifecycle
from dashboard.jobs.execution import execute, record_outcome, this_process
from dashboard.jobs.models import ACTIVE, Job, JobState
from dashboard.jobs.reaper import deliver, lose_if_silent
from dashboard.jobs.registry import JobKind, kind_named
from dashboard.refusals import Refused

POLL_SECONDS = 0.5
MARK_SEEN = "job.mark-seen"


@dataclass(frozen=True)
class Target:
    """What a job works on: type (table, store, bucket, plan), primary key, and the label that outlives it."""

    type: str = ""
    id: str = ""
    label: str = ""


class JobBusy(Refused):
    """Another job of the same kind holds the target and did not end in time."""

    def __init__(self, job: Job) -> None:
        super().__init__(f"Job {job.pk} ({job.title}) is still {job.state}: wait for it, or cancel it.")
        self.job = job


class Submission(TypedDict, total=False):
    """What a job is about, beside its kind and title."""

    connection: Connection | None
    target: Target | None
    params: Mapping[str, object] | None
    idempotency_key: str | None
    reason: str


def ask(actor: Actor, kind: str, title: str, *, here: bool = False, **work: Unpack[Submission]) -> Job:
    """Queue a job; or with `here` do it in this process and return it finished. Raises what either raises."""
    return run_in_foreground(actor, kind, title, **work) if here else submit(actor, kind, title, **work)


def submit(actor: Actor, kind: str, title: str, **work: Unpack[Submission]) -> Job:
    """Queue a job and return it; the message leaves when the caller's transaction commits.

    The active job of the same kind and target, or any with the same idempotency key, is returned instead of a second;
    one whose worker has been silent for 90 seconds is ended as lost and does not count.
    Raises NotAllowed if the kind's verb is not the actor's, ReadOnlyMode or ConnectionReadOnly if the kind changes the
    lake and nothing may, UnknownKind for a name nobody registered, ParamsUnfit for what the kind does not take.
    """
    draft = _draft(actor, kind_named(kind), title, work)
    job, is_new = _create(actor, draft)
    if is_new:
        transaction.on_commit(partial(deliver, job.pk, job.queue))
    return job


def run_in_foreground(
    actor: Actor, kind: str, title: str, *, wait_seconds: float = 600, **work: Unpack[Submission]
) -> Job:
    """Do the work here and now under the same row, claim and audit; returns the finished job.

    While another process works on the same kind and target this waits, then does its own; a queued one is taken over.
    Raises what submit raises, and JobBusy after `wait_seconds`. Not to be called inside a transaction.
    """
    deadline = time.monotonic() + wait_seconds
    while True:
        draft = _draft(actor, kind_named(kind), title, work)
        job, _ = _create(actor, draft)
        if execute(job.pk, this_process()):
            job.refresh_from_db()
            return job
        _wait_until_finished(job, deadline)
        if draft.idempotency_key and job.idempotency_key == draft.idempotency_key:
            return job


def cancel(actor: Actor, job: Job) -> bool:
    """Ask a job to stop; False: it is finished, or has been asked. Raises NotAllowed."""
    require(actor, "job.cancel", target=job.title, connection=job.connection)
    with transaction.atomic():
        if not lifecycle.request_cancel(job.pk, actor.name):
            return False
        job.refresh_from_db()
        record(actor, "job.cancel", target_type="job", target_id=str(job.pk), target_label=job.title, job=job)
        if job.state == JobState.CANCELLED:
            record_outcome(job.pk)
    return True


def mark_seen(actor: Actor, failed: Iterable[Job]) -> int:
    """Note that the actor has looked at these failures; returns how many nobody had. Raises NotAllowed."""
    return sum(_mark_seen(actor, job) for job in failed)


def _mark_seen(actor: Actor, job: Job) -> bool:
    require(actor, MARK_SEEN, target=job.title, connection=job.connection)
    with transaction.atomic():
        is_new = lifecycle.mark_seen(job.pk, actor.name)
        if is_new:
            record(actor, MARK_SEEN, target_type="job", target_id=str(job.pk), target_label=job.title, job=job)
    return is_new


def _draft(actor: Actor, kind: JobKind, title: str, work: Submission) -> Job:
    connection, target = work.get("connection"), work.get("target") or Target()
    return Job(
        kind=kind.name,
        title=title[:200],
        queue=kind.queue,
        connection=connection,
        target_type=target.type,
        target_id=target.id,
        target_label=target.label[:2048],
        target_key=f"{connection.pk if connection else ''}:{target.type}:{target.id}",
        params=dict(work.get("params") or {}),
        requested_by=actor.user,
        requested_by_name=actor.name[:150],
        reason=work.get("reason", "")[:500],
        idempotency_key=work.get("idempotency_key"),
    )


def _create(actor: Actor, draft: Job) -> tuple[Job, bool]:
    """Insert the job unless one stands in its place; the database's own constraints decide between two at once."""
    kind = kind_named(draft.kind)
    if kind.verb:
        require(actor, kind.verb, target=draft.target_label, connection=draft.connection)
    if kind.changes_lake:
        _require_writable(actor, kind, draft)
    kind.check(draft.params)
    for last_try in (False, False, True):
        if standing := _standing(draft):
            return standing, False
        try:
            with transaction.atomic():
                draft.save(force_insert=True)
                _record_request(actor, kind, draft)
            return draft, True
        except IntegrityError:  # another was inserted since we looked; it may even have ended before we look again
            if last_try:
                raise
    raise AssertionError("unreachable: the last try returns or raises")


def _require_writable(actor: Actor, kind: JobKind, draft: Job) -> None:
    try:
        require_writable(draft.connection)
    except ReadOnlyMode as refusal:
        _record_request(actor, kind, draft, outcome="refused", detail=str(refusal))
        raise


def _standing(draft: Job) -> Job | None:
    if draft.idempotency_key and (job := Job.objects.filter(idempotency_key=draft.idempotency_key).first()):
        return job
    active = Job.objects.filter(kind=draft.kind, target_key=draft.target_key, state__in=ACTIVE).first()
    # No reaper may be running, as with commands alone; a dead worker must not hold the target then.
    return None if active and lose_if_silent(active, timezone.now()) else active


def _record_request(
    actor: Actor, kind: JobKind, job: Job, *, outcome: AuditOutcome = "requested", detail: str = ""
) -> None:
    """The schedule's looks at the lake are in the list of jobs; the audit log keeps what somebody asked for."""
    if actor.source == "schedule":
        return
    record(
        actor,
        kind.action,
        target_type=job.target_type,
        target_id=job.target_id,
        target_label=job.target_label,
        after=job.params,
        outcome=outcome,
        detail=detail or job.reason,
        job=job if outcome == "requested" else None,
    )


def _wait_until_finished(job: Job, deadline: float) -> None:
    while not job.is_finished:
        if time.monotonic() >= deadline:
            raise JobBusy(job)
        time.sleep(POLL_SECONDS)
        job.refresh_from_db()
        lose_if_silent(job, timezone.now())
