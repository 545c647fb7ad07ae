"""`levee restore`: a version of a table, or many tables as of one moment, restored or opened in their backup."""

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.core.management.base import CommandParser

from backups.contract import RestoreJob, TableRestoreJson, TablesRestoreJson
from backups.lookup import moment_named, plan_named, uri_named
from backups.models import RestorePoint
from backups.queries.many_restores import tables_restore_document
from backups.queries.restores import restore_document, restored_at
from backups.restores.actions import plan_removal, plan_restore, restore
from backups.restores.many import plan_restores, restore_many
from changes.commands import (
    NOTHING_CHANGED,
    ChangeCommand,
    closing,
    closing_in_words,
    has_failed,
    or_failed,
    plan_in_words,
    require_planned,
    require_read,
)
from changes.many import TableState, tables_in_words
from dashboard.accounts.actor import Actor
from dashboard.commands import Failed, Options, UsageError
from dashboard.jobs.models import Job

Shape = TypeVar("Shape", TableRestoreJson, TablesRestoreJson)


class Command(ChangeCommand):
    """Plan to restore a version, from a fresh reading of the backup: to a path of its own, to where the table is or
    was, or opened read-only in the backup; with --apply do it, and prove that readers see what was proven. All tables
    of a plan, or those that a pattern names, go to paths of their own or are opened, one after the other. Needs neither
    server nor worker."""

    def create_parser(self, prog_name: str, subcommand: str, **words: Any) -> CommandParser:
        """Let --version be a version of the table; Django would print its own."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **words)

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "what",
            metavar="POINT|TABLE_URI|PATTERN",
            nargs="?",
            help="a restore point by its id, a table by its URI, tables by a URI with *; without it all of --plan",
        )
        parser.add_argument("--plan", help="from whose points; of one table, where several plans have points of it")
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            "--version", type=int, metavar="N", dest="of_version", help="this version instead of the point's own"
        )
        which.add_argument(
            "--at", metavar="MOMENT", help="the one that was the newest in the log then, as 2026-11-20T10:00Z"
        )
        where = parser.add_mutually_exclusive_group()
        where.add_argument(
            "--to",
            metavar="URI",
            help="the path, or what many go below; without it s3a://BUCKET/restored/TABLE-VERSION",
        )
        where.add_argument("--in-place", action="store_true", help="put it back where the table is, or was")
        where.add_argument("--instant", action="store_true", help="open it where it lies in the backup, read-only")
        where.add_argument("--remove", action="store_true", help="remove what was restored to this URI")
        parser.add_argument("--apply", action="store_true", help="carry out what is planned")
        parser.add_argument("--confirm", metavar="NAME", default="", help="what can lose data: the table's name, typed")
        parser.add_argument("--enqueue", action="store_true", help="with --apply: hand the work to the workers")
        parser.add_argument("--reason", default="", help="with --apply: why, for the audit log")
        self.add_spark_argument(parser)

    def handle(self, *args: Any, what: str | None, **options: Any) -> None:
        self.check_change(options)
        moment = moment_named(options["at"]) if options["at"] else None
        if options["at"] and moment is None:
            raise UsageError(f"{options['at']!r} is no moment: write it as 2026-11-20T10:00Z.")
        to = None if options["instant"] else uri_named(options["to"]) if options["to"] else ""
        if options["remove"]:
            point, planned = _removal(what, options)
        elif what is None or "*" in what:
            return self._many(what or "", moment, to, options)
        else:
            point, in_place = _point(what, options["plan"]), options["in_place"]
            planned = plan_restore(
                Actor.command(), point, options["of_version"], moment, to=to, in_place=in_place, here=True
            )
        require_read(planned, point.table)
        typed = {name: options[name] for name in ("confirm", "reason")}
        ask = partial(restore, Actor.command(), point, planned, **typed)
        job = self._end(partial(restore_document, point, planned), _as_text, ask, options)
        if job and "asked" in job.result:
            raise Failed("Nothing is restored yet: plan again when S3 has what is archived.")

    def _many(self, pattern: str, moment: datetime | None, to: str | None, options: Options) -> None:
        if options["of_version"] is not None or options["in_place"] or options["confirm"]:
            raise UsageError("--version, --in-place and --confirm go with one table: name it by its URI.")
        if not options["plan"]:
            raise UsageError("Name a table, or the plan whose tables are restored: --plan.")
        plan = plan_named(options["plan"])
        planned = plan_restores(Actor.command(), plan, pattern, moment, to=to, here=True)
        require_read(planned, f"The backup {plan.name}")
        ask = partial(restore_many, Actor.command(), plan, planned, reason=options["reason"])
        job = self._end(partial(tables_restore_document, plan, planned), _many_as_text, ask, options)
        outcomes = job.result.get("outcomes", []) if job else []
        if left := sum(1 for one in outcomes if one["state"] != TableState.DONE):
            raise Failed(f"{left:,} of {tables_in_words(len(outcomes))} that fit were not restored: see above.")

    def _end(
        self,
        document_of: Callable[[Job | None], Shape],
        as_text: Callable[[Shape, Job | None], Iterator[str]],
        ask: Callable[..., Job],
        options: Options,
    ) -> Job | None:
        """Carry out what was planned with --apply, tell what there is to tell, and return the job."""
        job, document = None, document_of(None)
        if options["apply"] and (plan := document["plan"]):
            with or_failed():
                job = self.done_by_spark(lambda here: ask(plan["digest"], here=here), options)
        document = document_of(job)
        self.emit(document, list(as_text(document, job)))
        done = "removed" if options["remove"] else "restored"
        require_planned(document["refusal"], f"Nothing was {done}: see above.")
        if job and has_failed(job):
            raise Failed(closing(job))
        return job


def _removal(what: str | None, options: Options) -> tuple[RestorePoint, Job]:
    """The job that planned to remove what was restored to this URI, and the point that it was from. Raises Failed,
    UsageError."""
    if what is None or "://" not in what or options["plan"] or options["of_version"] is not None or options["at"]:
        raise UsageError("--remove goes with the URI that something was restored to, and with nothing else.")
    uri = uri_named(what).rstrip("/")
    if (restored := restored_at(uri)) is None:
        raise Failed(f"Levee knows of nothing that it has restored to {uri}.")
    point = _point(restored["point"], None)
    return point, plan_removal(Actor.command(), point, restored, here=True)


def _point(what: str, plan: str | None) -> RestorePoint:
    """The restore point that is named. Raises Failed, UsageError."""
    found = RestorePoint.objects.select_related("plan__connection", "plan__vault_connection")
    if "://" not in what:
        try:
            point = found.filter(pk=UUID(what)).first()
        except ValueError:
            point = None
        if point is None:
            raise Failed(f"There is no restore point {what!r}: `levee backup points` lists them.")
        return _kept(point)
    of_table = found.filter(table=uri_named(what).rstrip("/"), earlier="")
    points = list(of_table.filter(plan=plan_named(plan)) if plan else of_table)
    if not points:
        raise Failed(f"No run has proven {what}: `levee backup points` lists what can be restored.")
    if len(points) > 1:
        names = ", ".join(sorted(point.plan.name for point in points))
        raise UsageError(f"{what} has restore points of several plans, {names}: add --plan.")
    return _kept(points[0])


def _kept(point: RestorePoint) -> RestorePoint:
    if not point.proof:
        raise Failed(
            f"The restore point of {point.table} is not kept in the backup. {point.not_kept or point.sentence}"
        )
    return point


def _many_as_text(document: TablesRestoreJson, job: Job | None) -> Iterator[str]:
    yield from _plan_as_text(document, f" from {document['backup']}")
    outcomes = document["job"]["outcomes"] if document["job"] else []
    refusals = (one["refusal"] for one in document["restores"] if not outcomes)
    yield from (f"  Not restored: {why['subject']}: {why['reason']}" for why in refusals if why)
    if job:
        yield from ("", closing_in_words(job))
        yield from (f"  {one['label']}: {one['state']}. {one['sentence']}" for one in outcomes)
    elif document["plan"]:
        yield from ("", NOTHING_CHANGED)


def _as_text(document: TableRestoreJson, job: Job | None) -> Iterator[str]:
    yield from _plan_as_text(document, f": {document['table']}")
    if job and (done := document["job"]):
        yield from ("", closing_in_words(job), *_ways(done))
    elif document["plan"]:
        yield from ("", NOTHING_CHANGED)


def _plan_as_text(document: TableRestoreJson | TablesRestoreJson, of: str) -> Iterator[str]:
    if refusal := document["refusal"]:
        yield f"{refusal['title']}: {refusal['reason']}"
    if plan := document["plan"]:
        yield f"{plan['title']}{of}"
        yield from plan_in_words(plan)
        took = f" All of it takes about {plan['seconds']:,} s, as before." if plan["seconds"] is not None else ""
        yield f"  Objects: {plan['objects']:,}, of about {plan['bytes']:,} bytes."
        yield f"  Requests cost ${plan['cost']}{', with the retrieval' if plan['archived'] else ''}.{took}"


def _ways(job: RestoreJob) -> Iterator[str]:
    ways, verified = job["ways"], job["verified"]
    if ways:
        yield from (f"  {name}: {line}" for name, line in ways.items() if line)
    if verified and verified["deltalake"]["reason"]:
        yield f"  deltalake did not read it: {verified['deltalake']['reason']}"
