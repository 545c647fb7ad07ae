"""`levee backup`: plans, and runs started, approved, stopped and shown."""

from argparse import SUPPRESS
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.core.management.base import CommandParser

from backups import actions
from backups.actions import ask_for_inventory
from backups.advancing import advance_here
from backups.contract import InventoryJson, ProveJson, RunJson
from backups.documents import plan_document, run_document, run_summary, stored_point
from backups.inventory_setup import FORMATS, FREQUENCIES, PlaceUnfit
from backups.lookup import plan_named, uri_named
from backups.models import ACTIVE, Plan, PointState, RestorePoint, Run, RunState
from dashboard.accounts.actor import Actor
from dashboard.commands import Failed, JsonCommand, UsageError, columns
from dashboard.jobs.models import JobState

RUN_VERBS = {
    "approve": "let a run copy that waits for approval, and wait for its end",
    "reject": "end a run that waits for approval",
    "cancel": "stop a run",
    "prefer": "give the copy jobs of a run at AWS another priority",
    "retry": "try again what an earlier run left",
    "show": "show one run",
}
ENDING = {"reject": actions.reject, "cancel": actions.cancel}
MOST_RUNS = 100
HIDDEN = ("copies", "last_run", "objective")

OWN_SPARK = "start a Spark, even where a running Levee has a warm one"


class Command(JsonCommand):
    """Run a plan and wait for its end here, or let the workers do it with --enqueue."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        self._verb(verbs, "plans", "list the plans")
        self._verb(verbs, "plan", "show one plan").add_argument("plan")
        run = self._verb(verbs, "run", "back up a plan and wait for the end of the run")
        run.add_argument("plan")
        run.add_argument("--enqueue", action="store_true", help="hand the work to the workers")
        run.add_argument("--here", action="store_true", help=OWN_SPARK)
        run.add_argument("--anew", action="store_true", help="cancel the run under way first, if there is one")
        inventory = self._verb(verbs, "inventory", "set up the inventory of a plan's source")
        inventory.add_argument("plan")
        inventory.add_argument("--format", choices=FORMATS, default=FORMATS[0])
        inventory.add_argument("--frequency", choices=FREQUENCIES, default=FREQUENCIES[0])
        inventory.add_argument("--replace", action="store_true", help="replace another configuration of the same id")
        inventory.add_argument("--enqueue", action="store_true", help="hand the work to the workers")
        runs = self._verb(verbs, "runs", "list runs, newest first")
        runs.add_argument("--plan", help="only of this plan")
        runs.add_argument("--state", choices=RunState.values, help="only in this state")
        points = self._verb(verbs, "points", "list what of each table can be restored")
        points.add_argument("--plan", help="only of this plan")
        points.add_argument("--table", metavar="URI", help="only of this table, by its URI at the source")
        points.add_argument("--state", choices=PointState.values, help="only in this state")
        for name in RUN_VERBS:
            self._run_verb(verbs, name)

    def _run_verb(self, verbs: Any, name: str) -> None:
        verb = self._verb(verbs, name, RUN_VERBS[name])
        verb.add_argument("run", help="its id, as `levee backup runs` lists it; unique first letters are enough")
        if name == "prefer":
            verb.add_argument("priority", type=int, help="the higher goes first; new runs have 10")
        elif name != "show":
            verb.add_argument("--enqueue", action="store_true", help="hand the work to the workers")
            verb.add_argument("--here", action="store_true", help=OWN_SPARK)
        if name in ENDING:
            verb.add_argument("--reason", default="")

    def _verb(self, verbs: Any, name: str, words: str) -> CommandParser:
        verb: CommandParser = verbs.add_parser(name, help=words)
        # The option is given before the verb as well: absent here, it must not undo that.
        verb.add_argument("--json", action="store_true", default=SUPPRESS, help="print one JSON document on stdout")
        return verb

    def handle(self, *args: Any, **options: Any) -> None:
        handlers: dict[str, Callable[..., None]] = {
            "plans": self._plans,
            "plan": self._plan,
            "runs": self._runs,
            "points": self._points,
            "run": self._run,
            "inventory": self._inventory,
            **dict.fromkeys(RUN_VERBS, self._of_run),
        }
        try:
            handlers[options["verb"]](**options)
        except actions.RunRefused as refusal:
            raise Failed(str(refusal)) from refusal

    def _plans(self, **_: Any) -> None:
        documents = [plan_document(plan) for plan in Plan.objects.select_related("connection", "vault_connection")]
        rows = []
        for one in documents:
            state = one["last_run"]["state"] if one["last_run"] else None
            rows.append([one["name"], one["engine"], one["schedule"] or "by hand", state, one["source"]])
        self.emit(documents, columns(["PLAN", "ENGINE", "SCHEDULE", "LAST RUN", "SOURCE"], rows))

    def _plan(self, plan: str, **_: Any) -> None:
        document = plan_document(plan_named(plan))
        stands = document["objective"]
        said = f"{stands['state']}, {stands['proven']:,} of {stands['tables']:,} tables proven to be within it"
        lines = [f"{name}: {value}" for name, value in document.items() if name not in HIDDEN]
        self.emit(document, [*lines, f"objective: {said}"])

    def _runs(self, plan: str | None, state: str | None, **_: Any) -> None:
        found = Run.objects.select_related("plan")
        found = found.filter(plan=plan_named(plan)) if plan else found
        found = found.filter(state=state) if state else found
        documents = [run_summary(run) for run in found[:MOST_RUNS]]
        rows = [
            [one["id"], one["plan"], one["state"], f"{one['created_at']:%Y-%m-%d %H:%M}", one["objects"]["copied"]]
            for one in documents
        ]
        self.emit(documents, columns(["RUN", "PLAN", "STATE", "STARTED", "COPIED"], rows))

    def _points(self, plan: str | None, table: str | None, state: str | None, **_: Any) -> None:
        wanted = {"plan": plan and plan_named(plan), "state": state, "table": table and uri_named(table)}
        found = RestorePoint.objects.filter(**{field: value for field, value in wanted.items() if value})
        points = [stored_point(point) for point in found.select_related("plan")]
        rows = [
            [
                f"{one['state']}{', earlier' if one['earlier'] else ''}",
                one["plan"],
                one["table"],
                one["version"],
                one["accepted_version"],
                f"{one['proven_at']:%F %R}",
                "kept" if one["proof"] else one["not_kept"],
            ]
            for one in points
        ]
        self.emit(
            ProveJson(points=points), columns(["STATE", "PLAN", "TABLE", "VERSION", "OF", "PROVEN", "POINT"], rows)
        )

    def _run(self, plan: str, enqueue: bool, here: bool, anew: bool, **_: Any) -> None:
        found = plan_named(plan)
        if anew:
            self._cancel_active(found)
        run = actions.start_run(Actor.command(), found, enqueue=enqueue)
        self._follow(run, enqueued=enqueue, own_spark=here)

    def _cancel_active(self, plan: Plan) -> None:
        """Cancel the plan's run under way, and wait until it has ended."""
        run = Run.objects.filter(plan=plan, state__in=ACTIVE).first()
        if run is None:
            return
        if run.state != RunState.CANCELLING:
            run = actions.cancel(Actor.command(), run, "Another run was asked for.", enqueue=False)
        advance_here(run, self.note)

    def _inventory(self, plan: str, format: str, frequency: str, replace: bool, enqueue: bool, **_: Any) -> None:
        found, how = plan_named(plan), {"replace": replace, "enqueue": enqueue}
        try:
            job = ask_for_inventory(Actor.command(), found, format, frequency, **how)
        except PlaceUnfit as error:
            raise Failed(str(error)) from error
        if job.state == JobState.FAILED:
            raise Failed(job.error_text)
        document: InventoryJson = {"job": str(job.pk), "state": job.state, "message": job.message, "result": job.result}
        self.emit(document, [job.message or f"Queued as job {job.pk}."])

    def _of_run(
        self, verb: str, run: str, enqueue: bool = False, here: bool = False, reason: str = "", **options: Any
    ) -> None:
        found, actor = _run_named(run), Actor.command()
        if verb == "prefer":
            actions.set_priority(actor, found, options["priority"])
        if verb in {"prefer", "show"}:
            self._emit(found)
            return
        if verb in ENDING:
            found = ENDING[verb](actor, found, reason, enqueue=enqueue)
        else:
            found = (actions.approve if verb == "approve" else actions.retry)(actor, found, enqueue=enqueue)
        self._follow(found, enqueued=enqueue, own_spark=here, wanted=RunState.CANCELLED if verb in ENDING else None)

    def _follow(self, run: Run, *, enqueued: bool, own_spark: bool, wanted: RunState | None = None) -> None:
        """Advance the run unless it is the workers', print it, and fail where it ended otherwise than was asked for."""
        if not enqueued and not run.is_finished:
            run = advance_here(run, self.note, own_spark=own_spark)
        self._emit(run, whole=not enqueued)
        if run.state == RunState.WAITING_FOR_APPROVAL:
            self.note(f"{run.sentence} `levee backup approve {run.pk}` lets it copy.")
        if run.state in {RunState.FAILED, RunState.CANCELLED} and run.state != wanted:
            raise Failed(f"Run {run.pk} {run.state}: {run.sentence}")

    def _emit(self, run: Run, *, whole: bool = True) -> None:
        """Print it; of one that the workers have just been given there is not more to tell than where it stands."""
        document = run_document(run)
        self.emit(document, _as_text(document) if whole else _head(document))


