"""`levee prove URI`: which versions of which tables a backup restores, by its objects alone."""

from typing import Any

from django.core.management.base import CommandParser

from backups.contract import PointJson, ProveJson
from backups.destinations import can_be
from backups.lookup import plan_named, uri_named
from backups.models import AS_PROMISED, Plan
from backups.points.documents import UNANCHORED, WITH_PLAN, lines_of
from backups.points.jobs import prove
from dashboard.accounts.actor import Actor
from dashboard.commands import Failed, JsonCommand, UsageError
from dashboard.connections.lookup import only_connection
from dashboard.connections.models import Connection
from dashboard.jobs.models import JobState
from lake.backup.objects import BucketPrefix, place_of


class Command(JsonCommand):
    """Read every log below a place, and compare what each version needs with what is there; changes nothing.

    Exit 1 where a table is not proven at its newest version, or with a plan within its objective.
    """

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("uri", help="s3a://bucket/prefix of the backup, of a part of it, or of one table")
        parser.add_argument("--table", metavar="T", help="only this one, by its path below the URI or its own URI")
        parser.add_argument("--plan", metavar="P", help="whose backup it is: each log has to be equal to the source's")
        parser.add_argument("--connection", metavar="NAME", help="without --plan: where several are declared")

    def handle(
        self, *args: Any, uri: str, table: str | None, plan: str | None, connection: str | None, **options: Any
    ) -> None:
        if table:
            uri = table if "://" in table else f"{uri.rstrip('/')}/{table}"
        points = _of_plan(uri, plan) if plan else _of_connection(uri, connection)
        lines = [line for point in points for line in lines_of(point)]
        self.emit(ProveJson(points=points), lines or [f"There is no Delta table below {uri}."])
        if points:
            self.note(WITH_PLAN if plan else UNANCHORED)
        if unproven := sum(point["state"] not in AS_PROMISED for point in points):
            where = "within the plan's objective" if plan else "at their newest version"
            raise Failed(f"{unproven:,} of {len(points):,} tables are not proven {where}.")
        if not points:
            raise Failed("Nothing was proven.")


def _of_connection(uri: str, name: str | None) -> list[PointJson]:
    return _proven(_place(uri), "", only_connection(name), None)


def _of_plan(uri: str, name: str) -> list[PointJson]:
    plan = plan_named(name)
    asked, destination = _place(uri), place_of(plan.destination)
    if not asked.prefix.startswith(destination.prefix) or not can_be(destination.bucket, asked.bucket):
        raise UsageError(f"{uri} does not lie in the destination of {name}, {plan.destination}.")
    # Of a destination with one bucket for each snapshot, the URI says which.
    place, within = BucketPrefix(asked.bucket, destination.prefix), asked.prefix[len(destination.prefix) :]
    return _proven(place, within, plan.vault_connection, plan)


def _proven(place: BucketPrefix, within: str, connection: Connection, plan: Plan | None) -> list[PointJson]:
    job = prove(Actor.command(), place, within, connection, plan)
    if job.state != JobState.SUCCEEDED:
        raise Failed(job.error_text or job.message)
    points: list[PointJson] = job.result["points"]
    return points


def _place(uri: str) -> BucketPrefix:
    return place_of(uri_named(uri).removesuffix("/_delta_log"))
