"""`levee rescue`: what repairs saved aside, and putting a copy back."""

import shlex
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from django.core.management.base import CommandParser

from changes.commands import (
    NOTHING_CHANGED,
    ChangeCommand,
    closing,
    closing_in_words,
    has_failed,
    job_document,
    or_failed,
    plan_in_words,
    require_planned,
    require_read,
)
from changes.documents import PlanDocument, RefusalDocument
from coordinator.contract import CopiesJson, CopyLine, RestoreJson
from coordinator.lookup import find_table
from coordinator.models import DeltaTable
from coordinator.rescue.actions import (
    ListRescueResult,
    PlanRescueResult,
    list_all_copies,
    list_copies_of,
    plan_copy,
    restore_copy,
)
from coordinator.rescue.copies import place_of_copy
from dashboard.accounts.actor import Actor
from dashboard.commands import Failed, Options, UsageError, columns
from dashboard.connections.lookup import connection_named, connections
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job, JobState


class Command(ChangeCommand):
    """List what was saved aside, or plan to put one copy back; needs neither server nor worker."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("verb", choices=["list", "restore"])
        parser.add_argument(
            "copy", nargs="?", metavar="ID", default="", help="restore: as `levee rescue list` prints it"
        )
        parser.add_argument("--table", metavar="URI", default="", help="list: only of this table")
        parser.add_argument("--connection", metavar="NAME", help="only of this connection")
        self.add_change_arguments(parser, "restore: the table's name, where readers or writers may see a change")

    def handle(self, *args: Any, **options: Any) -> None:
        _check(options)
        self.check_change(options)
        named = connection_named(options["connection"]) if options["connection"] else None
        if options["verb"] == "list":
            self._list(options["table"], named)
        else:
            self._restore(options, named)

    def _list(self, uri: str, named: Connection | None) -> None:
        jobs = list(_listings(uri, named))
        for job in jobs:
            if job.state != JobState.SUCCEEDED:
                raise Failed(job.error_text or job.message)
        document = _list_document(jobs)
        self.emit(document, list(_list_text(document)))
        if document["not_listed"]:
            raise Failed("Not every rescue folder could be listed: see above.")

    def _restore(self, options: Options, named: Connection | None) -> None:
        table = _table_of(options["copy"], named)
        planned = plan_copy(Actor.command(), table, options["copy"], here=True)
        require_read(planned, options["copy"])
        result: PlanRescueResult = planned.result
        plan, refusal, command = result["plan"], result["refusal"], result["command"]
        job = _apply(planned, table.name, plan, options) if options["apply"] and plan else None
        document: RestoreJson = {
            "id": options["copy"],
            "uri": table.uri,
            "plan": plan,
            "refusal": refusal,
            "command": command,
            "job": job_document(job) if job else None,
        }
        self.emit(document, list(_restore_text(plan, refusal, command, job)))
        require_planned(refusal, "Nothing was put back: see above.")
        if job and has_failed(job):
            raise Failed(closing(job))


def _check(options: Options) -> None:
    """Raise UsageError where the arguments do not go with the verb."""
    is_list = options["verb"] == "list"
    if is_list and (options["copy"] or options["apply"] or options["enqueue"] or options["confirm"]):
        raise UsageError("`levee rescue list` lists; a copy is put back by `levee rescue restore ID`.")
    if not is_list and not options["copy"]:
        raise UsageError("Name the copy by its ID; `levee rescue list` prints it.")
    if not is_list and options["table"]:
        raise UsageError("--table goes with `levee rescue list`: the ID of a copy names its table.")


def _listings(uri: str, named: Connection | None) -> Iterator[Job]:
    """One job for the table, or one for each connection that has tables."""
    if uri:
        yield list_copies_of(Actor.command(), find_table(uri, named), here=True)
        return
    for connection in [named] if named else connections():
        if tables := list(DeltaTable.objects.filter(connection=connection).order_by("uri")):
            yield list_all_copies(Actor.command(), connection, tables, here=True)


def _table_of(copy: str, named: Connection | None) -> DeltaTable:
    try:
        place, _ = place_of_copy(copy)
    except ValueError as error:
        raise UsageError(str(error)) from error
    return find_table(place.s3a, named)


def _apply(planned: Job, name: str, plan: PlanDocument, options: Options) -> Job:
    if plan["can_lose"] and options["confirm"].strip() != name:
        raise UsageError(f"{plan['title']} can change {plan['danger']}: add --confirm {shlex.quote(name)}.")
    said = {"confirm": options["confirm"], "reason": options["reason"]}
    with or_failed():
        return restore_copy(Actor.command(), planned, plan["digest"], **said, here=not options["enqueue"])


def _list_document(jobs: Iterable[Job]) -> CopiesJson:
    document: CopiesJson = {"copies": [], "left_out": 0, "more": False, "not_listed": []}
    for job in jobs:
        name = job.connection.name if job.connection else ""
        result: ListRescueResult = job.result
        document["copies"] += [{**one, "connection": name} for one in result["copies"]]
        document["not_listed"] += [{**one, "connection": name} for one in result["not_listed"]]
        document["left_out"] += result["left_out"]
        document["more"] = document["more"] or result["more"]
    return document


def _list_text(document: CopiesJson) -> Iterator[str]:
    for uri, found in groupby(document["copies"], key=lambda one: one["table"]):
        yield from (uri, *columns(("SAVED", "WHAT", "VERSION", "REPAIR", "ID"), (_line(one) for one in found)), "")
    for one in document["not_listed"]:
        yield f"{one['table']} could not be listed: {one['reason']}"
    if not document["copies"]:
        yield "Nothing is saved aside."
    if document["left_out"] or document["more"]:
        yield f"{document['left_out']:,} more objects lie there and are not listed, the oldest ones."


def _line(one: CopyLine) -> tuple[object, ...]:
    what = one["kind"] or f"unreadable: {one['unreadable']}"
    return one["saved_at"], what, one["version"], one["repair"] or None, one["id"]


def _restore_text(
    plan: PlanDocument | None, refusal: RefusalDocument | None, command: str, job: Job | None
) -> Iterator[str]:
    if refusal:
        yield f"{refusal['title']}: {refusal['reason']}"
    if command:
        yield from ("By hand, only if nothing is under its key:", command)
    if plan:
        yield plan["title"]
        yield from plan_in_words(plan)
        if plan["can_lose"]:
            yield f"  CAN CHANGE: {plan['danger']}"
    if job:
        yield from ("", closing_in_words(job))
    elif plan:
        yield from ("", NOTHING_CHANGED)
