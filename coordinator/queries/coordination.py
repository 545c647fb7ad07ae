"""Checks and their jobs, and which tables of a filter an act on many would touch; all from stored rows."""

import hashlib
import shlex
from dataclasses import dataclass

from django.urls import reverse

from changes.asking import ShownPlan
from changes.pages import PageSlots, PageWords, PlanPage
from coordinator.coordination.actions import ACT_KEY, REHEARSED, many_name
from coordinator.coordination.checks import CheckState, Operation
from coordinator.coordination.confirmed import CheckResult, newest_rehearsal, rehearsal_of
from coordinator.coordination.contract import CheckDocument, PreflightDocument, RehearsalDocument
from coordinator.coordination.jobs import change_of
from coordinator.coordination.offers import coordination_offers
from coordinator.coordination.reading import CoordinationRequest
from coordinator.models import DeltaTable
from coordinator.queries.coordination_ahead import TableChange, changes, commits_of
from coordinator.queries.table_list import TableFilter, filtered
from coordinator.repairs.bulk import TableState
from dashboard.jobs.models import Job
from lake.delta.facts import Mechanism
from lake.delta.uri import TableUri

MOST_TABLES = 500
"""Tables that one job on many takes."""

SHAPES = {
    CheckState.OK.value: ("ok", "s-ok", "Passes"),
    CheckState.WARNING.value: ("warn", "s-attention", "For you"),
    CheckState.FAILED.value: ("crit", "s-blocked", "Fails"),
}


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One check as the page shows it."""

    name: str
    sentence: str
    tone: str
    shape: str
    word: str


NAMES = {
    Operation.ENABLE: "Enable coordinated commits",
    Operation.DROP: "Drop coordinated commits",
    Operation.CREATE: "Create a coordinated table",
    Operation.LEFTOVERS: "Remove what a drop left behind",
}
_AS_IT_SHOULD = "have to be as they should, or the job fails and says what is not. The result is in the audit log."
READ_BACK = {
    Operation.ENABLE: f"Item, metadata and versions {_AS_IT_SHOULD}",
    Operation.DROP: "Properties and feature gone, both commits published, the item accepting no more. "
    "The result is in the audit log.",
    Operation.CREATE: f"Item, metadata and version 0 {_AS_IT_SHOULD}",
    Operation.LEFTOVERS: "The protocol must not name it any more.",
}
SLOTS = PageSlots(
    crumbs="coordinator/parts/coordination_plan.html#crumbs",
    again="coordinator/parts/coordination_plan.html#again",
    verdict="coordinator/parts/coordination_plan.html#verdict",
    above="coordinator/parts/coordination_plan.html#checks",
    fields="coordinator/parts/coordination_plan.html#fields",
    beside="coordinator/parts/coordination_plan.html#steps",
    sections="coordinator/parts/coordination_plan.html#sections",
    refused="coordinator/parts/coordination_plan.html#refused",
    aside="coordinator/parts/coordination_rehearsal.html",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinationPage(PlanPage):
    """The page of one act: its plan, the checks that it rests on, and what it changes of the table.

    `first` and `last` are the versions that the act takes if no other writer is faster; None where that is not known.
    `again` is where the act is chosen, `rehearsal` the newest time it was tried on a copy; `rehearse_at` asks for one
    more, "" where it cannot be tried.
    """

    change: CoordinationRequest
    found: PreflightDocument | None
    rows: list[CheckRow]
    changes: list[TableChange]
    first: int | None
    last: int | None
    again: str
    rehearsal: Job | None
    rehearse_at: str

    @property
    def rehearsed(self) -> RehearsalDocument | None:
        """What that rehearsal found."""
        return rehearsal_of(self.rehearsal) if self.rehearsal else None

    @property
    def title(self) -> str:
        """The act alone: the page says beside it on what."""
        return self.words.title

    @property
    def failed(self) -> int:
        return sum(row.tone == "crit" for row in self.rows)

    @property
    def passed(self) -> int:
        return sum(row.tone == "ok" for row in self.rows)

    @property
    def warned(self) -> int:
        return sum(row.tone == "warn" for row in self.rows)


def coordination_page(job: Job, table: DeltaTable | None, again: str) -> CoordinationPage:
    """What a job checked and planned, and what the act would change of the table; None for one to be created."""
    result: CheckResult = job.result
    found, plan, change = result.get("preflight"), result.get("plan"), change_of(job.params)
    version = found["version"] if found else None
    return CoordinationPage(
        job=job,
        plan=plan,
        refusal=result.get("refusal"),
        led_to=Job.objects.filter(idempotency_key=ShownPlan(job, plan).key(ACT_KEY)).first() if plan else None,
        command=command_line(job),
        name=TableUri.parse(change.uri).name,
        place=change.uri,
        back=reverse("table", args=[table.pk]) if table else again,
        words=_words(change.operation),
        slots=SLOTS,
        change=change,
        found=found,
        rows=[_row(check) for check in found["checks"]] if found else [],
        changes=changes(change, found, table) if found else [],
        first=None if version is None else version + 1,
        last=None if version is None else version + commits_of(change.operation),
        again=again,
        rehearsal=newest_rehearsal(table.connection_id, change.uri, change.operation) if table else None,
        rehearse_at=_rehearse_at(job, change.operation, table),
    )


def _rehearse_at(job: Job, operation: Operation, table: DeltaTable | None) -> str:
    if table is None or operation not in REHEARSED:
        return ""
    return reverse("table-coordination-rehearsal", args=[table.pk, operation.value, job.pk])


def _words(operation: Operation) -> PageWords:
    return PageWords(
        title=NAMES[operation],
        being_read="The preconditions are being checked.",
        safe="",
        refused="",
        nothing="Nothing was checked.",
        gone="The job has left no checks: check again.",
        rest=("Read back", READ_BACK[operation]),
        call_more="",
    )


def command_line(job: Job) -> str:
    """The command that does the same."""
    change = change_of(job.params)
    words = ["levee", "commits", change.operation.value, change.uri]
    words += ["--store", change.store] if change.store else []
    words += ["--columns", change.columns] if change.columns else []
    words += ["--partition-by", ",".join(change.partition_by)] if change.partition_by else []
    for feature in change.remove_features:
        words += ["--remove", feature]
    words += ["--apply"]
    if change.operation is Operation.ENABLE:
        words += ["--writers-paused"]
    if change.operation is Operation.DROP:
        words += ["--confirm", TableUri.parse(change.uri).name]
    return shlex.join(words)


@dataclass(frozen=True, slots=True)
class ManySelection:
    """Which tables of a filter an act on many will touch; `skipped` are the others with the reason."""

    touched: list[DeltaTable]
    skipped: list[tuple[DeltaTable, str]]
    too_many: bool

    @property
    def connections(self) -> list[str]:
        return sorted({table.connection.name for table in self.touched})

    @property
    def confirm(self) -> str:
        return many_name(self.touched)

    @property
    def seen(self) -> str:
        """Names the selection: the act happens only while it is the one that was shown."""
        named = ",".join(str(table.pk) for table in sorted(self.touched, key=lambda table: table.pk))
        return hashlib.sha256(named.encode()).hexdigest()[:32]


def counts_by_coordination(chosen: TableFilter) -> tuple[int, int]:
    """How many tables of a filter are coordinated, and how many not."""
    present = filtered(chosen).filter(gone_at=None)
    coordinated = present.filter(mechanism=Mechanism.COORDINATED_COMMITS).count()
    return coordinated, present.count() - coordinated


def many_selection(operation: Operation, chosen: TableFilter) -> ManySelection:
    """Judge each table of a filter by its stored row; the job checks each one anew."""
    tables = list(filtered(chosen).select_related("connection").order_by("name", "id")[: MOST_TABLES + 1])
    touched: list[DeltaTable] = []
    skipped: list[tuple[DeltaTable, str]] = []
    for table in tables[:MOST_TABLES]:
        offer = next((one for one in coordination_offers(table) if one.operation is operation), None)
        if offer is None:
            skipped.append((table, _no_offer(operation, table)))
        elif offer.reason:
            skipped.append((table, offer.reason))
        else:
            touched.append(table)
    return ManySelection(touched, skipped, len(tables) > MOST_TABLES)


def passed_selection(checked: Job) -> ManySelection:
    """Of the tables that a job checked, those that passed and those that did not, with what was said of them."""
    outcomes = {one["target_id"]: one for one in checked.result.get("outcomes", []) if one["target_id"]}
    tables = DeltaTable.objects.filter(pk__in=outcomes, gone_at=None).select_related("connection").order_by("name")
    told = [(table, outcomes[str(table.pk)]) for table in tables]
    passed = [table for table, outcome in told if outcome["state"] == TableState.PASSED]
    left = [(table, str(outcome["sentence"])) for table, outcome in told if outcome["state"] != TableState.PASSED]
    return ManySelection(passed, left, too_many=False)


def _no_offer(operation: Operation, table: DeltaTable) -> str:
    if table.gone_at is not None or table.observed_at is None:
        return "Gone, or never read."
    return "Coordinated already." if operation is Operation.ENABLE else "Under no commit coordinator."


def _row(check: CheckDocument) -> CheckRow:
    tone, shape, word = SHAPES.get(check["state"], SHAPES[CheckState.FAILED.value])
    return CheckRow(check["name"], check["sentence"], tone, shape, word)
