"""`levee commits enable|drop URI --rehearse`: the act on a copy of the table's log, and what it would change."""

from collections.abc import Iterator

from django.core.management.base import CommandParser

from changes.commands import ChangeCommand, closing, has_failed, job_document, or_failed
from coordinator.coordination.actions import REHEARSED, rehearse
from coordinator.coordination.checks import Operation
from coordinator.coordination.confirmed import rehearsal_of
from coordinator.coordination.contract import RehearsalDocument, RehearsalJson, RehearsedProtocol
from coordinator.coordination.reading import CoordinationRequest
from dashboard.accounts.actor import Actor
from dashboard.commands import Failed, Options, UsageError
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job


def add_rehearse_argument(parser: CommandParser) -> None:
    parser.add_argument(
        "--rehearse", action="store_true", help="enable, drop: try it on a copy of the table's log, removed again"
    )


def check_rehearse(options: Options) -> None:
    """Raises UsageError where the options do not go together."""
    if not options["rehearse"]:
        return
    if options["apply"]:
        raise UsageError("--rehearse tries it on a copy, --apply does it: choose one.")
    if options["all"]:
        raise UsageError("--rehearse tries one table: leave --all out.")
    if Operation(options["verb"]) not in REHEARSED:
        raise UsageError(f"`levee commits {options['verb']}` cannot be rehearsed: enable and drop can.")
    if options["probe"]:
        raise UsageError("--rehearse appends nothing: leave --probe out.")


def rehearse_one(command: ChangeCommand, connection: Connection, change: CoordinationRequest, options: Options) -> None:
    """Try it and print what came of it. Raises Failed where it did not come to its end."""
    with or_failed():
        job = command.done_by_spark(lambda here: rehearse(Actor.command(), connection, change, here=here), options)
    told = rehearsal_of(job)
    command.emit(_document(change, job, told), list(_as_text(change, job, told)))
    if has_failed(job):
        raise Failed(closing(job))


def _document(change: CoordinationRequest, job: Job, told: RehearsalDocument | None) -> RehearsalJson:
    return {
        "operation": change.operation.value,
        "uri": change.uri,
        "store": change.store,
        "job": job_document(job),
        "rehearsal": told,
    }


def _as_text(change: CoordinationRequest, job: Job, told: RehearsalDocument | None) -> Iterator[str]:
    yield f"{change.operation.value} {change.uri}, on a copy of its log"
    if told:
        yield from _told(told)
    yield ""
    yield closing(job) if job.is_finished else f"Queued as job {job.pk}."


def _told(told: RehearsalDocument) -> Iterator[str]:
    yield f"  Copy: {told['scratch']}"
    yield f"  Protocol now: {_protocol(told['before'])}"
    yield f"  Protocol afterwards: {_protocol(told['after'])}"
    for one in told["shut_out"]:
        yield f"  Loses {one['loses']}: {one['engine']}, {one['versions']}. {one['reason']}"
    for step in told["steps"]:
        yield f"  {step['seconds']:7.1f} s  {step['name']}"
    yield from (f"  Version {one['version']}: {one['operation']}" for one in told["commits"])
    yield from (f"  Delta refused: {sentence}" for sentence in told["refused"])
    yield from (f"  Not removed: {name}" for name in told["not_removed"])


def _protocol(protocol: RehearsedProtocol | None) -> str:
    if protocol is None:
        return "not known"
    return (
        f"reader {protocol['reader']}, writer {protocol['writer']}: {', '.join(protocol['features']) or 'no feature'}"
    )
