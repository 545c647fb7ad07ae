"""`levee commits`: coordinated commits on and off, new coordinated tables, and what writers have to be set to."""

from typing import Any

from django.core.management.base import CommandParser
from django.template.loader import render_to_string

from changes.commands import (
    ChangeCommand,
    closing,
    has_failed,
    job_document,
    or_failed,
)
from changes.documents import planned_by
from coordinator.commits_command import (
    act_on_all,
    add_filter_arguments,
    add_rehearse_argument,
    check_rehearse,
    named_filters,
    rehearse_one,
    require_stated,
    require_store,
)
from coordinator.coordination.actions import act, check
from coordinator.coordination.checks import CoordinationRequest, Operation
from coordinator.coordination.columns import one_line
from coordinator.coordination.conf_documents import conf_document
from coordinator.coordination.confirmed import change_of, checks_of
from coordinator.coordination.contract import CommitsJob, CommitsJson, PreflightDocument
from coordinator.coordination.features import LEFT_BEHIND
from coordinator.coordination.least_policies import AccessKind, WriterEngine
from coordinator.coordination.releases import RELEASES, release_named
from coordinator.coordination.session_conf import MECHANISMS
from coordinator.coordination.writer_configs import writer_config_of_store, writer_config_of_table
from coordinator.coordination.writer_policies import place_of_store, place_of_table, policy_of
from coordinator.lookup import find_store, find_table, place_of
from coordinator.models import CommitStore, DeltaTable
from dashboard.accounts.actor import Actor
from dashboard.commands import Failed, Options, UsageError
from dashboard.connections.lookup import connection_named
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job
from lake.delta.facts import Mechanism
from lake.delta.uri import TableUri


class Command(ChangeCommand):
    """Check, print the plan, and do nothing until --apply; needs neither server nor worker."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("verb", choices=[*(one.value for one in Operation), "conf", "policy"])
        about = "s3a://bucket/path; conf and policy also take --store alone, policy a folder of its tables beside it"
        parser.add_argument("uri", nargs="?", default="", help=about)
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
        add_rehearse_argument(parser)
        parser.add_argument("--writers-paused", action="store_true", help="enable: state that every writer is paused")
        mechanisms = [one.value for one in MECHANISMS]
        about = "conf, policy: another one; with --all: only of this one"
        parser.add_argument("--mechanism", choices=mechanisms, help=about)
        _add_policy_arguments(parser)
        parser.add_argument("--release", choices=[one.delta for one in RELEASES], help="conf: the writers' Delta")
        add_filter_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["verb"] in ("conf", "policy"):
            if not options["uri"] and not options["store"]:
                raise UsageError("Name a table by its URI, or a store with --store NAME.")
            self._conf(options) if options["verb"] == "conf" else self._policy(options)
            return
        check_rehearse(options)
        self.check_change(options)
        if options["all"]:
            act_on_all(self, Operation(options["verb"]), options)
            return
        if named := named_filters(options):
            raise UsageError(f"{' and '.join(named)} choose among many tables: with --all, and without a URI.")
        connection, change = _change(Operation(options["verb"]), options)
        if options["rehearse"]:
            rehearse_one(self, connection, change, options)
            return
        if options["apply"]:
            require_stated(change.operation, TableUri.parse(change.uri).name, options)
        checked = check(Actor.command(), connection, change, here=True)
        found = checks_of(checked)
        if found is None:
            raise Failed(f"{change.uri} could not be checked: {checked.error_text or checked.message}")
        job = self._apply(checked, found, options) if options["apply"] and found["may_run"] else None
        plan = next(iter(planned_by(checked)), None)
        calls, made = plan["calls"] if plan else [], _job_document(job) if job else None
        document: CommitsJson = {**found, "calls": calls, "job": made}
        self.emit(document, render_to_string("coordinator/commits.txt", {"told": document, "plan": plan}))
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
        if options["uri"]:
            table = _table(options)
            own, config = Mechanism(table.mechanism), writer_config_of_table(table)
        else:
            store = find_store(options["store"], options["connection"])
            own, config = _of_store(store), writer_config_of_store(store)
        document = conf_document(_mechanism(options, own), config, release_named(options["release"] or ""))
        self.emit(document, render_to_string("coordinator/conf.txt", {"conf": document}))

    def _policy(self, options: Options) -> None:
        if options["store"]:
            store = find_store(options["store"], options["connection"])
            mechanism = _mechanism(options, _of_store(store))
            place = place_of_store(store, mechanism, place_of(options["uri"]) if options["uri"] else None)
        else:
            table = _table(options)
            mechanism = _mechanism(options, Mechanism(table.mechanism))
            place = place_of_table(table, mechanism)
        policy = policy_of(place, mechanism, AccessKind(options["role"]), WriterEngine(options["engine"]))
        self.emit(policy, policy.text)
        if not policy.policy:
            raise Failed(policy.notes[0])


def _add_policy_arguments(parser: CommandParser) -> None:
    kinds, engines = [one.value for one in AccessKind], [one.value for one in WriterEngine]
    parser.add_argument("--role", choices=kinds, default=AccessKind.WRITER.value, help="policy: whom it is for")
    parser.add_argument("--engine", choices=engines, default=WriterEngine.SPARK.value, help="policy: with what")


def _mechanism(options: Options, own: Mechanism) -> Mechanism:
    """The one that is asked for, else the table's or the store's own; raises Failed where that is none to set up."""
    mechanism = Mechanism(options["mechanism"]) if options["mechanism"] else own
    if mechanism not in MECHANISMS:
        raise Failed(f"A table whose commits go through {mechanism.value} has no session settings: add --mechanism.")
    return mechanism


def _table(options: Options) -> DeltaTable:
    return find_table(options["uri"], connection_named(options["connection"]) if options["connection"] else None)


def _of_store(store: CommitStore) -> Mechanism:
    return Mechanism.LOG_STORE if store.kind == CommitStore.Kind.LOG_STORE else Mechanism.COORDINATED_COMMITS


def _change(operation: Operation, options: Options) -> tuple[Connection, CoordinationRequest]:
    if not options["uri"]:
        raise UsageError(f"`levee commits {operation.value}` needs the table's URI.")
    require_store(operation, options)
    if operation is Operation.CREATE:
        store = find_store(options["store"], options["connection"])
        parts = tuple(part.strip() for part in options["partition_by"].split(",") if part.strip())
        uri = place_of(options["uri"]).s3a
        columns = one_line(options["columns"])
        return store.connection, CoordinationRequest(
            operation, uri, store=store.name, columns=columns, partition_by=parts
        )
    table = _table(options)
    remove = tuple(feature for feature in LEFT_BEHIND if feature in (options["remove"] or []))
    if operation is Operation.ENABLE:
        return table.connection, CoordinationRequest(operation, table.uri, store=options["store"])
    if operation is Operation.LEFTOVERS and len(remove) != 1:
        raise UsageError("Name one feature with --remove: Delta removes them one by one.")
    return table.connection, CoordinationRequest(operation, table.uri, remove_features=remove)


def _job_document(job: Job) -> CommitsJob:
    return {
        **job_document(job),
        "operation": change_of(job.params).operation.value,
        "proofs": job.result.get("proofs", []),
        "left": job.result.get("after", {}).get("left"),
    }
