"""Checks and their jobs, and which tables of a filter an act on many would touch; all from stored rows."""

import shlex
from collections import Counter
from dataclasses import dataclass

from django.urls import reverse

from changes.many import TableState
from changes.pages import PlanPage
from coordinator.coordination.actions import REHEARSED
from coordinator.coordination.checks import CoordinationRequest, Operation
from coordinator.coordination.confirmed import CheckResult, change_of, newest_rehearsal, rehearsal_of
from coordinator.coordination.contract import CheckDocument, PreflightDocument, RehearsalDocument
from coordinator.coordination.offers import coordination_offers
from coordinator.models import CommitStore, DeltaTable, TableFinding
from coordinator.queries.table_list import ManySelection, TableFilter, filtered, weighing_findings
from dashboard.jobs.models import Job
from lake.delta.facts import Mechanism
from lake.delta.uri import TableUri

MOST_TABLES = 500
"""Tables that one job on many takes."""

NAMES = {
    Operation.ENABLE: "Enable coordinated commits",
    Operation.DROP: "Drop coordinated commits",
    Operation.CREATE: "Create a coordinated table",
    Operation.LEFTOVERS: "Remove what a drop left behind",
}
COMMITS = {Operation.ENABLE: 1, Operation.DROP: 2, Operation.CREATE: 1, Operation.LEFTOVERS: 1}
"""Versions that the act itself takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinationPage(PlanPage):
    """The page of one act: its plan, and the checks that it rests on.

    `again` is where the act is chosen, `rehearsal` the newest time it was tried on a copy; `rehearse_at` asks for one
    more, "" where it cannot be tried.
    """

    change: CoordinationRequest
    found: PreflightDocument | None
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
        return self.called

    @property
    def checks(self) -> list[CheckDocument]:
        return self.found["checks"] if self.found else []

    @property
    def counts(self) -> Counter[str]:
        """How many checks came out in each state."""
        return Counter(check["state"] for check in self.checks)

    @property
    def first(self) -> int | None:
        """The first version that the act takes if no other writer is faster; None where that is not known."""
        return self._version(1)

    @property
    def last(self) -> int | None:
        """The last one that it takes."""
        return self._version(COMMITS[self.change.operation])

    def _version(self, more: int) -> int | None:
        version = self.found["version"] if self.found else None
        return None if version is None else version + more


def coordination_page(job: Job, table: DeltaTable | None, again: str) -> CoordinationPage:
    """What a job checked and planned of a table; None for one to be created."""
    result: CheckResult = job.result
    found, plan, change = result.get("preflight"), result.get("plan"), change_of(job.params)
    return CoordinationPage(
        job=job,
        plan=plan,
        refusal=result.get("refusal"),
        command=command_line(job),
        name=TableUri.parse(change.uri).name,
        place=change.uri,
        back=reverse("table", args=[table.pk]) if table else again,
        called=NAMES[change.operation],
        change=change,
        found=found,
        again=again,
        rehearsal=newest_rehearsal(table.connection_id, change.uri, change.operation) if table else None,
        rehearse_at=reverse("table-coordination-rehearsal", args=[table.pk, change.operation.value, job.pk])
        if table and change.operation in REHEARSED
        else "",
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


def plain_commits(table: DeltaTable) -> str:
    """What the table commits through where no coordinator is in force."""
    store = table.store
    if store is not None and store.kind == CommitStore.Kind.LOG_STORE:
        return f"log store {store.name}"
    return "a log store" if table.lock_domains else "S3 alone"


def counts_by_coordination(chosen: TableFilter) -> tuple[int, int]:
    """How many tables of a filter are coordinated, and how many not."""
    present = filtered(chosen).filter(gone_at=None)
    coordinated = present.filter(mechanism=Mechanism.COORDINATED_COMMITS).count()
    return coordinated, present.count() - coordinated


def many_selection(operation: Operation, chosen: TableFilter) -> ManySelection:
    """Judge each table of a filter by its stored row; the job checks each one anew."""
    tables = list(filtered(chosen).select_related("connection").order_by("name", "id")[: MOST_TABLES + 1])
    weighing = weighing_findings([table.pk for table in tables])
    told = [(table, _why_skipped(operation, table, weighing[table.pk])) for table in tables[:MOST_TABLES]]
    touched, skipped = ([one for one in told if bool(one[1]) is left_out] for left_out in (False, True))
    return ManySelection(touched, skipped, len(tables) > MOST_TABLES)


def passed_selection(checked: Job) -> ManySelection:
    """Of the tables that a job checked, those that passed and those that did not, with what was said of them."""
    outcomes = {one["target_id"]: one for one in checked.result.get("outcomes", []) if one["target_id"]}
    tables = DeltaTable.objects.filter(pk__in=outcomes, gone_at=None).select_related("connection").order_by("name")
    told = [(table, outcomes[str(table.pk)]) for table in tables]
    passed = [(table, "") for table, outcome in told if outcome["state"] == TableState.PASSED]
    left = [(table, str(outcome["sentence"])) for table, outcome in told if outcome["state"] != TableState.PASSED]
    return ManySelection(passed, left)


def _why_skipped(operation: Operation, table: DeltaTable, weighing: list[TableFinding]) -> str:
    """Why the act is not for this table; "" where it is."""
    for offer in coordination_offers(table, weighing):
        if offer.operation is operation:
            return offer.reason
    if table.gone_at is not None or table.observed_at is None:
        return "Gone, or never read."
    return "Coordinated already." if operation is Operation.ENABLE else "Under no commit coordinator."
