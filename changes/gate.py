"""What has to hold before a change is asked for, and again before its worker sends anything.

Each refusal is one sentence, and nothing was changed.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TypedDict

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import require
from dashboard.audit.log import record
from dashboard.connections.models import Connection
from dashboard.connections.writable import ChangeRefused, require_writable
from dashboard.jobs.actions import Target
from dashboard.jobs.context import JobContext, JobFailed
from dashboard.jobs.models import Job

LASTS = timedelta(minutes=15)
"""How long what was shown may be confirmed; the worker reads and plans anew in any case."""
LASTS_IN_WORDS = f"{LASTS.seconds // 60} minutes"
BEFORE_ANY_CHANGE = "Stopped before any change"


def is_before_any_change(job: Job) -> bool:
    """Whether a job was stopped before it changed anything."""
    return job.error_text.startswith(BEFORE_ANY_CHANGE)


class PlanNeeded(ChangeRefused):
    """Nothing with the confirmed digest was made in the last 15 minutes."""

    def __init__(self, what: str = "This plan is", again: str = "plan it again") -> None:
        super().__init__(f"{what} older than {LASTS_IN_WORDS}, or missing: {again}.")


class NotConfirmed(ChangeRefused):
    """What a person has to type or state is missing."""


class NameNotTyped(NotConfirmed):
    """A change that can lose something, or cannot be taken back, was asked for without the name of its subject."""

    def __init__(self, name: str, *, can_lose: bool) -> None:
        why = "This can lose a commit" if can_lose else "This change cannot be taken back"
        super().__init__(f"{why}: type the name, {name}, to confirm it.")


def require_name(typed: str, name: str, *, can_lose: bool) -> None:
    """Raise NameNotTyped unless `typed` is the subject's name."""
    if typed.strip() != name:
        raise NameNotTyped(name, can_lose=can_lose)


def read_at(job: Job) -> datetime | None:
    """When the lake was read for a plan, or for checks; None where it was not."""
    return parse_datetime(str(job.result.get("read_at", "")))


def is_too_old(at: datetime | None) -> bool:
    """Whether what was read then may no longer be confirmed, nor carried out."""
    return at is None or timezone.now() - at > LASTS


@contextmanager
def permitted(actor: Actor, verb: str, target: Target, connection: Connection) -> Iterator[None]:
    """What may be asked for at all: the actor's own verb, then a lake that may be changed, then what the block checks.

    Raises NotAllowed, ChangeRefused; a refusal is in the audit log.
    """
    require(actor, verb, target=target.label, connection=connection)
    try:
        require_writable(connection)
        yield
    except ChangeRefused as refusal:
        record(
            actor,
            verb,
            target_type=target.type,
            target_id=target.id,
            target_label=target.label,
            outcome="refused",
            detail=str(refusal),
        )
        raise


class Confirmation(TypedDict):
    """What a worker has to know of a confirmation, among the parameters of its job.

    `planned_by` is the job that made the plan, `confirm` the name as typed, `source` that of the actor.
    """

    digest: str
    planned_by: str
    confirm: str
    confirmed_by: str
    source: str


def confirmation(actor: Actor, planned: Job, digest: str, confirm: str) -> Confirmation:
    return {
        "digest": digest,
        "planned_by": str(planned.pk),
        "confirm": confirm.strip(),
        "confirmed_by": actor.name,
        "source": actor.source,
    }


# In the worker


def connection_of(context: JobContext) -> Connection:
    """Raises LookupError where it has been removed since."""
    connection = context.job.connection
    if connection is None:
        raise LookupError("The connection of this job has been removed: nothing can be done.")
    return connection


@contextmanager
def or_stop() -> Iterator[None]:
    """A refusal within ends the job before anything is sent: JobFailed."""
    try:
        yield
    except ChangeRefused as refusal:
        raise JobFailed(type(refusal).__name__, f"{BEFORE_ANY_CHANGE}: {refusal}") from refusal


def check_writable(connection: Connection | None) -> None:
    """Raises JobFailed where nothing may be changed."""
    with or_stop():
        require_writable(connection)