def _run_named(text: str) -> Run:
    """A run by its id or the first letters of it, hyphens or not."""
    found = Run.objects.select_related("plan")
    try:
        run = found.filter(pk=UUID(text)).first()
    except ValueError:
        start = text.replace("-", "").lower()
        matching = [one for one in found.all() if start and one.pk.hex.startswith(start)]
        if len(matching) > 1:
            raise UsageError(f"{len(matching)} runs begin with {text!r}: give more letters.") from None
        run = matching[0] if matching else None
    if run is None:
        raise Failed(f"There is no run {text!r}: `levee backup runs` lists them.")
    return run


def _head(run: RunJson) -> list[str]:
    return [f"{run['plan']}  {run['id']}", f"{run['state']}: {run['sentence']}"]


def _as_text(run: RunJson) -> list[str]:
    counts = [f"  {count:>12,}  {name}" for name, count in run["objects"].items()]
    stages = [f"  {one['state']:8} {one['name']}  {one['detail']}".rstrip() for one in run["stages"]]
    billed = f", billed about ${run['actual_usd']}" if run["actual_usd"] is not None else ""
    money = f"  estimated ${run['estimate_usd']}{billed}" if run["estimate_usd"] else ""
    failures = [
        f"  {one['objects']:,} {one['outcome']} {one['code']}: {one['cause']}".replace(" :", ":")
        for one in run["failures"]
    ]
    parts = [*_head(run), "Objects:", *counts, "Stages:", *stages, *([money] if money else [])]
    return [*parts, *(["Not safe:", *failures] if failures else [])]
