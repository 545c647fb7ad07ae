"""`levee commits`: coordinated commits on and off, new coordinated tables, and what writers have to be set to."""

import shlex
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandParser

from changes.commands import NOTHING_CHANGED, ChangeCommand, closing, has_failed, or_failed
from coordinator.contract import CommitsJob, CommitsJson, ConfJson, PreflightDocument
from coordinator.coordination.actions import act, check
from coordinator.coordination.checks import Operation
from coordinator.coordination.columns import one_line
from coordinator.coordination.conf_documents import conf_document
from coordinator.coordination.confirmed import checks_of
from coordinator.coordination.features import LEFT_BEHIND
from coordinator.coordination.jobs import change_of
from coordinator.coordination.reading import CoordinationRequest
from coordinator.coordination.releases import RELEASES, release_named
from coordinator.coordination.session_conf import MECHANISMS
from coordinator.coordination.statement import statement_of
from coordinator.coordination.writer_configs import writer_config_of_store, writer_config_of_table
from coordinator.lookup import connection_named, find_store, find_table, place_of
from coordinator.many_commits import act_on_all, add_filter_arguments, named_filters
from coordinator.models import CommitStore
from dashboard.accounts.actor import Actor
from dashboard.commands import Failed, Options, UsageError
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job
from dashboard.jobs.queries import error_of
from lake.delta.facts import Mechanism
from lake.delta.uri import TableUri

MARKS = {"ok": "OK     ", "warning": "WARNING", "failed": "FAILED "}


class Command(ChangeCommand):
    """Check, print the plan, and do nothing until --apply; needs neither server nor worker."""

    help = "Enable, drop or create coordinated commits through Spark, or print the settings that writers need."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("verb", choices=[*(one.value for one in Operation), "conf"])
        parser.add_argument("uri", nargs="?", default="", help="s3a://bucket/path; conf also takes --store alone")
        parser.add_argument("--store", metavar="NAME", default="", help="the coordinator's DynamoDB table")
        parser.add_argument("--connection", metavar="NAME", help="where several connections see the same bucket")
        parser.add_argument("--columns", metavar="DDL", default="", help="create: 'id BIGINT, note STRING'")
        parser.add_argument("--partition-by", metavar="A,B", default="", help="create: partition columns")
        parser.add_argument(
            "--remove", metavar="FEATURE", action="append", choices=LEFT_BEHIND, help="drop, leftovers: remove it too"
        )
        parser.add_argument("--probe", action="store_true", help="enable: prove it by a first commit of no rows")
        self.add_change_arguments(
            parser, "drop: the table's name, which states that its writers know how it commits afterwards"
        )
        self.add_spark_argument(parser)
        parser.add_argument("--writers-paused", action="store_true", help="enable: state that every writer is paused")
        parser.add_argument("--reason", default="", help="for the audit log")
        mechanisms = [one.value for one in MECHANISMS]
        parser.add_argument("--mechanism", choices=mechanisms, help="conf: another one; with --all: only of this one")
        parser.add_argument("--release", choices=[one.delta for one in RELEASES], help="conf: the writers' Delta")
        add_filter_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["verb"] == "conf":
            self._conf(options)
            return
        self.check_change(options)
        if options["all"]:
            act_on_all(self, Operation(options["verb"]), options)
            return
        if named := named_filters(options):
            raise UsageError(f"{' and '.join(named)} choose among many tables: with --all, and without a URI.")
        connection, change = _change(Operation(options["verb"]), options)
        if options["apply"]:
            _require_stated(change, options)
        checked = check(Actor.command(), connection, change, here=True)
        found = checks_of(checked)
        if found is None:
            raise Failed(f"{change.uri} could not be checked: {checked.error_text or checked.message}")
        job = self._apply(checked, found, options) if options["apply"] and found["may_run"] else None
        statement = statement_of(change, found)
        document: CommitsJson = {**found, "statement": statement, "job": _job_document(job) if job else None}
        self.emit(document, list(_as_text(found, statement, job)))
        if options["apply"] and not found["may_run"]:
            raise Failed("Nothing was changed: the checks refuse it, see above.")
        if job and has_failed(job):
            raise Failed(closing(job))

    def _apply(self, checked: Job, found: PreflightDocument, options: Options) -> Job:
        with or_failed():
            return self.done_by_spark(
                lambda here: act(
                    Actor.command(),
                    checked,
                    found["digest"],
                    confirm=options["confirm"],
                    stated=options["writers_paused"] or change_of(checked.params).operation is Operation.DROP,
                    probe=options["probe"],
                    reason=options["reason"],
                    here=here,
                ),
                options,
            )

    def _conf(self, options: Options) -> None:
        if not options["uri"] and not options["store"]:
            raise UsageError("Name a table by its URI, or a store with --store NAME.")
        if options["uri"]:
            named = connection_named(options["connection"]) if options["connection"] else None
            table = find_table(options["uri"], named)
            own, config = Mechanism(table.mechanism), writer_config_of_table(table)
        else:
            store = find_store(options["store"], options["connection"])
            is_log_store = store.kind == CommitStore.Kind.LOG_STORE
            own = Mechanism.LOG_STORE if is_log_store else Mechanism.COORDINATED_COMMITS
            config = writer_config_of_store(store)
        mechanism = Mechanism(options["mechanism"]) if options["mechanism"] else own
        if mechanism not in MECHANISMS:
            raise Failed(
                f"A table whose commits go through {mechanism.value} has no session settings: add --mechanism."
            )
        document = conf_document(mechanism, config, release_named(options["release"] or ""))
        self.emit(document, list(_conf_text(document)))


