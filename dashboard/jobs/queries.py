"""Reading jobs, for pages and commands."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, TypedDict
from uuid import UUID

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KT
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from dashboard.accounts.actor import Actor
from dashboard.audit.queries import TargetDocument
from dashboard.commands import document_of
from dashboard.jobs.context import Step
from dashboard.jobs.models import ACTIVE, FAILED, Job, JobState, shown_state
from dashboard.jobs.registry import steps_of_kind
from dashboard.web.navigation import Counted
from dashboard.web.paging import Column, Page, Sort, keyset_page
from dashboard.web.states import look_of
from dashboard.web.text import sentences

MOST_COMPARED = 5
"""Jobs that the usual length is read from."""
SCHEDULE = Actor.schedule().name
FAILED_FOR = timedelta(days=7)
MOST_FAILED = 20
BARS = 40
_TOLD = (*FAILED, JobState.SUCCEEDED, JobState.OVERTAKEN)
"""Ends that say how the work went; one that was cancelled says nothing."""
_SHOWN_APART = ("begun", "leads_to", "shown_at", "sha256")
"""Of a result: the page has a place of its own for them."""
NEWEST = Sort("newest", (Column("created_at", descending=True), Column("id", descending=True)))


@dataclass(frozen=True)
class JobFilter:
    """What to look for; an empty field does not narrow. `state` may be `active`: queued, running or cancelling.

    `text` is a part of a title or target, `by` the name of who asked; `by_people` leaves the schedule's out.
    """

    state: str = ""
    kind: str = ""
    connection: int | None = None
    text: str = ""
    by: str = ""
    by_people: bool = False

    @property
    def narrows(self) -> bool:
        return bool(self.state or self.kind or self.text or self.by)


@dataclass(frozen=True)
class StepRow:
    """A step as pages show it. `state`: running, done, stopped, failed, or lost where the job ended without it."""

    name: str
    state: str
    detail: str
    elapsed: timedelta | None


def facts_of(job: Job) -> list[tuple[str, object]]:
    """Return the single values of a job's result; what is a list or a table has a place of its own, or none."""
    shown = job.result.items()
    return [(name, value) for name, value in shown if name not in _SHOWN_APART and not isinstance(value, list | dict)]


def jobs(wanted: JobFilter) -> QuerySet[Job]:
    """Return the matching jobs, unordered."""
    state = {"state__in": ACTIVE} if wanted.state == "active" else {"state": wanted.state}
    exact = {**state, "kind": wanted.kind, "connection": wanted.connection, "requested_by_name": wanted.by}
    rows = Job.objects.filter(**{field: value for field, value in exact.items() if value})
    if wanted.text:
        rows = rows.filter(Q(title__icontains=wanted.text) | Q(target_label__icontains=wanted.text))
    if wanted.by_people and not wanted.by:
        rows = rows.exclude(requested_by_name=SCHEDULE)
    return rows


def job_page(wanted: JobFilter, after: str, size: int, *, whole: bool = False) -> Page[Job]:
    """Return one page, newest first; `after` is the cursor that the page before gave, `whole` looks through all."""
    state = "" if wanted.state == "active" else wanted.state
    by_index = JobFilter(kind=wanted.kind) if wanted.kind else JobFilter(state=state)
    return keyset_page(jobs(wanted), NEWEST, after, size, None if whole else jobs(by_index))


def _running(connection: int | None) -> QuerySet[Job, Any]:
    running = jobs(JobFilter(state="running", connection=connection))
    return running.order_by().values(key=F("state")).annotate(number=Count("pk"))


COUNTED = Counted(_running, {JobState.RUNNING: "running"})


def headline_of(job: Job) -> str:
    """What is to be said of a job first: why it failed, what it says, the step it is in, or what its state means."""
    if job.state == JobState.FAILED and job.error_text:
        return job.error_text
    if job.message or job.is_finished or not job.steps:
        return job.message or f"{look_of(job.state).meaning}."
    place, known, coming = len(job.steps), _planned_steps(job), len(coming_steps(job))
    return f"Step {place}{f' of {place + coming}' if known else ''}: {job.steps[-1].get('name', '')}"


def coming_steps(job: Job) -> list[str]:
    """The planned steps after those begun, whatever came between, such as the start of a cold Spark."""
    coming = [] if job.is_finished else _planned_steps(job)
    for step in job.steps:
        if step["name"] in coming:
            coming = coming[coming.index(step["name"]) + 1 :]
    return coming


def _planned_steps(job: Job) -> list[str]:
    """As its newest step with a plan has them, else as its kind declares; [] where neither does."""
    planned = (step["then"] for step in reversed(job.steps) if step.get("then"))
    return list(next(planned, steps_of_kind(job.kind)))


