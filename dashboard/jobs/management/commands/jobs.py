"""`levee jobs`: the newest jobs."""

from typing import Any

from django.core.management.base import CommandParser

from dashboard.commands import JsonCommand, UsageError, columns
from dashboard.jobs.models import Job, JobState
from dashboard.jobs.queries import JobFilter, as_document, job_page

LARGEST_LIMIT = 10_000


class Command(JsonCommand):
    """Print the newest jobs."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--state", default="", choices=["active", *JobState.values])
        parser.add_argument("--kind", default="", help="one kind, such as observe")
        parser.add_argument("--limit", type=int, default=50, help="how many jobs; 50 by default")

    def handle(self, *args: Any, **options: Any) -> None:
        limit: int = options["limit"]
        if not 1 <= limit <= LARGEST_LIMIT:
            raise UsageError(f"--limit is {limit}: write a number from 1 to {LARGEST_LIMIT:,}.")
        found = job_page(JobFilter(state=options["state"], kind=options["kind"]), "", limit, whole=True).rows
        self.emit([as_document(job) for job in found], _as_text(found))


def _as_text(found: tuple[Job, ...]) -> list[str]:
    rows = [
        (job.pk, job.shown_state, f"{job.created_at:%Y-%m-%d %H:%M:%S}", job.requested_by_name, job.title, job.message)
        for job in found
    ]
    return columns(("JOB", "STATE", "ASKED (UTC)", "BY", "TITLE", "MESSAGE"), rows) if rows else ["No jobs."]
