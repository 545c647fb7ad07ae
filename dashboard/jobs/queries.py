"""Reading jobs, for pages and commands."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from dashboard.jobs.models import ACTIVE, Job, JobState
from dashboard.web.paging import Column, Page, Sort, keyset_page
from dashboard.web.states import look_of

NEWEST = Sort("newest", (Column("created_at", descending=True), Column("id", descending=True)))


@dataclass(frozen=True)
class JobFilter:
    """What to look for; an empty field does not narrow. `state` may be `active`: queued, running or cancelling."""

    state: str = ""
    kind: str = ""
    connection: int | None = None


@dataclass(frozen=True)
class StepRow:
    """A step as pages show it. `state`: running, done, stopped, failed, or lost where the job ended without it."""

    name: str
    state: str
    detail: str
    elapsed: timedelta | None


@dataclass(frozen=True)
class OutcomeRow:
    """What became of one of the many things that a job works on. `state` is done or a word of the job's kind."""

    target_type: str
    target_id: str
    label: str
    state: str
    sentence: str


def outcomes_of(job: Job) -> list[OutcomeRow]:
    """Return the outcomes that the job has told so far, one per thing."""
    fields = ("target_type", "target_id", "label", "state", "sentence")
    return [OutcomeRow(*(str(row.get(name, "")) for name in fields)) for row in job.result.get("outcomes", [])]


def facts_of(job: Job) -> list[tuple[str, object]]:
    """Return the single values of a job's result; what is a list or a table has a place of its own, or none."""
    return [(name, value) for name, value in job.result.items() if not isinstance(value, list | dict)]


def jobs(wanted: JobFilter) -> QuerySet[Job]:
    """Return the matching jobs, unordered."""
    rows = Job.objects.all()
    if wanted.state == "active":
        rows = rows.filter(state__in=ACTIVE)
    elif wanted.state:
        rows = rows.filter(state=wanted.state)
    if wanted.kind:
        rows = rows.filter(kind=wanted.kind)
    if wanted.connection is not None:
        rows = rows.filter(connection=wanted.connection)
    return rows


def job_page(wanted: JobFilter, after: str, size: int) -> Page[Job]:
    """Return one page, newest first; `after` is the cursor that the page before gave."""
    return keyset_page(jobs(wanted), NEWEST, after, size)


def headline_of(job: Job) -> str:
    """What is to be said of a job first: why it failed, what it says, or what its state means."""
    if job.state == JobState.FAILED and job.error_text:
        return job.error_text
    return job.message or f"{look_of(job.state).meaning}."


def elapsed(job: Job) -> timedelta | None:
    """Return how long the job has been, or was, worked on; None before it begins."""
    return (job.finished_at or timezone.now()) - job.started_at if job.started_at else None


def steps_of(job: Job) -> list[StepRow]:
    """Return the steps that were begun, in order."""
    return [_step_row(job, step) for step in job.steps]


def _step_row(job: Job, step: dict[str, str]) -> StepRow:
    state = step.get("state", "running")
    if state == "running" and job.is_finished:
        state = str(JobState.LOST)
    started, ended = _moment(step.get("started", "")), _moment(step.get("ended", ""))
    until = ended or job.finished_at or timezone.now()
    return StepRow(step.get("name", ""), state, step.get("detail", ""), until - started if started else None)


def _moment(text: str) -> datetime | None:
    return parse_datetime(text) if text else None


def as_document(job: Job) -> dict[str, Any]:
    """Return a job as commands print it, without its log."""
    return {
        "id": job.pk,
        "kind": job.kind,
        "title": job.title,
        "state": str(job.state),
        "target": {"type": job.target_type, "id": job.target_id, "label": job.target_label},
        "steps": job.steps,
        "done": job.done,
        "total": job.total,
        "message": job.message,
        "error": {"code": job.error_code, "text": job.error_text} if job.error_code or job.error_text else None,
        "result": job.result,
        "created_at": job.created_at,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
        "requested_by": job.requested_by_name,
        "worker": job.worker,
        "attempt": job.attempt,
    }


def with_events(job: Job) -> dict[str, Any]:
    """Return a job as a command prints it, its log included."""
    events = job.events.values("at", "level", "step", "text", "data")
    return {**as_document(job), "events": list(events)}
