"""`levee job ID`: one job with its steps and its log."""

from typing import Any
from uuid import UUID

from django.core.management.base import CommandParser

from dashboard.commands import Failed, JsonCommand, UsageError
from dashboard.jobs.following import steps_in_words
from dashboard.jobs.models import Job
from dashboard.jobs.queries import steps_of, with_events


class Command(JsonCommand):
    """Print one job."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("id")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            job_id = UUID(options["id"])
        except ValueError:
            raise UsageError(f"{options['id']!r} is no job's id: `levee jobs` lists them.") from None
        job = Job.objects.filter(pk=job_id).first()
        if job is None:
            raise Failed(f"There is no job {job_id}: `levee jobs` lists them.")
        self.emit(with_events(job), _as_text(job))


def _as_text(job: Job) -> list[str]:
    state = job.shown_state
    head = [f"{job.title} {job.target_label}".rstrip(), f"{state}: {job.message}" if job.message else state]
    steps = [f"  {line}" for line in steps_in_words(steps_of(job))]
    log = [f"  {event.at:%H:%M:%S} {event.level:5} {event.text}" for event in job.events.all()]
    return [*head, *(["Steps:", *steps] if steps else []), *(["Log:", *log] if log else [])]