def usual_length(job: Job) -> timedelta | None:
    """The median of the newest jobs of this kind that succeeded; None before the first."""
    before = Job.objects.filter(kind=job.kind, state=JobState.SUCCEEDED, started_at__isnull=False)
    done = before.only("started_at", "finished_at").order_by("-created_at")[:MOST_COMPARED]
    lengths = sorted(length for one in done if (length := elapsed(one)) is not None)
    return lengths[len(lengths) // 2] if lengths else None


def elapsed(job: Job) -> timedelta | None:
    """Return how long the job has been, or was, worked on; None before it begins."""
    return (job.finished_at or timezone.now()) - job.started_at if job.started_at else None


def steps_of(job: Job) -> list[StepRow]:
    """Return the steps that were begun, in order, and those to come."""
    coming = (StepRow(name, "next", "", None) for name in coming_steps(job))
    return [*(_step_row(job, step) for step in job.steps), *coming]


def _step_row(job: Job, step: dict[str, str]) -> StepRow:
    state = step.get("state", "running")
    if state == "running" and job.is_finished:
        state = str(JobState.LOST)
    started, ended = parse_datetime(step.get("started", "")), parse_datetime(step.get("ended", ""))
    until = ended or job.finished_at or timezone.now()
    return StepRow(step.get("name", ""), state, step.get("detail", ""), until - started if started else None)


def with_notes(outcomes: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the outcomes and their notes: sentences of more than 50 characters that several say. `alone` is what only
    this one says, `notes` are the numbers of its notes, from 1 on."""
    said = [sentences(row["sentence"]) for row in outcomes]
    rows = Counter(sentence for one in said for sentence in dict.fromkeys(one) if len(sentence) > 50)
    notes = [sentence for sentence, number in rows.items() if number > 1]
    return [
        row
        | {
            "alone": " ".join(sentence for sentence in own if sentence not in notes),
            "notes": [notes.index(sentence) + 1 for sentence in own if sentence in notes],
        }
        for row, own in zip(outcomes, said, strict=True)
    ], notes


@dataclass(frozen=True, slots=True)
class ScheduleLine:
    """The newest jobs of one kind that the schedule asked for: `newest` is the last of them, `states` are shown ones,
    oldest first."""

    kind: str
    newest: Job
    states: tuple[str, ...]

    @property
    def state(self) -> str:
        return self.states[-1]

    @property
    def failed(self) -> int:
        return sum(state in FAILED for state in self.states)

    @property
    def in_words(self) -> str:
        """`Newest 40, oldest left: 38 succeeded, 2 failed`."""
        counted = ", ".join(
            f"{number} {look_of(state).word.lower()}" for state, number in Counter(self.states).most_common()
        )
        return f"Newest {len(self.states)}, oldest left: {counted}"


def failed_lately(rows: QuerySet[Job], now: datetime) -> list[Job]:
    """Failures of the last seven days, newest first, that nobody has marked as seen, and of which no later job of the
    same kind and target tells."""
    same = {field: OuterRef(field) for field in ("kind", "target_type", "target_id", "target_key")}
    told = Job.objects.filter(**same, state__in=_TOLD).order_by("-created_at").values("created_at")
    failed = rows.filter(state__in=FAILED, seen_at=None, created_at__gte=now - FAILED_FOR)
    # A value, not an EXISTS: PostgreSQL answers that by a join with all jobs, this by an index for each failed one.
    standing = failed.alias(last_told=Subquery(told[:1])).filter(last_told=F("created_at"))
    return list(standing.order_by("-created_at", "-id")[:MOST_FAILED])


def schedule_lines(rows: QuerySet[Job]) -> list[ScheduleLine]:
    """A line for each kind that the schedule asks for, those with a failed newest job first."""
    shown = ("id", "kind", "state", "title", "message", "error_text", "created_at", "started_at", "finished_at")
    begun = rows.filter(requested_by_name=SCHEDULE).only(*shown).annotate(begun=KT("result__begun"))
    newest_first = begun.order_by("kind", "-created_at", "-id")
    lines, kind = [], ""
    # From kind to kind by the index: to name the kinds first would read every job.
    while found := list(newest_first.filter(kind__gt=kind)[:BARS]):
        kind = found[0].kind
        states = [shown_state(job.state, job.begun) for job in found if job.kind == kind]
        lines.append(ScheduleLine(kind, found[0], tuple(reversed(states))))
    return sorted(lines, key=lambda line: (line.state not in FAILED, not line.failed, line.kind))


class ErrorDocument(TypedDict):
    code: str
    text: str


class JobLine(TypedDict):
    """A job in `jobs --json`; what is in `result` is its kind's."""

    id: UUID
    kind: Annotated[str, "observe"]
    title: str
    state: Annotated[str, "queued | running | cancelling | succeeded | overtaken | failed | cancelled | lost"]
    target: TargetDocument
    steps: Annotated[
        list[dict[str, object]], [asdict(Step("…", "running | done | stopped | failed", "…", "…", "…", ("…",)))]
    ]
    done: int
    total: int | None
    message: str
    error: ErrorDocument | None
    result: Mapping[str, object]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    requested_by: str
    worker: str
    attempt: Annotated[int, 1]


class EventDocument(TypedDict):
    """A line of a job's log."""

    at: datetime
    level: Annotated[str, "INFO | WARN | ERROR"]
    step: str
    text: str
    data: Mapping[str, object]


class JobJson(JobLine):
    """`job ID --json`."""

    events: list[EventDocument]


def error_of(job: Job) -> ErrorDocument | None:
    """Why a job failed, None where it did not."""
    return {"code": job.error_code, "text": job.error_text} if job.error_code or job.error_text else None


def as_document(job: Job) -> JobLine:
    """Return a job as commands print it, without its log."""
    target: TargetDocument = {"type": job.target_type, "id": job.target_id, "label": job.target_label}
    return document_of(JobLine, job, target=target, error=error_of(job), requested_by=job.requested_by_name)


def with_events(job: Job) -> JobJson:
    """Return a job as a command prints it, its log included."""
    return {**as_document(job), "events": [document_of(EventDocument, event) for event in job.events.all()]}
