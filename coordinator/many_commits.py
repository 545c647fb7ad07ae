"""`levee commits enable|drop --all`: one act on every table of a filter, by one job with one outcome per table."""

import shlex
from collections.abc import Iterator

from django.core.management.base import CommandParser

from changes.commands import ChangeCommand, job_document, or_failed
from coordinator.coordination.actions import act_on_many
from coordinator.coordination.checks import Operation
from coordinator.coordination.confirmed import MANY
from coordinator.coordination.contract import ManyCommitsJob, ManyCommitsJson
from coordinator.lookup import connection_named
from coordinator.protocols.verdict import State
from coordinator.queries.coordination import MOST_TABLES, ManySelection, many_selection
from coordinator.queries.table_list import TableFilter
from dashboard.accounts.actor import Actor
from dashboard.commands import Failed, Options, UsageError
from dashboard.jobs.models import Job, JobState

_FILTERS = {"state": "--state", "search": "--search", "bucket": "--bucket"}
_OF_ONE = {"uri": "a URI", "probe": "--probe", "remove": "--remove", "columns": "--columns"}


def add_filter_arguments(parser: CommandParser) -> None:
    """Which tables, and what happens where one fails."""
    parser.add_argument(
        "--all", action="store_true", help="enable, drop: every table that --connection and these leave"
    )
    parser.add_argument("--state", choices=[state.value for state in State], help="with --all: only in this state")
    parser.add_argument("--search", metavar="TEXT", default="", help="with --all: only whose name or path holds this")
    parser.add_argument("--bucket", metavar="NAME", default="", help="with --all: only in this bucket")
    parser.add_argument(
        "--stop-at-first-failure", action="store_true", help="with --all: leave the rest where one fails unexpectedly"
    )


def named_filters(options: Options) -> list[str]:
    """The filters that were given."""
    return [word for name, word in _FILTERS.items() if options[name]]


def act_on_all(command: ChangeCommand, operation: Operation, options: Options) -> None:
    """Print which tables are touched and which not, and with --apply act. Raises UsageError (2) or Failed (1)."""
    selection = _selection(operation, options)
    if options["apply"] and selection.touched:
        _require_stated(operation, selection, options)
    job = _act(command, operation, selection, options) if options["apply"] and selection.touched else None
    command.emit(_document(operation, selection, options["store"], job), list(_as_text(operation, selection, job)))
    if job and job.is_finished and job.state != JobState.SUCCEEDED:
        raise Failed(job.error_text or job.message)


def _selection(operation: Operation, options: Options) -> ManySelection:
    if operation not in MANY:
        raise UsageError(f"`levee commits {operation.value}` takes one table at a time.")
    if of_one := [word for name, word in _OF_ONE.items() if options[name]]:
        raise UsageError(f"{' and '.join(of_one)} would be for one table: leave it out, or --all.")
    if operation is Operation.ENABLE and not options["store"]:
        raise UsageError("Name the coordinator's DynamoDB table with --store NAME; `levee stores` lists them.")
    if options["connection"]:
        connection_named(options["connection"])
    chosen = TableFilter(
        state=options["state"] or "",
        q=options["search"],
        bucket=options["bucket"],
        mechanism=options["mechanism"] or "",
        connection=options["connection"] or "",
    )
    selection = many_selection(operation, chosen)
    if len(selection.connections) > 1:
        raise UsageError(f"One job works on one connection, of {', '.join(selection.connections)}: add --connection.")
    return selection


def _require_stated(operation: Operation, selection: ManySelection, options: Options) -> None:
    if operation is Operation.DROP and options["confirm"].strip() != selection.confirm:
        raise UsageError(f"A drop cannot be undone: say how many, --confirm {shlex.quote(selection.confirm)}.")
    if operation is Operation.ENABLE and not options["writers_paused"]:
        raise UsageError("Pause every writer of these tables, and state it: --writers-paused.")


def _act(command: ChangeCommand, operation: Operation, selection: ManySelection, options: Options) -> Job:
    with or_failed():
        return command.done_by_spark(
            lambda here: act_on_many(
                Actor.command(),
                selection.touched,
                operation,
                store=options["store"] if operation is Operation.ENABLE else "",
                # An enable is confirmed by --writers-paused: other programs call it so.
                confirm=options["confirm"].strip() if operation is Operation.DROP else selection.confirm,
                stated=True,
                stop_at_first_failure=options["stop_at_first_failure"],
                reason=options["reason"],
                here=here,
            ),
            options,
        )


def _document(operation: Operation, selection: ManySelection, store: str, job: Job | None) -> ManyCommitsJson:
    return {
        "operation": operation.value,
        "store": store,
        "tables": [table.uri for table in selection.touched],
        "skipped": [{"uri": table.uri, "reason": reason} for table, reason in selection.skipped],
        "more_match": selection.too_many,
        "confirm": selection.confirm,
        "job": _job_document(job) if job else None,
    }


def _job_document(job: Job) -> ManyCommitsJob:
    outcomes = job.result.get("outcomes", [])
    return {
        **job_document(job),
        "outcomes": [{"uri": one["label"], "state": one["state"], "sentence": one["sentence"]} for one in outcomes],
    }


def _as_text(operation: Operation, selection: ManySelection, job: Job | None) -> Iterator[str]:
    yield f"{operation.value} {selection.confirm}"
    yield from (f"  {table.uri}" for table in selection.touched)
    if selection.skipped:
        yield from ("", "Not touched:")
        yield from (f"  {table.uri}: {reason}" for table, reason in selection.skipped)
    if selection.too_many:
        yield from ("", f"One job takes {MOST_TABLES:,} tables: these are the first by name.")
    yield ""
    if job is None:
        yield "Nothing was changed. --apply carries it out." if selection.touched else "Nothing to do."
    elif not job.is_finished:
        yield f"Queued as job {job.pk}."
    else:
        yield from (f"  {one['state']:8} {one['label']}: {one['sentence']}" for one in job.result.get("outcomes", []))
        yield job.error_text or job.message
