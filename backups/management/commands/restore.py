"""`levee restore`: a version of a table restored from its backup, or opened where it lies there."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.core.management.base import CommandParser

from backups.contract import RestoreJob, RestorePlan, TableRestoreJson
from backups.lookup import moment_named, plan_named, uri_named
from backups.models import RestorePoint
from backups.queries.restores import restore_document
from backups.restores.actions import plan_restore, restore
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
from dashboard.accounts.actor import Actor
from dashboard.commands import Failed, Options, UsageError
from dashboard.jobs.models import Job


class Command(ChangeCommand):
    """Plan to restore a version, from a fresh reading of the backup: to a path of its own, to where the table is or
    was, or opened read-only in the backup; with --apply do it, and prove that readers see what was proven. Needs
    neither server nor worker."""

    def create_parser(self, prog_name: str, subcommand: str, **words: Any) -> CommandParser:
        """Let --version be a version of the table; Django would print its own."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **words)

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("what", metavar="POINT|TABLE_URI", help="a restore point by its id, or a table by its URI")
        parser.add_argument("--plan", help="of a table that several plans have points of: by which")
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            "--version", type=int, metavar="N", dest="of_version", help="this version instead of the point's own"
        )
        which.add_argument(
            "--at", metavar="MOMENT", help="the one that was the newest in the log then, as 2026-11-20T10:00Z"
        )
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--to", metavar="URI", help="the path; without it s3a://BUCKET/restored/TABLE-VERSION")
        where.add_argument("--in-place", action="store_true", help="put it back where the table is, or was")
        where.add_argument("--instant", action="store_true", help="open it where it lies in the backup, read-only")
        parser.add_argument("--apply", action="store_true", help="carry out what is planned")
        parser.add_argument("--confirm", metavar="NAME", default="", help="in place: the table's name, as typed")
        parser.add_argument("--enqueue", action="store_true", help="with --apply: hand the work to the workers")
        parser.add_argument("--reason", default="", help="with --apply: why, for the audit log")
        self.add_spark_argument(parser)

    def handle(self, *args: Any, what: str, **options: Any) -> None:
        self.check_change(options)
        point = _point(what, options["plan"])
        moment = moment_named(options["at"]) if options["at"] else None
        if options["at"] and moment is None:
            raise UsageError(f"{options['at']!r} is no moment: write it as 2026-11-20T10:00Z.")
        to = None if options["instant"] else uri_named(options["to"]) if options["to"] else ""
        in_place = options["in_place"]
        planned = plan_restore(
            Actor.command(), point, options["of_version"], moment, to=to, in_place=in_place, here=True
        )
        require_read(planned, point.table)
        document = restore_document(point, planned)
        job = self._apply(point, planned, document["plan"], options) if options["apply"] else None
        document = restore_document(point, planned, job)
        self.emit(document, list(_as_text(document, job)))
        require_planned(document["refusal"], "Nothing was restored: see above.")
        if job and has_failed(job):
            raise Failed(closing(job))

    def _apply(self, point: RestorePoint, planned: Job, plan: RestorePlan | None, options: Options) -> Job | None:
        if plan is None:
            return None
        digest, typed = plan["digest"], {name: options[name] for name in ("confirm", "reason")}
        with or_failed():
            return self.done_by_spark(
                lambda here: restore(Actor.command(), point, planned, digest, **typed, here=here), options
            )


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


def _as_text(document: TableRestoreJson, job: Job | None) -> Iterator[str]:
    plan, refusal, done = document["plan"], document["refusal"], document["job"]
    if refusal:
        yield f"{refusal['title']}: {refusal['reason']}"
    if plan:
        yield f"{plan['title']}: {document['table']}"
        yield from plan_in_words(plan)
        took = f" All of it takes about {plan['seconds']:,} s, as before." if plan["seconds"] is not None else ""
        yield f"  Objects: {plan['objects']:,}, of about {plan['bytes']:,} bytes."
        yield f"  Writing and listing cost ${plan['cost']}.{took}"
    if job and done:
        yield from ("", closing_in_words(job), *_ways(done))
    elif plan:
        yield from ("", NOTHING_CHANGED)


def _ways(job: RestoreJob) -> Iterator[str]:
    ways, verified = job["ways"], job["verified"]
    if ways:
        yield from (f"  {name}: {line}" for name, line in ways.items() if line)
    if verified and verified["deltalake"]["reason"]:
        yield f"  deltalake did not read it: {verified['deltalake']['reason']}"
