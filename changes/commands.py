"""What every command that changes the lake has in common: plan, print, and carry out with `--apply`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, TypedDict

from django.core.management.base import CommandParser

from changes.documents import OutcomeDocument, OvertakenDocument, PlanDocument, RefusalDocument
from changes.plan import NOTHING_TO_DO
from dashboard.commands import Failed, JsonCommand, Options, UsageError
from dashboard.connections.writable import ChangeRefused
from dashboard.jobs.following import follow, reporting_steps, worker_answers
from dashboard.jobs.models import Job, JobState
from dashboard.jobs.queries import ErrorDocument, error_of

NOTHING_CHANGED = "Nothing was changed. --apply carries it out."


class JobDocument(TypedDict):
    """A job that a command has made or queued; `overtaken` is null where nobody was faster, `calls` are those made."""

    id: str
    kind: Annotated[str, "repair"]
    title: str
    state: Annotated[str, "succeeded | overtaken | failed | cancelled | queued"]
    message: str
    error: ErrorDocument | None
    overtaken: OvertakenDocument | None
    calls: list[OutcomeDocument]
    aws_request_ids: list[str]


class ChangeCommand(JsonCommand):
    """Plans a change from a fresh reading; nothing is sent without `--apply`. Needs neither server nor worker."""

    def add_change_arguments(self, parser: CommandParser, confirm: str) -> None:
        """`confirm` says what is typed, and when."""
        parser.add_argument("--apply", action="store_true", help="carry out what is planned")
        parser.add_argument("--confirm", metavar="NAME", default="", help=confirm)
        parser.add_argument("--enqueue", action="store_true", help="with --apply: hand the work to the workers")
        parser.add_argument("--reason", default="", help="with --apply: why, for the audit log")

    def add_spark_argument(self, parser: CommandParser) -> None:
        """For changes that Spark makes."""
        parser.add_argument(
            "--here", action="store_true", help="with --apply: start a Spark, even where a running Levee has a warm one"
        )

    def done_by_spark(self, ask: Callable[[bool], Job], options: Options) -> Job:
        """Have a job done and return it: by the warm Spark of a running Levee where one answers, else in this process.

        `ask` makes the job, here or queued. Its steps are told as they come. With `--enqueue` nobody waits for it.
        """
        if options["enqueue"]:
            return ask(False)
        with reporting_steps(self.note):
            job = ask(options["here"] or not worker_answers("spark"))
        return follow(job, self.note)

    def check_change(self, options: Options) -> None:
        """Raises UsageError where the options that every change has do not go together."""
        if options["enqueue"] and not options["apply"] and not options.get("rehearse"):
            raise UsageError("--enqueue hands the work to the workers: it goes with --apply.")
        if options.get("here") and options["enqueue"]:
            raise UsageError("--here does the work in this process, --enqueue in another: choose one.")


@contextmanager
def or_failed() -> Iterator[None]:
    """A refusal within is what the command fails with: nothing was changed."""
    try:
        yield
    except ChangeRefused as refusal:
        raise Failed(str(refusal)) from refusal


def require_read(planned: Job, what: str) -> None:
    """Raises Failed unless the job that reads and plans has come to its end."""
    if planned.state != JobState.SUCCEEDED:
        raise Failed(f"{what} could not be read: {planned.error_text or planned.message}")


def require_planned(refusal: RefusalDocument | None, sentence: str) -> None:
    """Raises Failed with the sentence where a change must not be made."""
    if refusal and refusal["why"] != NOTHING_TO_DO:
        raise Failed(sentence)


def has_failed(job: Job | None) -> bool:
    """Whether a change was made here, and has not come to its end."""
    return job is not None and job.is_finished and job.state != JobState.SUCCEEDED


def job_document(job: Job) -> JobDocument:
    return {
        "id": str(job.pk),
        "kind": job.kind,
        "title": job.title,
        "state": str(job.state),
        "message": job.message,
        "error": error_of(job),
        "overtaken": job.result.get("overtaken"),
        "calls": job.result.get("after", {}).get("calls", []),
        "aws_request_ids": list(job.result.get("aws_request_ids", [])),
    }


def plan_in_words(plan: PlanDocument) -> Iterator[str]:
    """A plan below its title: its calls, and what follows."""
    for number, call in enumerate(plan["calls"], start=1):
        yield f"  {number}. {call['says']}"
        yield f"     {call['operation']}{', if ' + call['condition'] if call['condition'] else ''}"
    yield from (f"  {sentence}" for sentence in plan["consequences"])


def closing_in_words(job: Job) -> str:
    """What became of a change, as one line."""
    return f"{job.title}: queued as job {job.pk}" if not job.is_finished else f"{job.title}: {closing(job)}"


def closing(job: Job) -> str:
    return job.error_text or job.message
