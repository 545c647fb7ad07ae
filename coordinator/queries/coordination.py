"""Checks and their jobs, and which tables of a filter an act on many would touch; all from stored rows."""

import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from changes.asking import key_of
from changes.gate import LASTS_IN_WORDS, read_at
from coordinator.contract import PreflightDocument
from coordinator.coordination.actions import ACT_KEY, many_name
from coordinator.coordination.checks import CheckState, Operation
from coordinator.coordination.confirmed import checks_of, is_stale
from coordinator.coordination.jobs import change_of
from coordinator.coordination.offers import coordination_offers
from coordinator.coordination.statement import statement_of
from coordinator.models import DeltaTable
from coordinator.queries.coordination_ahead import TableChange, changes, commits_of
from coordinator.queries.table_list import TableFilter, filtered
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


@dataclass(frozen=True, slots=True)
class ChecksView:
    """What the page of checks shows. `led_to` is the job that these checks have led to already.

    `first` and `last` are the versions that the act takes if no other writer is faster; None where that is not known.
    """

    job: Job
    found: PreflightDocument | None
    rows: list[CheckRow]
    read_at: datetime | None
    too_old: bool
    led_to: Job | None
    command: str
    statement: str
    changes: list[TableChange]
    first: int | None
    last: int | None

    @property
    def is_ready(self) -> bool:
        return self.job.is_finished

    @property
    def lasts(self) -> str:
        """How long the checks may be confirmed."""
        return LASTS_IN_WORDS

    @property
    def failed(self) -> int:
        return sum(row.tone == "crit" for row in self.rows)

    @property
    def passed(self) -> int:
        return sum(row.tone == "ok" for row in self.rows)

    @property
    def warned(self) -> int:
        return sum(row.tone == "warn" for row in self.rows)


def checks_view(job: Job, table: DeltaTable | None) -> ChecksView:
    """The checks that a job made, and what the act would change of the table; None for one to be created."""
    found, change = checks_of(job), change_of(job.params)
    version = found.get("version") if found else None
    return ChecksView(
        job=job,
        found=found,
        rows=[_row(check) for check in found["checks"]] if found else [],
        read_at=read_at(job),
        too_old=job.is_finished and is_stale(job),
        led_to=Job.objects.filter(idempotency_key=key_of(ACT_KEY, job, found["digest"])).first() if found else None,
        command=command_line(job),
        statement=statement_of(change, found) if found else "",
        changes=changes(change, found, table) if found else [],
        first=None if version is None else version + 1,
        last=None if version is None else version + commits_of(change.operation),
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


def _no_offer(operation: Operation, table: DeltaTable) -> str:
    if table.gone_at is not None or table.observed_at is None:
        return "Gone, or never read."
    return "Coordinated already." if operation is Operation.ENABLE else "Under no commit coordinator."


def _row(check: Mapping[str, Any]) -> CheckRow:
    tone, shape, word = SHAPES.get(str(check["state"]), SHAPES[CheckState.FAILED.value])
    return CheckRow(str(check["name"]), str(check["sentence"]), tone, shape, word)