def _require_stated(change: CoordinationRequest, options: Options) -> None:
    name = TableUri.parse(change.uri).name
    if change.operation is Operation.DROP and options["confirm"].strip() != name:
        raise UsageError(f"A drop cannot be undone: name the table, --confirm {shlex.quote(name)}.")
    if change.operation is Operation.ENABLE and not options["writers_paused"]:
        raise UsageError("Pause every writer of the table, and state it: --writers-paused.")


def _change(operation: Operation, options: Options) -> tuple[Connection, CoordinationRequest]:
    if not options["uri"]:
        raise UsageError(f"`levee commits {operation.value}` needs the table's URI.")
    if operation in (Operation.ENABLE, Operation.CREATE) and not options["store"]:
        raise UsageError("Name the coordinator's DynamoDB table with --store NAME; `levee stores` lists them.")
    if operation is Operation.CREATE:
        store = find_store(options["store"], options["connection"])
        parts = tuple(part.strip() for part in options["partition_by"].split(",") if part.strip())
        uri = place_of(options["uri"]).s3a
        columns = one_line(options["columns"])
        return store.connection, CoordinationRequest(
            operation, uri, store=store.name, columns=columns, partition_by=parts
        )
    named = connection_named(options["connection"]) if options["connection"] else None
    table = find_table(options["uri"], named)
    remove = tuple(feature for feature in LEFT_BEHIND if feature in (options["remove"] or []))
    if operation is Operation.ENABLE:
        return table.connection, CoordinationRequest(operation, table.uri, store=options["store"])
    if operation is Operation.LEFTOVERS and len(remove) != 1:
        raise UsageError("Name one feature with --remove: Delta removes them one by one.")
    return table.connection, CoordinationRequest(operation, table.uri, remove_features=remove)


def _job_document(job: Job) -> CommitsJob:
    return {
        "id": str(job.pk),
        "kind": job.kind,
        "state": str(job.state),
        "message": job.message,
        "operation": change_of(job.params).operation.value,
        "proofs": job.result.get("proofs", []),
        "left": job.result.get("after", {}).get("left"),
        "error": error_of(job),
    }


def _as_text(found: PreflightDocument, statement: str, job: Job | None) -> Iterator[str]:
    yield f"{found['operation']} {found['uri']}"
    for one in found["checks"]:
        yield f"  {MARKS[one['state']]}  {one['name']}: {one['sentence']}"
    if statement:
        yield from ("", "Spark is given:", f"  {statement}")
    yield ""
    if job is None:
        yield NOTHING_CHANGED if found["may_run"] else "Nothing was changed."
    elif not job.is_finished:
        yield f"Queued as job {job.pk}."
    else:
        yield closing(job)


def _conf_text(document: ConfJson) -> Iterator[str]:
    yield f"# {document['mechanism']}, Delta {document['delta']}, pyspark {document['pyspark']}"
    yield from (f"# {sentence}" for sentence in document["warnings"])
    yield from ("", "# spark submit", document["spark_submit"])
    yield from ("", "# pyspark session", document["pyspark_session"])
    yield from ("", "# cluster conf", document["cluster_conf"])
