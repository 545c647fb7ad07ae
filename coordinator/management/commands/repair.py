"""`levee repair URI`: what would be done about a table's findings, and with `--apply` doing it."""

from collections.abc import Iterator
from typing import Any, TypeVar

from django.core.management.base import CommandParser

from changes.commands import (
    NOTHING_CHANGED,
    ChangeCommand,
    closing_in_words,
    job_document,
    or_failed,
    plan_in_words,
    require_read,
)
from changes.documents import PlanDocument, RefusalDocument
from coordinator.actions import plan_repairs, repair, repair_many
from coordinator.contract import RepairJson
from coordinator.lookup import find_table
from coordinator.models import DeltaTable
from coordinator.protocols.wording import joined
from coordinator.repairs.fresh import Subject
from coordinator.repairs.kinds.re_register import PATH_SCHEME
from dashboard.accounts.actor import Actor
from dashboard.commands import Failed, Options, UsageError
from dashboard.connections.lookup import connection_named
from dashboard.jobs.models import Job, JobState
from lake.delta.uri import SCHEMES

D = TypeVar("D", PlanDocument, RefusalDocument)
MOST_REPAIRS = 100


class Command(ChangeCommand):
    """Read the table anew and print the plan of every repair, or of one; needs neither server nor worker."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Let --version be a version of the table; Django would print its own."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("uri", help="s3a://bucket/path; s3:// and s3n:// name the same table")
        parser.add_argument("--connection", metavar="NAME", help="where several connections see the same bucket")
        parser.add_argument("--finding", metavar="CODE", help="only what this finding allows, such as C2")
        parser.add_argument("--version", type=int, metavar="V", dest="of_version", help="only about this version")
        parser.add_argument(
            "--path-scheme",
            choices=SCHEMES,
            default="",
            help="how the path of a registration made again begins, where nothing shows it",
        )
        self.add_change_arguments(parser, "the table's name, where a commit can be lost")

    def handle(self, *args: Any, **options: Any) -> None:
        self.check_change(options)
        named = connection_named(options["connection"]) if options["connection"] else None
        table = find_table(options["uri"], named)
        planned = _look(table, options)
        plans, refusals = _chosen(planned.result["plans"], options), _chosen(planned.result["refusals"], options)
        jobs: list[Job] = []
        if options["apply"]:
            _check(table, plans, options)
            with or_failed():
                jobs = _enqueue(table, planned, plans, options) if options["enqueue"] else list(_repair(table, options))
        document = RepairJson(uri=table.uri, plans=plans, refusals=refusals, jobs=[job_document(job) for job in jobs])
        self.emit(document, list(_as_text(table, plans, refusals, jobs, applied=options["apply"])))
        for plan in plans:
            if options["apply"] and plan["can_lose"] and not options["confirm"]:
                self.note(f"{plan['title']} can lose a commit and was left out: add --confirm {table.name}.")
        if any(_left_something(job) for job in jobs):
            raise Failed("Not everything was repaired: see above and `levee job ID`.")


def _look(table: DeltaTable, options: Options) -> Job:
    """Read the table and plan its repairs. Raises Failed where it cannot be read."""
    job = plan_repairs(Actor.command(), table, options["path_scheme"], here=True)
    require_read(job, table.uri)
    return job


def _chosen(documents: list[D], options: Options) -> list[D]:
    code, version = options["finding"], options["of_version"]
    return [one for one in documents if code in (None, one["code"]) and version in (None, one["version"])]


def _check(table: DeltaTable, plans: list[PlanDocument], options: Options) -> None:
    """Raise UsageError where a plan that can lose a commit was asked for by its code, without the right name."""
    confirm = options["confirm"]
    for plan in plans:
        if plan["can_lose"] and (options["finding"] or confirm) and confirm != table.name:
            lost = plan["danger"].rstrip(".")
            raise UsageError(f"{plan['title']} can lose a commit ({lost}): add --confirm {table.name}.")


def _repair(table: DeltaTable, options: Options) -> Iterator[Job]:
    """Carry out plan after plan, each from a reading of its own: one repair changes what the next rests on."""
    tried: set[Subject] = set()
    for _ in range(MOST_REPAIRS):
        planned = _look(table, options)
        plans = _allowed(table, _chosen(planned.result["plans"], options), options)
        plan = next((plan for plan in plans if Subject.told_by(plan) not in tried), None)
        if plan is None:
            return
        tried.add(Subject.told_by(plan))
        yield _one(planned, plan, options, here=True)


def _enqueue(table: DeltaTable, planned: Job, plans: list[PlanDocument], options: Options) -> list[Job]:
    """Hand one plan to the workers, or several that can lose nothing as one job."""
    allowed = _allowed(table, plans, options)
    if len(allowed) == 1:
        return [_one(planned, allowed[0], options, here=False)]
    names = sorted({plan["kind"] for plan in allowed if not plan["can_lose"]})
    if not names:
        return []
    return [repair_many(Actor.command(), [table], names, f"Repair {table.name}", reason=options["reason"])]


def _allowed(table: DeltaTable, plans: list[PlanDocument], options: Options) -> list[PlanDocument]:
    return [plan for plan in plans if not plan["can_lose"] or options["confirm"] == table.name]


def _one(planned: Job, plan: PlanDocument, options: Options, *, here: bool) -> Job:
    said = Subject.told_by(plan), plan["digest"]
    return repair(Actor.command(), planned, *said, confirm=options["confirm"], reason=options["reason"], here=here)


def _left_something(job: Job) -> bool:
    """Whether a finished job left its finding behind: one that was overtaken may find that nothing is left to do."""
    if job.state == JobState.OVERTAKEN:
        return bool(job.result["overtaken"]["finding_holds"])
    return job.is_finished and job.state != JobState.SUCCEEDED


def _as_text(
    table: DeltaTable, plans: list[PlanDocument], refusals: list[RefusalDocument], jobs: list[Job], *, applied: bool
) -> Iterator[str]:
    if not plans and not refusals:
        yield f"{table.uri}: nothing is to be repaired."
    for plan in plans:
        yield from _plan_lines(plan)
    for refusal in refusals:
        yield from (
            "",
            f"{refusal['title']} ({Subject.told_by(refusal).finding}) must not be made: {refusal['reason']}",
        )
        if refusal["asks"] == PATH_SCHEME:
            yield f"  --{PATH_SCHEME} {joined(SCHEMES, 'or')} chooses it."
    for job in jobs:
        yield from ("", closing_in_words(job))
    if plans and not applied:
        yield from ("", NOTHING_CHANGED)


def _plan_lines(plan: PlanDocument) -> Iterator[str]:
    yield from ("", f"{plan['title']} ({Subject.told_by(plan).finding}, {plan['kind']})")
    yield from plan_in_words(plan)
    if plan["can_lose"]:
        yield f"  CAN LOSE: {plan['danger']}"
