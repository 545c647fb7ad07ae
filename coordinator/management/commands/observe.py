"""`levee observe`: one look at the lake, in the foreground."""

from typing import Any

from django.core.management.base import CommandParser

from coordinator.actions import observe_lake, observe_table
from coordinator.contract import ObserveJob, ObserveJson
from coordinator.documents import document
from coordinator.lookup import find_table, known_place
from dashboard.accounts.actor import Actor
from dashboard.commands import Failed, JsonCommand, UsageError
from dashboard.connections.lookup import connection_named, connections
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job, JobState
from dashboard.jobs.queries import error_of


class Command(JsonCommand):
    """Read DynamoDB and S3 and store what is found; needs neither server nor worker."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--connection", metavar="NAME", help="look at this connection only")
        parser.add_argument("--table", metavar="URI", help="read this table in full, and nothing else")
        parser.add_argument("--full", action="store_true", help="list every log from its start, changed or not")
        parser.add_argument("--enqueue", action="store_true", help="hand the work to the workers")

    def handle(self, *args: Any, **options: Any) -> None:
        named = connection_named(options["connection"]) if options["connection"] else None
        if options["table"]:
            jobs = [self._one_table(options["table"], named, enqueue=options["enqueue"])]
        else:
            chosen = [named] if named else connections()
            how = {"in_full": options["full"], "here": not options["enqueue"]}
            jobs = [observe_lake(Actor.command(), connection, **how) for connection in chosen]
        self.emit(
            ObserveJson(jobs=[_as_json(job) for job in jobs]),
            [f"{job.connection}: {_closing(job)}" for job in jobs],
        )
        if any(job.is_finished and job.state != JobState.SUCCEEDED for job in jobs):
            raise Failed("Not everything could be read: see above and `levee job ID`.")

    def _one_table(self, uri: str, connection: Connection | None, *, enqueue: bool) -> Job:
        if enqueue:
            table = find_table(uri, connection)
            return observe_table(Actor.command(), table.connection, table.place)
        chosen = connection or _only_connection_of(uri)
        return observe_table(Actor.command(), chosen, known_place(uri, chosen), here=True)


def _only_connection_of(uri: str) -> Connection:
    """The connection that knows the table, else the only one there is."""
    place = known_place(uri)
    known = list(Connection.objects.filter(tables__bucket=place.bucket, tables__prefix=place.key).distinct())
    candidates = known or connections()
    if len(candidates) > 1:
        names = ", ".join(connection.name for connection in candidates)
        raise UsageError(f"{uri} may belong to several connections ({names}): add --connection NAME.")
    return candidates[0]


def _closing(job: Job) -> str:
    if not job.is_finished:
        return f"queued as job {job.pk}"
    return job.message if job.state == JobState.SUCCEEDED else f"{job.state}: {job.error_text or job.message}"


def _as_json(job: Job) -> ObserveJob:
    connection = job.connection.name if job.connection else None
    told = {"id": str(job.pk), "connection": connection, "target": job.target_label, "error": error_of(job)}
    return document(ObserveJob, job, **told)
