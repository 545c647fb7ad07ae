"""Parts of `levee commits`: one act on every table of a filter by one job, and an act tried on a copy first."""

import shlex

from django.core.management.base import CommandParser
from django.template.loader import render_to_string

from changes.commands import ChangeCommand, closing, has_failed, job_document, or_failed
from coordinator.coordination.actions import REHEARSED, act_on_many, rehearse
from coordinator.coordination.checks import CoordinationRequest, Operation
from coordinator.coordination.confirmed import MANY, rehearsal_of
from coordinator.coordination.contract import ManyCommitsJob, ManyCommitsJson, RehearsalJson
from coordinator.protocols.verdict import State
from coordinator.queries.coordination import MOST_TABLES, many_selection
from coordinator.queries.table_list import ManySelection, TableFilter
from dashboard.accounts.actor import Actor
from dashboard.commands import Failed, Options, UsageError
from dashboard.connections.lookup import connection_named
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job

_FILTERS = {"state": "--state", "search": "--search", "bucket": "--bucket"}
_OF_ONE = {"uri": "a URI", "probe": "--probe", "remove": "--remove", "columns": "--columns"}


def require_store(operation: Operation, options: Options) -> None:
    """Raises UsageError where a coordinator has to be named."""
    if operation in (Operation.ENABLE, Operation.CREATE) and not options["store"]:
        raise UsageError("Name the coordinator's DynamoDB table with --store NAME; `levee stores` lists them.")


def require_stated(operation: Operation, name: str, options: Options) -> None:
    """Raises UsageError unless `name` is typed for a drop, or the pause of all writers stated for an enable."""
    if operation is Operation.DROP and options["confirm"].strip() != name:
        raise UsageError(f"A drop cannot be undone: say of what, --confirm {shlex.quote(name)}.")
    if operation is Operation.ENABLE and not options["writers_paused"]:
        raise UsageError("Pause every writer, and state it: --writers-paused.")


# Many tables


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
        require_stated(operation, selection.confirm, options)
    job = _act(command, operation, selection, options) if options["apply"] and selection.touched else None
    document = _many_document(operation, selection, options["store"], job)
    command.emit(document, render_to_string("coordinator/commits_many.txt", {"told": document, "most": MOST_TABLES}))
    if job and has_failed(job):
        raise Failed(closing(job))


def _selection(operation: Operation, options: Options) -> ManySelection:
    if operation not in MANY:
        raise UsageError(f"`levee commits {operation.value}` takes one table at a time.")
    if of_one := [word for name, word in _OF_ONE.items() if options[name]]:
        raise UsageError(f"{' and '.join(of_one)} would be for one table: leave it out, or --all.")
    require_store(operation, options)
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


def _act(command: ChangeCommand, operation: Operation, selection: ManySelection, options: Options) -> Job:
    with or_failed():
        return command.done_by_spark(
            lambda here: act_on_many(
                Actor.command(),
                selection.tables,
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


def _many_document(operation: Operation, selection: ManySelection, store: str, job: Job | None) -> ManyCommitsJson:
    return {
        "operation": operation.value,
        "store": store,
        "tables": [table.uri for table in selection.tables],
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


# A rehearsal


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
    document: RehearsalJson = {
        "operation": change.operation.value,
        "uri": change.uri,
        "store": change.store,
        "job": job_document(job),
        "rehearsal": rehearsal_of(job),
    }
    command.emit(document, render_to_string("coordinator/commits_rehearsal.txt", {"told": document}))
    if has_failed(job):
        raise Failed(closing(job))
